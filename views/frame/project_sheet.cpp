// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the form and the log; what they mean is the presenter's.
#include "views/frame/project_sheet.h"

#include "views/pages/common/field_text.h"

#include <QDir>
#include <QScrollBar>
#include <QSignalBlocker>

#include <algorithm>

namespace tenon::views {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

ProjectSheet::ProjectSheet(const ThemeSource& themes, WorkspacePresenter& workspace,
                           AskForFile askForFile, QWidget* window)
    : Overlay(themes, window, {820, 600})
    , m_project(workspace)
    , m_askForFile(std::move(askForFile))
    , m_grid(new QGridLayout)
    , m_kind(new PillTabs(themes, PillTabs::Size::Small))
    , m_title(new ThemedLabel(themes, Role::Secondary))
    , m_command(new ThemedLabel(themes, Role::Code))
    , m_problem(new ThemedLabel(themes, Role::Secondary))
    , m_log(new QPlainTextEdit)
{
    panel().setTitle(tr("Project"));
    panel().setCaption(tr("Esc closes"));
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(8);
    m_grid->setColumnStretch(1, 1);
    for (const ProjectKind& kind : m_project.kinds()) m_kind->addTab(kind.name);
    addRow(tr("template"), m_kind);
    m_grid->addWidget(m_title, m_grid->rowCount(), 1);
    addRow(tr("folder"), folderRow());
    m_workspacePools =
        addField(tr("memory"), tr("one array; or DTCM=64KiB,SRAM@.sram in order of preference"));
    m_constantPools = addField(tr("memory of weights"), tr("one by one; or FLASH@.rodata.flash"));
    m_command->setWordWrap(true);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_problem->setWordWrap(true);
    m_log->setReadOnly(true);
    m_log->setAccessibleName(tr("Log of the project"));
    m_log->setPlaceholderText(tr("What making, building, flashing and running say"));
    panel().content()->addLayout(m_grid);
    panel().content()->addWidget(m_command);
    panel().content()->addWidget(m_problem);
    panel().content()->addWidget(m_log, 1);
    panel().content()->addLayout(buildButtons());
    connectForm();
    connect(&m_project, &ProjectPresenter::stateChanged, this, &ProjectSheet::refresh);
    refresh();
}

void ProjectSheet::addRow(const QString& label, QWidget* part)
{
    const int row = m_grid->rowCount();
    m_grid->addWidget(new ThemedLabel(themes(), Role::Secondary, label), row, 0,
                      Qt::AlignLeft | Qt::AlignVCenter);
    m_grid->addWidget(part, row, 1);
    if (part->accessibleName().isEmpty()) part->setAccessibleName(label);
}

QLineEdit* ProjectSheet::addField(const QString& label, const QString& hint)
{
    auto* field = new QLineEdit;
    field->setPlaceholderText(hint);
    addRow(label, field);
    return field;
}

QWidget* ProjectSheet::folderRow()
{
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_folder = new QLineEdit;
    m_folder->setAccessibleName(tr("folder"));
    auto* choose = new PillButton(themes(), Look::Plain, tr("Choose…"));
    choose->setAccessibleName(tr("Choose the folder"));
    layout->addWidget(m_folder, 1);
    layout->addWidget(choose);
    connect(choose, &QPushButton::clicked, this, [this] {
        const QString start = m_folder->text().isEmpty() ? QDir::homePath() : m_folder->text();
        m_askForFile(this, {FileQuestion::Kind::Save, tr("Folder of the project"), start, {}},
                     [this](const QString& path) { m_folder->setText(path); });
    });
    return row;
}

QLayout* ProjectSheet::buildButtons()
{
    auto* row = new QHBoxLayout;
    m_build = new PillButton(themes(), Look::Plain, tr("Build"));
    m_flash = new PillButton(themes(), Look::Plain, tr("Flash"));
    m_run = new PillButton(themes(), Look::Plain, tr("Run"));
    m_create = new PillButton(themes(), Look::Primary, tr("Make the project"));
    for (PillButton* button : {m_build, m_flash, m_run}) row->addWidget(button);
    row->addStretch(1);
    row->addWidget(m_create);
    for (PillButton* button : {m_build, m_flash, m_run, m_create}) button->setAutoDefault(true);
    return row;
}

void ProjectSheet::connectForm()
{
    connect(m_kind, &QTabBar::currentChanged, this, [this](int index) {
        const auto& kinds = m_project.kinds();
        if (index >= 0 && static_cast<size_t>(index) < kinds.size())
            m_project.setKind(kinds[static_cast<size_t>(index)].name);
    });
    connect(m_folder, &QLineEdit::textChanged, &m_project, &ProjectPresenter::setFolder);
    connect(m_workspacePools, &QLineEdit::textChanged, &m_project,
            &ProjectPresenter::setWorkspacePools);
    connect(m_constantPools, &QLineEdit::textChanged, &m_project,
            &ProjectPresenter::setConstantPools);
    connect(m_create, &QPushButton::clicked, &m_project, &ProjectPresenter::create);
    connect(m_build, &QPushButton::clicked, &m_project, &ProjectPresenter::build);
    connect(m_flash, &QPushButton::clicked, &m_project, &ProjectPresenter::flash);
    connect(m_run, &QPushButton::clicked, &m_project, &ProjectPresenter::run);
}

void ProjectSheet::openForm()
{
    m_project.start();
    open();
    m_folder->setFocus();
    m_folder->selectAll();
}

void ProjectSheet::refresh()
{
    const ProjectState& state = m_project.state();
    const auto& kinds = m_project.kinds();
    const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const ProjectKind& k) { return k.name == state.kind; });
    const QSignalBlocker asIs(m_kind); // nobody chose it
    m_kind->setCurrentIndex(static_cast<int>(kind - kinds.begin()));
    m_title->setText(state.kindTitle);
    showText(*m_folder, state.folder);
    showText(*m_workspacePools, state.workspacePools);
    showText(*m_constantPools, state.constantPools);
    m_command->setText(state.commandLine);
    const QString note = state.working.isEmpty() ? state.problem : state.working + tr("…");
    m_problem->setText(!state.isMade || !state.working.isEmpty() ? note : QString());
    m_problem->setVisible(!m_problem->text().isEmpty());
    if (m_log->toPlainText() != state.log) {
        m_log->setPlainText(state.log);
        m_log->verticalScrollBar()->setValue(m_log->verticalScrollBar()->maximum());
    }
    m_create->setEnabled(state.canCreate);
    for (PillButton* button : {m_build, m_flash, m_run}) button->setEnabled(state.canMake);
}

} // namespace tenon::views
