// SPDX-License-Identifier: GPL-3.0-or-later
// Keys that act anywhere on a page, and walking from pane to pane.
#include "app/workbench/window_keys.h"

#include "app/workbench/main_window.h"
#include "views/pages/common/panel.h"

#include <QApplication>
#include <QShortcut>

#include <algorithm>
#include <set>

namespace tenon::app {

namespace {

/// A letter or a sign; others, such as PgDn, mean something of their own in tables and texts.
bool isSign(const QKeySequence& keys)
{
    if (keys.count() != 1 || (keys[0].keyboardModifiers() & ~Qt::ShiftModifier)) return false;
    const int key = keys[0].key();
    return key > Qt::Key_Space && key <= Qt::Key_AsciiTilde;
}

int areaOf(const QWidget& widget) { return widget.width() * widget.height(); }

bool takesFocus(const QWidget& widget)
{
    return widget.isVisible() && widget.isEnabled() && (widget.focusPolicy() & Qt::TabFocus);
}

/// The largest part of a pane that takes keys: its graph, table or text rather than a button.
QWidget* mainPartOf(QWidget& pane)
{
    QWidget* found = takesFocus(pane) ? &pane : nullptr;
    for (auto* part : pane.findChildren<QWidget*>())
        if (takesFocus(*part) && (!found || areaOf(*part) > areaOf(*found))) found = part;
    return found;
}

/// Title row, panels from left to right and top to bottom, status bar; only those with something
/// that takes keys.
std::vector<QWidget*> panesOf(MainWindow& window)
{
    std::vector<QWidget*> panes;
    for (auto* panel : window.part<QStackedWidget>().currentWidget()->findChildren<views::Panel*>())
        if (panel->isVisible()) panes.push_back(panel);
    const auto place = [&](QWidget* pane) { return pane->mapTo(&window, QPoint()); };
    std::sort(panes.begin(), panes.end(), [&](QWidget* a, QWidget* b) {
        const QPoint left = place(a), right = place(b);
        return std::pair(left.x(), left.y()) < std::pair(right.x(), right.y());
    });
    if (panes.empty()) panes.push_back(window.part<QStackedWidget>().currentWidget());
    panes.insert(panes.begin(), &window.part<views::TitleBar>());
    panes.push_back(&window.part<views::StatusStrip>());
    std::erase_if(panes, [](QWidget* pane) { return !mainPartOf(*pane); });
    return panes;
}

} // namespace

/// A field that is typed into takes them first.
void bindPageKeys(MainWindow& window)
{
    views::Actions& actions = window.actions();
    for (const views::Page& page : window.pages()) {
        std::set<QString> bound;
        const auto bind = [&](const views::ActionSpec& spec) {
            const QKeySequence keys(spec.keys);
            if (!spec.isLocal || !spec.run || !isSign(keys) || !bound.insert(spec.keys).second)
                return;
            auto* shortcut = new QShortcut(keys, page.widget);
            shortcut->setContext(Qt::WidgetWithChildrenShortcut);
            QObject::connect(shortcut, &QShortcut::activated, &window,
                             [&actions, id = spec.id] { actions.action(id)->trigger(); });
        };
        for (const views::ActionSpec& spec : page.actions) bind(spec);
        if (!page.canvas) continue;
        for (const views::ActionSpec& spec : actions.specs())
            if (spec.group == MainWindow::tr("Graph") && spec.actsOn == views::ActsOn::AnyPage)
                bind(spec);
    }
}

void walkPanes(MainWindow& window, int step)
{
    const std::vector<QWidget*> panes = panesOf(window);
    if (panes.empty()) return;
    const QWidget* focus = QApplication::focusWidget();
    const auto count = static_cast<int>(panes.size());
    int now = step > 0 ? -1 : 0;
    for (int i = 0; i < count; ++i)
        if (focus && (panes[static_cast<size_t>(i)] == focus ||
                      panes[static_cast<size_t>(i)]->isAncestorOf(focus)))
            now = i;
    const int next = (now + step + count) % count;
    mainPartOf(*panes[static_cast<size_t>(next)])->setFocus(Qt::TabFocusReason);
}

std::map<QString, std::pair<QString, QString>> sharedRows()
{
    const auto tr = [](const char* text) { return MainWindow::tr(text); };
    std::map<QString, std::pair<QString, QString>> shared{
        {QStringLiteral("recent1"), {tr("Recent models"), QStringLiteral("Ctrl+1 … 9")}},
        {QStringLiteral("keys"), {tr("Keys"), QStringLiteral("F1  ?")}},
        {QStringLiteral("back"), {tr("Back, forward"), QStringLiteral("Alt+Left  Alt+Right")}},
        {QStringLiteral("next-pane"), {tr("Next, previous pane"), QStringLiteral("F6  Shift+F6")}},
        {QStringLiteral("next-change"),
         {tr("Next, previous pass that changed something"), QStringLiteral("F  R")}},
        {QStringLiteral("next-pass"), {tr("Next, previous pass"), QStringLiteral("PgDown  PgUp")}},
        {QStringLiteral("next-touching"),
         {tr("Next, previous pass touching the selection"), QStringLiteral("]  [")}},
        {QStringLiteral("step-inside"),
         {tr("Step inside the pass, and out of it"), QStringLiteral("I  Shift+I")}},
        {QStringLiteral("table"),
         {tr("As a table; figures and colours of cards"), QStringLiteral("T  E  C")}},
        {QStringLiteral("walk-order"),
         {tr("Walk in program order, and back"), QStringLiteral("N  Shift+N")}},
        {QStringLiteral("expand"),
         {tr("Open and close the selected group"), QStringLiteral("+  -")}},
        {QStringLiteral("find-next"), {tr("Find next, previous"), QStringLiteral("F3  Shift+F3")}}};
    for (const char* second :
         {"forward", "find-previous", "previous-pane", "previous-change", "previous-pass",
          "previous-touching", "step-outside", "figures", "colour", "walk-back", "collapse"})
        shared[QLatin1String(second)] = {};
    return shared;
}

} // namespace tenon::app
