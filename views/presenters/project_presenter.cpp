// SPDX-License-Identifier: GPL-3.0-or-later
// The draft, its problems, and the jobs.
#include "views/presenters/project_presenter.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>
#include <memory>

namespace tenon::views {
namespace {

QString word(const QString& text)
{
    return text.contains(QLatin1Char(' ')) ? QLatin1Char('\'') + text + QLatin1Char('\'') : text;
}

/// "cortex-m" of "c -mcpu=cortex-m4"; empty where no processor is named.
QString familyOf(const QString& target)
{
    static const QRegularExpression kProcessor(QStringLiteral("-mcpu=([^\\s0-9]+)"));
    return kProcessor.match(target).captured(1);
}

} // namespace

ProjectPresenter::ProjectPresenter(WorkspacePresenter& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
{
    if (const auto& list = workspace.engine().projects.kinds) m_kinds = list();
    if (!m_kinds.empty()) m_state.kind = m_kinds.front().name;
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &ProjectPresenter::refresh);
    refresh();
}

void ProjectPresenter::start()
{
    const QString model = m_workspace.state().path;
    if (m_model != model) {
        m_model = model;
        const QFileInfo file(model);
        m_state.folder =
            file.path() + QLatin1Char('/') + file.completeBaseName() + QStringLiteral("-project");
        m_state.workspacePools = m_workspace.options().workspacePools;
        m_state.constantPools = m_workspace.options().constantPools;
        m_state.made.clear();
        m_state.log.clear();
    }
    if (!m_isKindChosen) proposeKind();
    refresh();
}

/// The first that is for such a processor as the model is compiled for.
void ProjectPresenter::proposeKind()
{
    const QString family = familyOf(m_workspace.options().target);
    const auto fits = std::find_if(m_kinds.begin(), m_kinds.end(), [&](const ProjectKind& kind) {
        return !family.isEmpty() && familyOf(kind.target) == family;
    });
    if (fits != m_kinds.end()) m_state.kind = fits->name;
}

void ProjectPresenter::setKind(QString name)
{
    m_isKindChosen = true;
    // A folder holds the project of one template.
    const auto folderOf = [this](const QString& kind) {
        return kind == m_madeKind ? m_state.made : m_state.made + QLatin1Char('-') + kind;
    };
    if (!m_state.made.isEmpty() && m_state.folder == folderOf(m_state.kind))
        m_state.folder = folderOf(name);
    m_state.kind = name;
    refresh();
}

void ProjectPresenter::setFolder(QString path)
{
    m_state.folder = path.trimmed();
    refresh();
}

void ProjectPresenter::setWorkspacePools(QString pools)
{
    m_state.workspacePools = pools.trimmed();
    refresh();
}

void ProjectPresenter::setConstantPools(QString pools)
{
    m_state.constantPools = pools.trimmed();
    refresh();
}

ProjectQuestion ProjectPresenter::question() const
{
    ProjectQuestion out{m_state.kind, m_state.folder, m_workspace.options()};
    out.options.target = m_state.target;
    out.options.workspacePools = m_state.workspacePools;
    out.options.constantPools = m_state.constantPools;
    return out;
}

void ProjectPresenter::create()
{
    if (!m_state.canCreate) return;
    const ProjectQuestion asked = question();
    m_state.working = tr("Make the project");
    m_state.made.clear();
    m_state.log.clear();
    const auto work = m_workspace.engine().projects.create;
    m_workspace.jobs().start(
        QStringLiteral("model"), m_state.working,
        [work, asked, document = m_workspace.document()](core::JobContext& job) {
            return work(document, asked, job);
        },
        [this, asked](const core::Status& status) {
            if (status) {
                m_state.made = asked.folder;
                m_madeKind = asked.kind;
            }
            finish(tr("The project was not made"),
                   tr("%1 holds the project for %2").arg(asked.folder, asked.options.target),
                   status);
        });
    refresh();
}

void ProjectPresenter::make(const QString& title, const QString& step)
{
    if (!m_state.canMake) return;
    m_state.working = title;
    const auto text = std::make_shared<QString>();
    const auto work = m_workspace.engine().projects.make;
    m_workspace.jobs().start(
        QStringLiteral("model"), title,
        [=, folder = m_state.made](core::JobContext& job) -> core::Status {
            auto said = work(folder, step, job);
            if (!said) return said.error();
            *text = *said;
            return core::kDone;
        },
        [this, title, text](const core::Status& status) {
            finish(tr("%1: it did not work").arg(title), *text, status);
        });
    refresh();
}

void ProjectPresenter::finish(const QString& title, const QString& text, const core::Status& status)
{
    m_state.working.clear();
    const bool isCancelled = !status && status.error().code == core::DiagnosticCode::Cancelled;
    const QString said = status ? text.trimmed() : QString::fromStdString(status.error().message);
    if (!said.isEmpty()) m_state.log += said + QLatin1Char('\n');
    if (!status && !isCancelled) m_workspace.report(title, status.error());
    refresh();
}

QString ProjectPresenter::problem() const
{
    if (m_state.folder.isEmpty()) return tr("name the folder to make");
    const QDir folder(m_state.folder);
    if (folder.exists() && !folder.isEmpty())
        return tr("the folder %1 holds something; name a new one").arg(m_state.folder);
    const auto& check = m_workspace.engine().checkOptions;
    if (!check) return {};
    const core::Status fine = check(question().options);
    return fine ? QString() : QString::fromStdString(fine.error().message);
}

void ProjectPresenter::refresh()
{
    const auto& engine = m_workspace.engine().projects;
    const auto kind = std::find_if(m_kinds.begin(), m_kinds.end(),
                                   [&](const ProjectKind& k) { return k.name == m_state.kind; });
    const QString chosen = m_workspace.state().target;
    const bool isOfC = engine.isOfC && engine.isOfC(chosen);
    m_state.kindTitle = kind == m_kinds.end() ? QString() : kind->title;
    m_state.target = isOfC || kind == m_kinds.end() ? chosen : kind->target;
    m_state.problem = problem();
    m_state.commandLine =
        QStringLiteral("tenon project create %1 %2 --template %3 --target '%4' %5")
            .arg(word(m_model), word(m_state.folder), m_state.kind, m_state.target,
                 commandLineOf(question().options))
            .trimmed();
    const bool isFree = m_state.working.isEmpty() && !m_workspace.state().isBusy;
    m_state.canCreate =
        isFree && m_state.problem.isEmpty() && engine.create && m_workspace.state().hasDocument;
    m_state.isMade =
        !m_state.made.isEmpty() && m_state.made == m_state.folder && m_state.kind == m_madeKind;
    m_state.canMake = isFree && m_state.isMade && engine.make;
    emit stateChanged();
}

} // namespace tenon::views
