// SPDX-License-Identifier: GPL-3.0-or-later
// Where a canvas looks when it is shown a graph that is too large to be seen whole.
#include "views/canvas/graph_canvas.h"
#include "views/theme/theme.h"

#include <QTest>

using namespace tenon;
using namespace tenon::views;

class FirstLookTest : public QObject
{
    Q_OBJECT

private slots:
    void beginsAtTheTopmostCardAlsoWhereGroupsAreClosed()
    {
        auto made = std::make_shared<Scene>();
        SceneItem group, input, last;
        group.isFrame = group.isScope = group.isCollapsed = true;
        group.rect = {0, 400, 170, 34};
        input.rect = {300, 0, 170, 34};
        last.rect = {0, 9000, 170, 34};
        made->items = {group, input, last}; // frames first
        made->visible = made->bounds = {0, 0, 470, 9034};
        GraphCanvas canvas(loadTheme(false));
        canvas.resize(600, 400);
        canvas.show();
        canvas.setScene(made);
        QVERIFY(canvas.camera().visible(canvas.size()).contains(input.rect));
    }

    void beginsWhereAPassChangedSomething()
    {
        auto made = std::make_shared<Scene>();
        SceneItem input, changed, last;
        input.rect = {300, 0, 170, 34};
        changed.rect = {0, 4000, 170, 34};
        last.rect = {0, 9000, 170, 34};
        input.state = DiffState::Unchanged;
        changed.state = DiffState::Changed;
        last.state = DiffState::Removed;
        made->items = {input, last, changed};
        made->visible = made->bounds = {0, 0, 470, 9034};
        GraphCanvas canvas(loadTheme(false));
        canvas.resize(600, 400);
        canvas.show();
        canvas.setScene(made);
        QVERIFY(canvas.camera().visible(canvas.size()).contains(changed.rect));
    }
};

QTEST_MAIN(FirstLookTest)
#include "first_look_test.moc"
