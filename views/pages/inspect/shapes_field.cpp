// SPDX-License-Identifier: GPL-3.0-or-later
// The line of bindings and its explanation.
#include "views/pages/inspect/shapes_field.h"

#include <QKeyEvent>

namespace tenon::views {

ShapesField::ShapesField(const ThemeSource& themes, WorkspacePresenter& workspace, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_workspace(workspace)
    , m_line(new QLineEdit)
    , m_text(new ThemedLabel(themes, ThemedLabel::Role::Secondary))
{
    m_line->setAccessibleName(tr("Sizes of the open dimensions"));
    m_line->setToolTip(tr("DIM=8 fixes a size, DIM=1..8 bounds it; NAME=1,3,224,224 is an input "
                          "with all of its dimensions. Return applies, Escape takes back."));
    m_line->setClearButtonEnabled(true);
    m_line->installEventFilter(this);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(new ThemedLabel(themes, ThemedLabel::Role::Secondary, tr("sizes")));
    row->addWidget(m_line, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 4, 0, 4);
    layout->setSpacing(4);
    layout->addLayout(row);
    layout->addWidget(m_text);
    connect(m_line, &QLineEdit::textChanged, &workspace, &WorkspacePresenter::checkShapes);
    connect(m_line, &QLineEdit::returnPressed, this,
            [this] { m_workspace.bindShapes(m_line->text()); });
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &ShapesField::refresh);
    connect(&workspace, &WorkspacePresenter::documentChanged, this, [this](bool isSameModel) {
        if (isSameModel) return;
        m_isAsked = false;
        takeBack();
    });
    connect(&themes, &ThemeSource::changed, this, &ShapesField::refresh);
    refresh();
}

void ShapesField::ask()
{
    m_isAsked = true;
    refresh();
    m_line->setFocus(Qt::ShortcutFocusReason);
    m_line->selectAll();
}

void ShapesField::refresh()
{
    const WorkspaceState& state = m_workspace.state();
    setVisible(state.canBindShapes || (m_isAsked && state.hasDocument));
    m_line->setEnabled(state.canBindShapes);
    if (!state.canBindShapes) {
        m_line->setPlaceholderText(tr("all fixed"));
        m_text->setRole(ThemedLabel::Role::Secondary);
        m_text->setText(tr("The model fixes every size of its inputs; there is none to bind."));
        return;
    }
    m_line->setPlaceholderText(state.shapesExample);
    m_line->setStyleSheet(state.areShapesValid ? QString()
                                               : QStringLiteral("QLineEdit { border-color: %1; }")
                                                     .arg(m_themes.theme().removed.name()));
    m_text->setRole(state.areShapesValid ? ThemedLabel::Role::Secondary : ThemedLabel::Role::Error);
    const bool isTyping = state.areShapesValid && m_line->text().trimmed() != state.shapes;
    m_text->setText(isTyping ? tr("Return applies") : state.shapesText);
}

/// What was typed and not applied.
void ShapesField::takeBack()
{
    m_line->setText(m_workspace.state().shapes);
    m_line->setCursorPosition(0);
    m_workspace.checkShapes(m_line->text());
}

bool ShapesField::eventFilter(QObject* watched, QEvent* event)
{
    const bool isEscape = event->type() == QEvent::KeyPress &&
                          static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
    if (isEscape) takeBack();
    return isEscape || QWidget::eventFilter(watched, event);
}

} // namespace tenon::views
