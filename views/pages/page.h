// SPDX-License-Identifier: GPL-3.0-or-later
// Page: all that the window knows of one of its pages, as one value that the page's file makes;
// pages.def lists them.
#pragma once

#include "views/pages/common/actions.h"
#include "views/presenters/selection.h"
#include "views/theme/theme_source.h"

namespace tenon::views {

class BoardPrompt;
class BoardsPresenter;
class DeployPresenter;
class ExecutorsPresenter;
class FollowPresenter;
class GraphCanvas;
class InspectorPanel;
class InspectorPresenter;
class InspectPresenter;
class MemoryPresenter;
class PassesPresenter;
class WorkspacePresenter;
struct Export;

struct PathQuestion
{
    QString title;
    QString start; ///< folder to look in first
    bool isFolder = false;
};

/// What a page may ask of the window around it.
struct PageHost
{
    std::function<void(const Export&)> ask; ///< writes something where the user says
    /// A file or folder that is there; the answer comes later, or never.
    std::function<void(const PathQuestion&, const std::function<void(QString)>&)> askForPath;
    std::function<void()> showModel;            ///< the page that shows the model as opened
    std::function<void()> showSteps;            ///< the page that shows the passes' graph
    std::function<void(const char*)> runAction; ///< by its id
    std::function<void()> noteChange;           ///< the version or the graph that it shows is new
};

/// What a page is made from. What it alone needs it makes itself.
struct PageContext
{
    const ThemeSource& themes;
    WorkspacePresenter& workspace;
    PassesPresenter& passes;
    FollowPresenter& follow;
    InspectPresenter& inspect;
    InspectorPresenter& inspector;
    MemoryPresenter& memory;
    ExecutorsPresenter& executors;
    BoardPrompt& boardPrompt;
    BoardsPresenter& boards;
    DeployPresenter& deploy;
    PageHost host;
};

struct Page
{
    QString name;                        ///< on the command line and in sessions
    QString title;                       ///< on its tab
    QString icon;                        ///< of the action that shows it; empty: none
    QString tip;                         ///< of that action
    QWidget* widget = nullptr;           ///< empty panes of it say what will appear there
    QWidget* focus = nullptr;            ///< takes the keys when the page is shown
    GraphCanvas* canvas = nullptr;       ///< of a page with a graph
    InspectorPanel* inspector = nullptr; ///< of a page with one
    bool showsSteps = false;             ///< of the passes: the status bar says at which it is
    /// Takes the workspace's new document; empty: its presenters hear of it themselves.
    std::function<void(bool isSameModel)> setDocument;
    std::function<void(const QString&)> takeExamples; ///< a folder that is dropped on it
    std::function<size_t()> version; ///< of the document that it shows; empty: the last
    std::function<core::NodeId(const QString&)> findNode; ///< in what it shows
    std::function<void()> shown;                          ///< what being looked at starts
    std::function<void()> hidden;                         ///< another page came to the front
    std::function<bool()> isSettled; ///< nothing runs that would change its picture; empty: always
    std::vector<ActionSpec> actions; ///< one id may stand on several pages: the shown one acts
};

#define TENON_PAGE(Name) Page make##Name##Page(const PageContext& context);
#include "views/pages/pages.def"
#undef TENON_PAGE

/// From a graph or a chart to its table, from times to errors on the cards, and to the next
/// colours: each page that can does it with its own.
ActionSpec tableAction(std::function<void()> toggle);
ActionSpec figuresAction(std::function<void()> toggle);
ActionSpec colourAction(std::function<void()> next);
/// Long chains as columns side by side, on the shown page.
ActionSpec wrapAction(std::function<void()> toggle);

/// All of them, in the order of their tabs.
std::vector<Page> makePages(const PageContext& context);
/// The graph of the model as it was opened.
const Page& pageOfModel(const std::vector<Page>& pages);
const Page& pageOfSteps(const std::vector<Page>& pages);

} // namespace tenon::views
