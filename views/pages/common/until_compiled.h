// SPDX-License-Identifier: GPL-3.0-or-later
// UntilCompiled: what a page about the compiled program shows, and before there is one, a notice
// that compiles.
#pragma once

#include "views/pages/common/notice.h"
#include "views/presenters/workspace_presenter.h"

#include <QStackedWidget>

namespace tenon::views {

class UntilCompiled : public QStackedWidget
{
    Q_OBJECT
public:
    struct Words
    {
        QString title;
        QString text;
    };
    UntilCompiled(const ThemeSource& themes, WorkspacePresenter& workspace,
                  const QString& pageTitle, QWidget* content, const Words& notice);
    void showContent(bool isThere) { setCurrentIndex(isThere ? 1 : 0); }
};

} // namespace tenon::views
