// SPDX-License-Identifier: GPL-3.0-or-later
// Panels and themed labels.
#include "views/pages/common/panel.h"

#include "core/base/check.h"
#include "views/models/line_breaks.h"
#include "views/pages/common/header_fold.h"
#include "views/pages/common/popup_menu.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QRegularExpression>
#include <QTextLayout>

#include <algorithm>

namespace tenon::views {

namespace {

/// Reads like words: paths and targets have signs within a word that sentences do not.
bool isSentence(const QString& text)
{
    static const QRegularExpression sign(QStringLiteral("/|\\S=\\S"));
    return text.contains(QLatin1Char(' ')) && !text.contains(sign);
}

QString shortened(const QString& text, const QFontMetrics& metrics, int width, Elision elision)
{
    const QString between = QStringLiteral(" · ");
    QString shown = text;
    while (metrics.horizontalAdvance(shown) > width && shown.contains(between))
        shown.truncate(shown.lastIndexOf(between));
    shown = shown.trimmed();
    if (elision == Elision::Content) elision = isSentence(shown) ? Elision::Words : Elision::Name;
    const QString fits = metrics.elidedText(
        shown, elision == Elision::Name ? Qt::ElideMiddle : Qt::ElideRight, width);
    return elision == Elision::Words && fits.size() < shown.size() / 2 ? QString() : fits;
}

/// Too little height for a wrapped text that nobody can mark: a label cuts lines in half then.
bool isCutBelow(const QLabel& label)
{
    return label.wordWrap() && !(label.textInteractionFlags() & Qt::TextSelectableByMouse) &&
           label.heightForWidth(label.width()) > label.height();
}

/// As many lines as there is room for, of which the last says that there are more.
QStringList wholeLines(QString text, const QFont& font, QSize room)
{
    text.replace(QLatin1Char('\n'), QChar::LineSeparator);
    QTextOption option;
    option.setWrapMode(QTextOption::WordWrap);
    QTextLayout layout(text, font);
    layout.setTextOption(option);
    const QFontMetrics metrics(font);
    const auto most = std::max(1, room.height() / metrics.lineSpacing());
    QStringList lines;
    layout.beginLayout();
    for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(room.width());
        if (lines.size() + 1 == most) {
            const QString rest = text.mid(line.textStart()).simplified();
            lines << metrics.elidedText(rest, Qt::ElideRight, room.width());
            break;
        }
        lines << text.mid(line.textStart(), line.textLength()).trimmed();
    }
    layout.endLayout();
    return lines;
}

void tellWhole(QWidget& label, const QString& text, bool isCut)
{
    if (label.toolTip().isEmpty() || label.toolTip() == text)
        label.setToolTip(isCut ? text : QString());
}

} // namespace

ThemedLabel::ThemedLabel(const ThemeSource& themes, Role role, const QString& text, QWidget* parent)
    : QLabel(text, parent)
    , m_themes(themes)
    , m_role(role)
{
    setTextFormat(Qt::PlainText); // names out of files are no HTML
    connect(&themes, &ThemeSource::changed, this, &ThemedLabel::apply);
    apply();
}

void ThemedLabel::setRole(Role role)
{
    if (role == m_role) return;
    m_role = role;
    apply();
}

void ThemedLabel::setText(const QString& text)
{
    // Commands are marked to be run elsewhere: nothing may stand in them that is not seen.
    QLabel::setText(wordWrap() && m_role != Role::Code ? withBreaks(text) : text);
}

QString ThemedLabel::text() const { return withoutBreaks(QLabel::text()); }

/// What is marked, or all of it.
void ThemedLabel::copy() const
{
    const QString marked = hasSelectedText() ? withoutBreaks(selectedText()) : text();
    QGuiApplication::clipboard()->setText(marked);
}

bool ThemedLabel::event(QEvent* event)
{
    if (event->type() != QEvent::KeyPress || !hasSelectedText() ||
        !static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy))
        return QLabel::event(event);
    copy();
    return true;
}

void ThemedLabel::contextMenuEvent(QContextMenuEvent* event)
{
    const bool isSelectable = textInteractionFlags() & Qt::TextSelectableByMouse;
    if (text().isEmpty() || !(m_elision || isSelectable)) return event->ignore();
    QMenu* menu = makePopupMenu(this);
    menu->addAction(hasSelectedText() ? tr("Copy what is marked") : tr("Copy the text"), this,
                    &ThemedLabel::copy);
    menu->popup(event->globalPos());
}

void ThemedLabel::mouseReleaseEvent(QMouseEvent* event)
{
    QLabel::mouseReleaseEvent(event);
    if (m_role == Role::Link && event->button() == Qt::LeftButton && rect().contains(event->pos()))
        emit linkActivated({});
}

void ThemedLabel::setElision(Elision elision)
{
    m_elision = elision;
    updateGeometry();
}

void ThemedLabel::apply()
{
    const Theme& t = m_themes.theme();
    QFont font = t.body;
    QColor colour = t.text;
    switch (m_role) {
    case Role::Body: break;
    case Role::Strong: font = t.bodyStrong; break;
    case Role::Secondary: colour = t.secondary; break;
    case Role::Faint: font = t.secondaryFont, colour = t.faint; break;
    case Role::Document: font = t.documentTitle; break;
    case Role::Heading:
        font = t.documentTitle;
        font.setPixelSize(22);
        break;
    case Role::Code: font = t.code; break;
    case Role::Error: colour = t.stateInk(DiffState::Removed); break;
    case Role::Link: colour = t.accentInk; break;
    }
    setFont(font);
    QPalette p = palette();
    p.setColor(QPalette::WindowText, colour);
    p.setColor(QPalette::Text, colour);
    p.setColor(QPalette::Link, t.accentInk);
    setPalette(p);
}

QSize ThemedLabel::sizeHint() const
{
    // One pixel of room, so that rounding never cuts a text that fits.
    return m_elision ? QLabel::sizeHint() + QSize(2, 0) : QLabel::sizeHint();
}

QSize ThemedLabel::minimumSizeHint() const
{
    const QSize size = QLabel::minimumSizeHint();
    return m_elision ? QSize(24, size.height()) : size;
}

void ThemedLabel::paintEvent(QPaintEvent* event)
{
    const bool isCut = !m_elision && isCutBelow(*this);
    if (!m_elision) tellWhole(*this, text(), isCut);
    if (!m_elision && !isCut) return QLabel::paintEvent(event);
    QPainter painter(this);
    painter.setPen(palette().color(QPalette::WindowText));
    if (isCut) {
        const QStringList lines = wholeLines(QLabel::text(), font(), size());
        painter.drawText(rect(), static_cast<int>(alignment()), lines.join(QLatin1Char('\n')));
        return;
    }
    const QString shown = shortened(text(), fontMetrics(), width(), *m_elision);
    setToolTip(shown == text() ? QString() : text());
    painter.drawText(rect(), static_cast<int>(alignment()) | Qt::TextSingleLine, shown);
}

ThemedLabel* makeSentence(const ThemeSource& themes, ThemedLabel::Role role)
{
    auto* label = new ThemedLabel(themes, role);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QHBoxLayout* indented(QWidget* part)
{
    auto* row = new QHBoxLayout;
    row->setContentsMargins(8, 0, 8, 0);
    row->addWidget(part, 1);
    return row;
}

Panel::Panel(const ThemeSource& themes, const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_title(new ThemedLabel(themes, ThemedLabel::Role::Strong, title))
    , m_caption(new ThemedLabel(themes, ThemedLabel::Role::Secondary))
    , m_header(new QHBoxLayout)
    , m_content(new QVBoxLayout)
{
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
    m_title->setElision(Elision::Title);
    m_caption->setElision(Elision::Content);
    m_caption->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    constexpr int kButtonHeight = 26; // titles stand at one height with and without buttons
    m_header->setContentsMargins(kPanelMargin, 6, kPanelMargin, 4);
    m_header->addStrut(kButtonHeight);
    m_header->setSpacing(10);
    m_title->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    // What is left of the row is the caption's: the title gives way last.
    m_caption->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_header->addWidget(m_title);
    m_header->addWidget(m_caption, 1);
    m_content->setContentsMargins(kPanelMargin, 0, kPanelMargin, kPanelMargin - 4);
    m_content->setSpacing(8);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(m_header);
    layout->addLayout(m_content, 1);
    setTitle(title);
}

void Panel::setTitle(const QString& title)
{
    m_title->setText(title);
    m_title->setVisible(!title.isEmpty());
    setAccessibleName(title);
}

void Panel::setCaption(const QString& caption) { m_caption->setText(caption); }

void Panel::foldHeader(const std::vector<QWidget*>& parts)
{
    CHECK(!m_fold) << "a header folds once";
    m_fold = new HeaderFold(m_themes, *this, *m_header, *m_title, parts);
}

QSize Panel::minimumSizeHint() const
{
    const QSize least = QWidget::minimumSizeHint();
    if (!m_fold) return least;
    return {std::max(m_fold->leastWidth(), m_content->minimumSize().width()), least.height()};
}

/// Tab walks the header from left to right, in whatever order its parts were made.
void Panel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    QWidget* before = nullptr;
    for (int i = 0; i < m_header->count(); ++i) {
        QWidget* part = m_header->itemAt(i)->widget();
        if (part && part->focusPolicy() == Qt::NoFocus) part = part->findChild<QAbstractButton*>();
        if (!part || !(part->focusPolicy() & Qt::TabFocus)) continue;
        if (before) setTabOrder(before, part);
        before = part;
    }
}

void Panel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_themes.theme().line);
    painter.setBrush(m_themes.theme().panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kPanelRadius,
                            kPanelRadius);
}

} // namespace tenon::views
