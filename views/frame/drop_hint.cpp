// SPDX-License-Identifier: GPL-3.0-or-later
// A veil, a dashed frame and a sentence; the first file of a drag is what is opened.
#include "views/frame/drop_hint.h"

#include "views/models/format.h"

#include <QDragEnterEvent>
#include <QMimeData>
#include <QPainter>

namespace tenon::views {

namespace {

/// Links and texts are not among them.
QStringList filesOf(const QMimeData& data)
{
    QStringList files;
    for (const QUrl& url : data.urls())
        if (url.isLocalFile()) files << url.toLocalFile();
    return files;
}

} // namespace

DropHint::DropHint(const ThemeSource& themes, QWidget* window)
    : QWidget(window)
    , m_themes(themes)
{
    window->setAcceptDrops(true);
    window->installEventFilter(this);
    hide();
}

void DropHint::say(const QStringList& files)
{
    const QString name = modelName(files.first());
    m_text = files.size() == 1
                 ? tr("Drop to open %1").arg(name)
                 : tr("Drop to open %1, the first of %2 files").arg(name).arg(files.size());
    if (const QString purpose = m_purpose ? m_purpose(files.first()) : QString();
        !purpose.isEmpty())
        m_text = purpose;
    setGeometry(parentWidget()->rect());
    raise();
    show();
}

bool DropHint::eventFilter(QObject* watched, QEvent* event)
{
    switch (event->type()) {
    case QEvent::DragEnter: {
        auto* drag = static_cast<QDragEnterEvent*>(event);
        const QStringList files = filesOf(*drag->mimeData());
        if (files.isEmpty()) break;
        drag->acceptProposedAction();
        say(files);
        return true;
    }
    case QEvent::DragLeave: hide(); break;
    case QEvent::Drop: {
        hide();
        auto* drop = static_cast<QDropEvent*>(event);
        const QStringList files = filesOf(*drop->mimeData());
        if (files.isEmpty()) break;
        drop->acceptProposedAction();
        emit dropped(files.first());
        return true;
    }
    default: break;
    }
    return QWidget::eventFilter(watched, event);
}

void DropHint::paintEvent(QPaintEvent*)
{
    constexpr int kInset = 16, kRadius = 12;
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor veil = t.window;
    veil.setAlphaF(0.85f);
    painter.fillRect(rect(), veil);
    painter.setPen(QPen(t.accent, 2, Qt::DashLine));
    painter.setBrush(t.accentTint);
    painter.drawRoundedRect(rect().adjusted(kInset, kInset, -kInset, -kInset), kRadius, kRadius);
    painter.setFont(t.documentTitle);
    painter.setPen(t.text);
    painter.drawText(rect().adjusted(2 * kInset, 0, -2 * kInset, 0),
                     Qt::AlignCenter | Qt::TextWordWrap, m_text);
}

} // namespace tenon::views
