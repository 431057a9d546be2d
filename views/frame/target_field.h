// SPDX-License-Identifier: GPL-3.0-or-later
// TargetField: the target string with validation as one types, explanation and suggestions.
#pragma once

#include "views/pages/common/panel.h"
#include "views/presenters/workspace_presenter.h"

#include <QLineEdit>

namespace tenon::views {

/// What the target means, or why it means nothing; shown under the field while it has the focus.
class TargetExplanation : public QWidget
{
    Q_OBJECT
public:
    TargetExplanation(const ThemeSource& themes, QWidget* window);
    void showState(const WorkspaceState& state);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const ThemeSource& m_themes;
    ThemedLabel* m_title;
    ThemedLabel* m_text;
};

class TargetField : public QLineEdit
{
    Q_OBJECT
public:
    TargetField(const ThemeSource& themes, WorkspacePresenter& workspace, QWidget* window);
    void showExplanation();

protected:
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void refresh();
    void applyTheme();
    void showTarget(const QString& target);

    const ThemeSource& m_themes;
    WorkspacePresenter& m_workspace;
    TargetExplanation* m_explanation;
    QString m_before; ///< what stood here when the typing began
};

} // namespace tenon::views
