// SPDX-License-Identifier: GPL-3.0-or-later
// The inspector: binds the presenter's rows and texts to labels and code views.
#include "views/pages/common/inspector_panel.h"

#include <QScrollArea>

#include <algorithm>

namespace tenon::views {

namespace {

enum Tab
{
    kMembers,
    kSchedule,
    kTir,
    kLlvm,
    kAssembly
};

constexpr int kLabelWidth = 78;
constexpr const char* kTabNames[] = {"members", "schedule", "tir", "llvm", "assembly"};

void clear(QLayout* layout)
{
    while (QLayoutItem* item = layout->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
}

} // namespace

InspectorPanel::InspectorPanel(const ThemeSource& source, InspectorPresenter& presenter,
                               QWidget* parent)
    : Panel(source, tr("Inspector"), parent)
    , m_presenter(presenter)
    , m_facts(new QWidget)
    , m_factsLayout(new QVBoxLayout(m_facts))
    , m_tabs(new PillTabs(source, PillTabs::Size::Small))
    , m_stack(new QStackedWidget)
    , m_members(new QWidget)
    , m_membersLayout(new QVBoxLayout(m_members))
    , m_code(new CodeView(source))
    , m_linked(new QWidget)
    , m_linkedTitle(new ThemedLabel(source, ThemedLabel::Role::Strong))
    , m_linkedCode(new CodeView(source))
    , m_notice(new EmptyNotice(source, {}, {}, tr("Compile")))
    , m_nothing(new EmptyNotice(source, {}, {}, {}))
{
    m_factsLayout->setContentsMargins(0, 0, 0, 0);
    m_factsLayout->setSpacing(5);
    m_membersLayout->setContentsMargins(0, 4, 0, 0);
    m_membersLayout->setSpacing(6);
    for (const QString& name :
         {tr("Members"), tr("Schedule"), tr("TIR"), tr("LLVM"), tr("Assembly")})
        m_tabs->addTab(name);
    auto* scroll = new QScrollArea;
    scroll->setWidget(m_members);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->viewport()->setAutoFillBackground(false);
    m_members->setAutoFillBackground(false);
    m_stack->addWidget(scroll);
    buildCode();
    m_stack->addWidget(m_notice);
    content()->addWidget(m_facts);
    content()->addWidget(m_tabs);
    content()->addWidget(m_stack, 1);
    content()->addWidget(m_nothing, 1);
    connect(m_tabs, &QTabBar::currentChanged, this, [this] {
        m_line = 0;
        refreshCode();
    });
    connect(m_notice, &EmptyNotice::triggered, this, &InspectorPanel::compileRequested);
    connect(&presenter, &InspectorPresenter::stateChanged, this, &InspectorPanel::refresh);
    connect(&presenter, &InspectorPresenter::codeChanged, this, &InspectorPanel::refreshCode);
    connect(&source, &ThemeSource::changed, this, &InspectorPanel::refreshFacts); // links' colour
    m_tabs->setCurrentIndex(kTir);
    setGroup({}, {});
    refresh();
}

void InspectorPanel::buildCode()
{
    auto* page = new QWidget;
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(m_code, 3);
    auto* linked = new QVBoxLayout(m_linked);
    linked->setContentsMargins(0, 0, 0, 0);
    linked->setSpacing(4);
    linked->addWidget(m_linkedTitle);
    linked->addWidget(m_linkedCode, 1);
    layout->addWidget(m_linked, 2);
    m_stack->addWidget(page);
    connect(m_code, &CodeView::lineEntered, this, &InspectorPanel::showLine);
}

void InspectorPanel::showTab(const QString& name)
{
    for (int i = 0; i < m_tabs->count(); ++i)
        if (name.compare(QLatin1String(kTabNames[i]), Qt::CaseInsensitive) == 0)
            m_tabs->setCurrentIndex(i);
}

QWidget* InspectorPanel::factRow(const FactRow& row, bool isMember)
{
    auto* widget = new QWidget;
    auto* layout = new QHBoxLayout(widget);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    auto* label = new ThemedLabel(
        themes(), isMember ? ThemedLabel::Role::Strong : ThemedLabel::Role::Secondary, row.label);
    if (!isMember) label->setFixedWidth(kLabelWidth);
    label->setElision(Elision::Title);
    const bool isLink = row.node.isValid() && !isMember;
    auto* value = new ThemedLabel(themes(),
                                  isLink     ? ThemedLabel::Role::Link
                                  : isMember ? ThemedLabel::Role::Secondary
                                             : ThemedLabel::Role::Body,
                                  row.value);
    value->setElision(Elision::Content);
    if (isLink) {
        value->setCursor(Qt::PointingHandCursor);
        connect(value, &QLabel::linkActivated, this,
                [this, node = row.node] { emit nodeRequested(node); });
    }
    if (!row.tip.isEmpty()) widget->setToolTip(row.tip);
    layout->addWidget(label, isMember ? 3 : 0);
    layout->addWidget(value, isMember ? 4 : 1);
    return widget;
}

void InspectorPanel::fillRows(QVBoxLayout* layout, const std::vector<FactRow>& rows, bool isMembers)
{
    clear(layout);
    for (const FactRow& row : rows) layout->addWidget(factRow(row, isMembers));
    if (isMembers) layout->addStretch(1);
}

void InspectorPanel::refresh()
{
    const InspectorState& state = m_presenter.state();
    setTitle(state.hasNode ? state.title : tr("Inspector"));
    setCaption(state.subtitle == state.title ? QString() : state.subtitle);
    m_facts->setVisible(state.hasNode);
    m_tabs->setVisible(state.hasNode);
    m_stack->setVisible(state.hasNode);
    m_nothing->setVisible(!state.hasNode);
    refreshFacts();
    refreshCode();
}

void InspectorPanel::refreshFacts()
{
    fillRows(m_factsLayout, m_presenter.state().facts, false);
    fillRows(m_membersLayout, m_presenter.state().members, true);
}

void InspectorPanel::setGroup(const QString& title, const QString& size)
{
    if (title.isEmpty())
        return m_nothing->setText(
            tr("Nothing selected"),
            tr("Select a node to see its attributes, types and origin, and, once compiled, its "
               "schedule, loop IR and assembly."));
    m_nothing->setText(title, tr("A group of %1. Enter or a double click opens and closes it; a "
                                 "node inside has types, attributes and code.")
                                  .arg(size));
}

void InspectorPanel::refreshCode()
{
    const InspectorState& state = m_presenter.state();
    if (!state.hasNode) return;
    const int tab = m_tabs->currentIndex();
    if (tab == kMembers && !state.members.empty()) return m_stack->setCurrentIndex(0);
    const bool needsText = tab == kLlvm || tab == kAssembly || tab == kTir;
    if (needsText && state.hasKernel && state.assembly.text.isEmpty() && !state.isLoading &&
        state.codeMessage.isEmpty())
        return m_presenter.loadCode(); // answers with codeChanged
    const QString text = tab == kSchedule   ? state.schedule
                         : tab == kTir      ? state.tir.text
                         : tab == kLlvm     ? state.llvm.text
                         : tab == kAssembly ? state.assembly.text
                                            : QString();
    if (text.isEmpty()) {
        const bool canCompile = !state.isCompiled && tab != kMembers;
        m_notice->setText(
            tab == kMembers    ? tr("No members")
            : state.isLoading  ? tr("Making the text…")
            : state.hasKernel  ? tr("No text")
            : state.isCompiled ? tr("No code")
                               : tr("No code yet"),
            tab == kMembers ? tr("Fused operators list their members here. This one stands alone.")
                            : state.codeMessage);
        m_notice->setActionEnabled(canCompile);
        return m_stack->setCurrentIndex(2);
    }
    m_code->setCode(text, tab == kSchedule ? CodeLanguage::Schedule
                          : tab == kTir    ? CodeLanguage::Tir
                          : tab == kLlvm   ? CodeLanguage::Llvm
                                           : CodeLanguage::Assembly);
    m_stack->setCurrentIndex(1);
    m_linked->setVisible(tab == kTir && !state.assembly.text.isEmpty() &&
                         !state.assembly.tirLines.empty());
    if (tab == kTir && m_line == 0) {
        // Open at the innermost statement: the line that most assembly lines belong to.
        std::map<int, int> counts;
        for (const int line : state.assembly.tirLines)
            if (line > 0) ++counts[line];
        const auto most =
            std::max_element(counts.begin(), counts.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most != counts.end()) m_line = most->first;
    }
    if (m_line > 0) showLine(m_line);
}

/// A line of any text names a line of the TIR; everything that belongs to it is marked.
void InspectorPanel::showLine(int line)
{
    const InspectorState& state = m_presenter.state();
    const int tab = m_tabs->currentIndex();
    const std::vector<int>* links = tab == kLlvm       ? &state.llvm.tirLines
                                    : tab == kAssembly ? &state.assembly.tirLines
                                                       : nullptr;
    const auto linesOf = [](const std::vector<int>& map, int tir) {
        std::vector<int> lines;
        for (size_t i = 0; i < map.size(); ++i)
            if (map[i] == tir) lines.push_back(static_cast<int>(i) + 1);
        return lines;
    };
    if (links) {
        const int tir =
            line <= static_cast<int>(links->size()) ? (*links)[static_cast<size_t>(line) - 1] : 0;
        m_code->markLines(tir > 0 ? linesOf(*links, tir) : std::vector<int>{}, false);
        return;
    }
    if (tab != kTir) return;
    m_line = line;
    m_code->markLines({line}, !m_code->hasFocus());
    const std::vector<int> lines = linesOf(state.assembly.tirLines, line);
    const QStringList all = state.assembly.text.split(QLatin1Char('\n'));
    QStringList shown;
    for (const int l : lines)
        if (l <= all.size()) shown << all[l - 1];
    m_linkedTitle->setText(shown.isEmpty() ? tr("No assembly belongs to line %1").arg(line)
                                           : tr("Assembly of line %1").arg(line));
    m_linkedCode->setCode(shown.join(QLatin1Char('\n')), CodeLanguage::Assembly);
}

} // namespace tenon::views
