// SPDX-License-Identifier: GPL-3.0-or-later
// Qt takes a text for HTML when it looks like it; such a text is escaped here.
#include "views/pages/common/plain_tips.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QHelpEvent>
#include <QTextDocument>
#include <QToolTip>

namespace tenon::views {

namespace {

constexpr int kMostLetters = 2000;

/// Of the cell below the mouse, where the widget is the inside of a table or list.
QString tipOfCell(const QWidget& viewport, QPoint at)
{
    const auto* view = qobject_cast<const QAbstractItemView*>(viewport.parentWidget());
    if (!view || view->viewport() != &viewport) return {};
    return view->indexAt(at).data(Qt::ToolTipRole).toString();
}

} // namespace

QString plainTip(const QString& text)
{
    const QString shown =
        text.size() > kMostLetters ? text.left(kMostLetters) + QStringLiteral("…") : text;
    return Qt::mightBeRichText(shown) ? Qt::convertFromPlainText(shown) : shown;
}

PlainTips::PlainTips(QWidget* window)
    : QObject(window)
    , m_window(window)
{
    qApp->installEventFilter(this);
}

bool PlainTips::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return false;
    auto* widget = qobject_cast<QWidget*>(watched);
    if (!widget || widget->window() != m_window) return false;
    const auto* help = static_cast<QHelpEvent*>(event);
    QString text = tipOfCell(*widget, help->pos());
    if (text.isEmpty()) text = widget->toolTip();
    // Those that need no help are Qt's, and those of widgets that make their own.
    if (text.isEmpty() || (text.size() <= kMostLetters && !Qt::mightBeRichText(text))) return false;
    QToolTip::showText(help->globalPos(), plainTip(text), widget);
    return true;
}

} // namespace tenon::views
