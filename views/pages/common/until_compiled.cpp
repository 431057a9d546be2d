// SPDX-License-Identifier: GPL-3.0-or-later
// A notice in a panel of its own, behind it the content.
#include "views/pages/common/until_compiled.h"

namespace tenon::views {

UntilCompiled::UntilCompiled(const ThemeSource& themes, WorkspacePresenter& workspace,
                             const QString& pageTitle, QWidget* content, const Words& notice)
{
    auto* panel = new views::Panel(themes, pageTitle); // QFrame has a Panel, too
    auto* shown = new EmptyNotice(themes, notice.title, notice.text, tr("Compile"));
    panel->content()->addWidget(shown, 1);
    addWidget(panel);
    addWidget(content);
    connect(shown, &EmptyNotice::triggered, &workspace, &WorkspacePresenter::compile);
    const auto refresh = [shown, &workspace] {
        shown->setActionEnabled(workspace.state().canBuild);
    };
    connect(&workspace, &WorkspacePresenter::stateChanged, shown, refresh);
    refresh();
}

} // namespace tenon::views
