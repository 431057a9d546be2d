// SPDX-License-Identifier: GPL-3.0-or-later
// Drafts of options and the comparison of levels.
#include "views/presenters/options_presenter.h"

namespace tenon::views {

void PassChoiceModel::setChoices(std::vector<PassChoice> choices)
{
    beginResetModel();
    m_choices = std::move(choices);
    endResetModel();
}

void PassChoiceModel::setLevel(int level)
{
    m_level = level;
    if (!m_choices.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

void PassChoiceModel::setDisabled(const QStringList& names)
{
    m_disabled = names;
    if (!m_choices.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

int PassChoiceModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_choices.size());
}

QVariant PassChoiceModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const PassChoice& choice = m_choices[static_cast<size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole: return choice.name;
    case Qt::CheckStateRole: return m_disabled.contains(choice.name) ? Qt::Unchecked : Qt::Checked;
    case Qt::ToolTipRole:
        return tr("%1: %2 (from level %3)")
            .arg(choice.phase, choice.summary)
            .arg(choice.leastLevel);
    default: return {};
    }
}

bool PassChoiceModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::CheckStateRole || !index.isValid()) return false;
    const QString name = m_choices[static_cast<size_t>(index.row())].name;
    m_disabled.removeAll(name);
    if (value.toInt() == Qt::Unchecked) m_disabled << name;
    emit dataChanged(index, index);
    emit chosen();
    return true;
}

Qt::ItemFlags PassChoiceModel::flags(const QModelIndex& index) const
{
    if (!index.isValid()) return {};
    const bool runs = m_choices[static_cast<size_t>(index.row())].leastLevel <= m_level;
    return Qt::ItemIsSelectable | Qt::ItemIsUserCheckable | Qt::ItemNeverHasChildren |
           (runs ? Qt::ItemIsEnabled : Qt::NoItemFlags);
}

OptionsPresenter::OptionsPresenter(WorkspacePresenter& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_passes(new PassChoiceModel(this))
    , m_levels(makeLevelModel(this))
{
    connect(m_passes, &PassChoiceModel::chosen, this, [this] {
        BuildOptions draft = m_state.draft;
        draft.disabledPasses = m_passes->disabled();
        edit(draft);
    });
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &OptionsPresenter::refresh);
    connect(&workspace, &WorkspacePresenter::opened, this, [this] {
        m_levels->setRows({});
        m_state.levelsCaption.clear();
    });
    refresh();
}

std::vector<PassKey> OptionsPresenter::passKeys() const
{
    const auto& known = m_workspace.engine().passKeys;
    return known ? known() : std::vector<PassKey>();
}

QStringList OptionsPresenter::planners() const
{
    const auto& known = m_workspace.engine().planners;
    return known ? known() : QStringList(BuildOptions().planner);
}

void OptionsPresenter::start()
{
    if (m_passes->rowCount() == 0 && m_workspace.engine().passes)
        m_passes->setChoices(m_workspace.engine().passes());
    m_isThreadsValid = true;
    edit(m_workspace.options());
}

void OptionsPresenter::edit(const BuildOptions& draft)
{
    m_state.draft = draft;
    m_passes->setLevel(draft.optLevel);
    if (m_passes->disabled() != draft.disabledPasses) m_passes->setDisabled(draft.disabledPasses);
    refresh();
}

void OptionsPresenter::setOptLevel(int level)
{
    BuildOptions draft = m_state.draft;
    draft.optLevel = level;
    edit(draft);
}

void OptionsPresenter::setExecutor(QString executor)
{
    BuildOptions draft = m_state.draft;
    draft.executor = executor;
    edit(draft);
}

void OptionsPresenter::setThreads(QString text)
{
    constexpr int kMost = 1024;
    const QString word = text.trimmed();
    bool isNumber = true;
    const int threads = word.isEmpty() ? 0 : word.toInt(&isNumber);
    m_isThreadsValid = isNumber && threads >= 0 && threads <= kMost;
    BuildOptions draft = m_state.draft;
    if (m_isThreadsValid) draft.threads = threads;
    edit(draft);
}

void OptionsPresenter::setPlanner(QString planner)
{
    BuildOptions draft = m_state.draft;
    draft.planner = planner;
    edit(draft);
}

void OptionsPresenter::setWorkspacePools(QString text)
{
    BuildOptions draft = m_state.draft;
    draft.workspacePools = text.simplified().remove(QLatin1Char(' '));
    edit(draft);
}

void OptionsPresenter::setConstantPools(QString text)
{
    BuildOptions draft = m_state.draft;
    draft.constantPools = text.simplified().remove(QLatin1Char(' '));
    edit(draft);
}

void OptionsPresenter::setPassConfig(QString text)
{
    BuildOptions draft = m_state.draft;
    draft.passConfig = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    edit(draft);
}

void OptionsPresenter::reset()
{
    BuildOptions draft;
    draft.target = m_workspace.options().target;
    draft.shapes = m_workspace.options().shapes;
    m_isThreadsValid = true;
    edit(draft);
}

bool OptionsPresenter::apply()
{
    if (!m_state.problem.isEmpty()) return false;
    m_workspace.setOptions(m_state.draft);
    m_workspace.compile();
    return true;
}

void OptionsPresenter::compareLevels()
{
    if (!m_state.canCompile || !m_workspace.engine().measureLevels) return;
    const DocumentPtr document = m_workspace.document();
    const BuildOptions draft = m_state.draft;
    const auto measure = m_workspace.engine().measureLevels;
    m_levels->setRows({});
    m_state.isComparing = true;
    const QString caption = tr("%1 on this computer, for %2").arg(document->name, draft.target);
    JobPresenter& jobs = m_workspace.jobs();
    const Engine::LevelWatch watch = [this, document, &jobs](const std::vector<LevelRow>& rows) {
        jobs.post([this, document, rows] {
            if (m_workspace.document() && m_workspace.document()->path == document->path)
                m_levels->setRows(rows);
        });
    };
    jobs.start(
        QStringLiteral("model"), tr("Compare optimization levels"),
        [=](core::JobContext& job) -> core::Status {
            const auto rows = measure(document, draft, watch, job);
            return rows ? core::Status(core::kDone) : core::Status(rows.error());
        },
        [this, caption](const core::Status& status) {
            m_state.isComparing = false;
            if (status)
                m_state.levelsCaption = caption;
            else if (status.error().code != core::DiagnosticCode::Cancelled)
                m_workspace.report(tr("The levels could not be compared"), status.error());
            refresh();
        });
    refresh();
}

void OptionsPresenter::refresh()
{
    const auto& check = m_workspace.engine().checkOptions;
    const core::Status sense = check ? check(m_state.draft) : core::Status(core::kDone);
    m_state.problem = !m_isThreadsValid ? tr("threads are a number from 0 to 1024")
                      : sense           ? QString()
                                        : QString::fromStdString(sense.error().message);
    m_state.draft.target = m_workspace.options().target;
    m_state.draft.shapes = m_workspace.options().shapes;
    m_state.commandLine = commandLineOf(m_state.draft);
    m_state.isChanged = !(m_state.draft == m_workspace.options());
    m_state.canCompile = m_workspace.state().canBuild && m_state.problem.isEmpty();
    emit stateChanged();
}

} // namespace tenon::views
