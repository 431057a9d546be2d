// SPDX-License-Identifier: GPL-3.0-or-later
// The target field and the explanation under it.
#include "views/frame/target_field.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QPainter>
#include <QTimer>

namespace tenon::views {

namespace {

constexpr int kExplanationWidth = 420;
constexpr int kSuggestionsWidth = 420; ///< a target with its triple in one line
constexpr int kGap = 8;

} // namespace

TargetExplanation::TargetExplanation(const ThemeSource& themes, QWidget* window)
    : QWidget(window)
    , m_themes(themes)
    , m_title(new ThemedLabel(themes, ThemedLabel::Role::Strong))
    , m_text(new ThemedLabel(themes, ThemedLabel::Role::Secondary))
{
    m_text->setWordWrap(true);
    m_title->setWordWrap(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kPanelMargin, 12, kPanelMargin, 12);
    layout->setSpacing(6);
    layout->addWidget(m_title);
    layout->addWidget(m_text);
    setFixedWidth(kExplanationWidth);
    hide();
}

void TargetExplanation::showState(const WorkspaceState& state)
{
    m_title->setRole(state.isTargetValid ? ThemedLabel::Role::Strong : ThemedLabel::Role::Error);
    m_title->setText(state.isTargetValid ? tr("This target means") : state.targetMessage);
    m_text->setText(state.targetExplanation.isEmpty()
                        ? tr("Names as in TVM: a kind with options, JSON, or a tag such as "
                             "raspberry-pi/4b-aarch64.")
                        : state.targetExplanation.join(QLatin1Char('\n')));
    // Wrapped lines need their height at this width, which adjustSize() does not ask for.
    layout()->activate();
    resize(kExplanationWidth, layout()->totalHeightForWidth(kExplanationWidth));
}

void TargetExplanation::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_themes.theme().line);
    painter.setBrush(m_themes.theme().panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kPanelRadius,
                            kPanelRadius);
}

TargetField::TargetField(const ThemeSource& themes, WorkspacePresenter& workspace, QWidget* window)
    : m_themes(themes)
    , m_workspace(workspace)
    , m_explanation(new TargetExplanation(themes, window))
{
    showTarget(workspace.state().target);
    setAccessibleName(tr("Target"));
    setPlaceholderText(tr("target, for example llvm -mcpu=native"));
    if (workspace.engine().targetSuggestions) {
        auto* completer = new QCompleter(workspace.engine().targetSuggestions(), this);
        completer->setFilterMode(Qt::MatchContains);
        completer->setCaseSensitivity(Qt::CaseInsensitive);
        completer->popup()->setObjectName(QStringLiteral("suggestions")); // for the style sheet
        completer->popup()->setMinimumWidth(kSuggestionsWidth);
        setCompleter(completer);
    }
    connect(this, &QLineEdit::textChanged, this,
            [this](const QString& text) { m_workspace.setTarget(text); });
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &TargetField::refresh);
    connect(&themes, &ThemeSource::changed, this, &TargetField::applyTheme);
    applyTheme();
}

void TargetField::showTarget(const QString& target)
{
    setText(target);
    setCursorPosition(0); // the kind and the processor matter more than the last option
}

void TargetField::applyTheme()
{
    setFont(m_themes.theme().code);
    refresh();
}

void TargetField::refresh()
{
    const WorkspaceState& state = m_workspace.state();
    if (text().trimmed() != state.target) { // a board brought its own
        const QSignalBlocker blocker(this);
        showTarget(state.target);
        m_before = state.target;
    }
    setStyleSheet(state.isTargetValid ? QString()
                                      : QStringLiteral("QLineEdit { border-color: %1; }")
                                            .arg(m_themes.theme().removed.name()));
    setToolTip(state.isTargetValid ? state.targetExplanation.join(QLatin1Char('\n'))
                                   : state.targetMessage);
    if (!m_explanation->isVisible()) return;
    m_explanation->showState(state);
}

void TargetField::showExplanation()
{
    m_explanation->showState(m_workspace.state());
    // Left of the list of suggestions, which opens under the field and would cover it.
    const QPoint corner = mapTo(m_explanation->parentWidget(), QPoint(0, height() + kGap));
    m_explanation->move(std::max(0, corner.x() - kGap - m_explanation->width()), corner.y());
    m_explanation->raise();
    m_explanation->show();
}

void TargetField::focusInEvent(QFocusEvent* event)
{
    QLineEdit::focusInEvent(event);
    if (event->reason() != Qt::PopupFocusReason) m_before = text(); // the list gives focus back
    showExplanation();
}

void TargetField::focusOutEvent(QFocusEvent* event)
{
    QLineEdit::focusOutEvent(event);
    m_explanation->hide();
    setCursorPosition(0);
}

void TargetField::keyPressEvent(QKeyEvent* event)
{
    const bool isReturn = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    const bool isListOpen = completer() && completer()->popup()->isVisible();
    // Escape closes the list first, then takes back what was typed; Return ends the typing once
    // the list took its choice.
    if (event->key() == Qt::Key_Escape && !isListOpen) {
        setText(m_before);
        clearFocus();
    }
    if (isReturn)
        QTimer::singleShot(0, this, [this] {
            clearFocus();
            m_explanation->hide();
        });
    QLineEdit::keyPressEvent(event);
}

} // namespace tenon::views
