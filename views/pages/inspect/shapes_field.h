// SPDX-License-Identifier: GPL-3.0-or-later
// ShapesField: where the sizes that a model leaves open are bound, with what is wrong under it.
#pragma once

#include "views/pages/common/panel.h"
#include "views/presenters/workspace_presenter.h"

#include <QLineEdit>

namespace tenon::views {

/// Shown while a model with open sizes is open, or when asked for. Return applies, Escape takes
/// back.
class ShapesField : public QWidget
{
    Q_OBJECT
public:
    ShapesField(const ThemeSource& themes, WorkspacePresenter& workspace,
                QWidget* parent = nullptr);
    QLineEdit& line() { return *m_line; }
    /// Into the line; where no size is open, it says so until another model comes.
    void ask();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void takeBack();

    const ThemeSource& m_themes;
    WorkspacePresenter& m_workspace;
    QLineEdit* m_line;
    ThemedLabel* m_text;
    bool m_isAsked = false;
};

} // namespace tenon::views
