// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the options; what they mean is the presenter's.
#include "views/frame/options_sheet.h"

#include "views/pages/common/field_text.h"
#include "views/pages/common/popup_menu.h"

#include <QSignalBlocker>

namespace tenon::views {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

namespace {

const QStringList& executors()
{
    static const QStringList kNames{QStringLiteral("aot"), QStringLiteral("graph"),
                                    QStringLiteral("vm")};
    return kNames;
}

void showTab(PillTabs& tabs, int index)
{
    const QSignalBlocker blocker(tabs);
    tabs.setCurrentIndex(index);
    tabs.update();
}

} // namespace

OptionsSheet::OptionsSheet(const ThemeSource& themes, WorkspacePresenter& workspace,
                           QWidget* window)
    : Overlay(themes, window, {860, 620})
    , m_options(workspace)
    , m_grid(new QGridLayout)
{
    panel().setTitle(tr("Compile options"));
    panel().setCaption(tr("Esc closes"));
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(8);
    m_grid->setColumnStretch(1, 1);
    m_passes = new QListView;
    m_passes->setModel(&m_options.passes());
    m_passes->setFrameShape(QFrame::NoFrame);
    m_passes->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_passes->setAccessibleName(tr("Passes that run"));
    m_passes->viewport()->setAutoFillBackground(false);
    auto* passes = new QVBoxLayout;
    passes->setSpacing(4);
    passes->addWidget(new ThemedLabel(themes, Role::Secondary, tr("passes")));
    passes->addWidget(m_passes, 1);
    auto* columns = new QHBoxLayout;
    columns->setSpacing(24);
    columns->addLayout(buildForm(), 3);
    columns->addLayout(passes, 2);
    m_levelsCaption = new ThemedLabel(themes, Role::Secondary);
    m_levels = new DataTable(themes, &m_options.levels());
    m_levels->setAccessibleName(tr("Optimization levels side by side"));
    m_levels->setColumnWidths({70, 190, 90, 90, 110, 110, 0});
    m_levels->delegate().setBarColumn(1, 74);
    m_levels->setFixedHeight(160);
    panel().content()->addLayout(columns, 1);
    panel().content()->addWidget(m_levelsCaption);
    panel().content()->addWidget(m_levels);
    panel().content()->addLayout(buildButtons());
    connect(&m_options, &OptionsPresenter::stateChanged, this, &OptionsSheet::refresh);
    connect(&m_options.levels(), &QAbstractItemModel::modelReset, this, &OptionsSheet::refresh);
    refresh();
}

void OptionsSheet::addRow(const QString& label, QWidget* part)
{
    const int row = m_grid->rowCount();
    m_grid->addWidget(new ThemedLabel(themes(), Role::Secondary, label), row, 0,
                      Qt::AlignLeft | Qt::AlignVCenter);
    m_grid->addWidget(part, row, 1);
    if (part->accessibleName().isEmpty()) part->setAccessibleName(label);
}

PillTabs* OptionsSheet::tabs(const QStringList& texts, const QString& name)
{
    auto* tabs = new PillTabs(themes(), PillTabs::Size::Small);
    for (const QString& text : texts) tabs->addTab(text);
    tabs->setAccessibleName(name);
    return tabs;
}

QLayout* OptionsSheet::buildForm()
{
    m_level =
        tabs({QStringLiteral("0"), QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("3")},
             tr("optimization level"));
    m_executor = tabs(executors(), tr("executor"));
    m_threads = new QLineEdit;
    m_threads->setPlaceholderText(tr("as the target says"));
    m_planner = new PillButton(themes(), Look::Plain, {});
    addRow(tr("optimization level"), m_level);
    addRow(tr("executor"), m_executor);
    addRow(tr("threads"), m_threads);
    m_workspacePools = poolField(tr("Memories of C source in order of preference; @.section behind "
                                    "one makes it a static array there, others the caller gives"));
    m_constantPools = poolField(tr("Memories that the weights of C source lie in"));
    addRow(tr("memory planner"), m_planner);
    addRow(tr("workspace pools"), m_workspacePools);
    addRow(tr("constant pools"), m_constantPools);
    addRow(tr("PassContext"), buildKeys());
    m_command = new ThemedLabel(themes(), Role::Code);
    m_command->setWordWrap(true);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_problem = new ThemedLabel(themes(), Role::Error);
    m_problem->setWordWrap(true);
    auto* form = new QVBoxLayout;
    form->addLayout(m_grid);
    form->addSpacing(6);
    form->addWidget(m_command);
    form->addWidget(m_problem);
    form->addStretch(1);
    connect(m_level, &QTabBar::currentChanged, &m_options, &OptionsPresenter::setOptLevel);
    connect(m_executor, &QTabBar::currentChanged, this,
            [this](int index) { m_options.setExecutor(executors().value(index)); });
    connect(m_threads, &QLineEdit::textChanged, &m_options, &OptionsPresenter::setThreads);
    connect(m_planner, &QPushButton::clicked, this, &OptionsSheet::choosePlanner);
    connect(m_workspacePools, &QLineEdit::textChanged, &m_options,
            &OptionsPresenter::setWorkspacePools);
    connect(m_constantPools, &QLineEdit::textChanged, &m_options,
            &OptionsPresenter::setConstantPools);
    return form;
}

QLineEdit* OptionsSheet::poolField(const QString& tip)
{
    auto* field = new QLineEdit;
    field->setPlaceholderText(QStringLiteral("DTCM=128KiB,SRAM"));
    field->setToolTip(tip);
    return field;
}

QWidget* OptionsSheet::buildKeys()
{
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_passConfig = new QLineEdit;
    m_passConfig->setPlaceholderText(tr("KEY=VALUE KEY=VALUE"));
    m_passConfig->setAccessibleName(tr("PassContext keys"));
    auto* key = new PillButton(themes(), Look::Plain, tr("Key…"));
    key->setToolTip(tr("The keys that have an effect"));
    layout->addWidget(m_passConfig, 1);
    layout->addWidget(key);
    connect(m_passConfig, &QLineEdit::textChanged, &m_options, &OptionsPresenter::setPassConfig);
    connect(key, &QPushButton::clicked, this, &OptionsSheet::chooseKey);
    row->setAccessibleName(tr("PassContext"));
    return row;
}

QLayout* OptionsSheet::buildButtons()
{
    m_compare = new PillButton(themes(), Look::Plain, tr("Compare levels 0 to 3"));
    m_compare->setToolTip(tr("Compiles with these options at every level and measures on this "
                             "computer: time, calls, bytes"));
    m_reset = new PillButton(themes(), Look::Quiet, tr("Reset"));
    m_reset->setToolTip(tr("What is done unasked"));
    m_compile = new PillButton(themes(), Look::Primary, tr("Compile"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_compare);
    row->addStretch(1);
    row->addWidget(m_reset);
    row->addWidget(m_compile);
    for (PillButton* button : {m_compare, m_reset, m_compile}) button->setAutoDefault(true);
    connect(m_compare, &QPushButton::clicked, &m_options, &OptionsPresenter::compareLevels);
    connect(m_reset, &QPushButton::clicked, &m_options, &OptionsPresenter::reset);
    connect(m_compile, &QPushButton::clicked, this, [this] {
        if (m_options.apply()) close();
    });
    return row;
}

void OptionsSheet::choosePlanner()
{
    QMenu* menu = makePopupMenu(this);
    for (const QString& name : m_options.planners())
        menu->addAction(name, this, [this, name] { m_options.setPlanner(name); });
    menu->popup(m_planner->mapToGlobal(QPoint(0, m_planner->height() + 4)));
}

void OptionsSheet::chooseKey()
{
    QMenu* menu = makePopupMenu(this);
    for (const PassKey& key : m_options.passKeys())
        menu->addAction(tr("%1 · %2").arg(key.name, key.type), this, [this, key] {
            const QString text = m_passConfig->text().trimmed();
            m_passConfig->setText((text.isEmpty() ? QString() : text + QLatin1Char(' ')) +
                                  key.name + QLatin1Char('='));
            m_passConfig->setFocus();
        });
    menu->popup(m_passConfig->mapToGlobal(QPoint(0, m_passConfig->height() + 4)));
}

void OptionsSheet::openForm()
{
    m_threads->clear();
    m_options.start();
    open();
    m_level->setFocus();
}

void OptionsSheet::refresh()
{
    const OptionsState& state = m_options.state();
    showTab(*m_level, state.draft.optLevel);
    showTab(*m_executor, static_cast<int>(executors().indexOf(state.draft.executor)));
    if (state.problem.isEmpty())
        showText(*m_threads,
                 state.draft.threads == 0 ? QString() : QString::number(state.draft.threads));
    showText(*m_workspacePools, state.draft.workspacePools);
    showText(*m_constantPools, state.draft.constantPools);
    showText(*m_passConfig, state.draft.passConfig.join(QLatin1Char(' ')));
    m_planner->setText(state.draft.planner);
    m_planner->updateGeometry();
    m_command->setText(tr("tenon compile MODEL %1").arg(state.commandLine));
    m_problem->setText(state.problem);
    m_problem->setVisible(!state.problem.isEmpty());
    m_compile->setEnabled(state.canCompile);
    m_compare->setEnabled(state.canCompile);
    const bool hasLevels = m_options.levels().rowCount() > 0 || state.isComparing;
    m_levels->setVisible(hasLevels);
    m_levelsCaption->setVisible(hasLevels);
    m_levelsCaption->setText(state.isComparing ? tr("measuring…") : state.levelsCaption);
}

} // namespace tenon::views
