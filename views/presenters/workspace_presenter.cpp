// SPDX-License-Identifier: GPL-3.0-or-later
// Opening, compiling and measuring: jobs over the engine, new documents into the window.
#include "views/presenters/workspace_presenter.h"

#include "views/models/exact_facts.h"
#include "views/models/format.h"
#include "views/models/measured_text.h"

#include <QFileInfo>
#include <QTimer>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr int kPatienceMs = 60; ///< passes that take less are not worth a picture without them

/// Where a job leaves its result for `finished`, which runs after it on the other thread.
struct Slot
{
    DocumentPtr document;
};

core::JobRunner::Work keep(std::function<core::Result<DocumentPtr>(core::JobContext&)> work,
                           const std::shared_ptr<Slot>& slot)
{
    return [work = std::move(work), slot](core::JobContext& job) -> core::Status {
        core::Result<DocumentPtr> result = work(job);
        if (!result) return result.error();
        slot->document = *std::move(result);
        return core::kDone;
    };
}

/// Who is faster, and whether that is more than noise: the intervals of the medians tell.
QString peerTextOf(const Measurement& m)
{
    const PeerMeasurement& peer = *m.peer;
    const bool isTold = m.highUs < peer.lowUs || peer.highUs < m.lowUs;
    const QString times = QObject::tr("%1 takes %2 (%3 to %4) on the same inputs and threads")
                              .arg(peer.name, durationText(peer.medianUs), durationText(peer.lowUs),
                                   durationText(peer.highUs));
    if (!peer.difference.isEmpty())
        return times + QObject::tr("; it computes something else: %1").arg(peer.difference);
    if (!isTold) return times + QObject::tr("; the difference to Tenon is within the noise");
    return times +
           QObject::tr("; Tenon takes %1 times that").arg(m.medianUs / peer.medianUs, 0, 'f', 2);
}

} // namespace

WorkspacePresenter::WorkspacePresenter(Engine engine, unsigned threads, QObject* parent)
    : QObject(parent)
    , m_engine(std::move(engine))
    , m_issues(makeIssueModel(this))
    , m_calls(makeCallModel(this))
    , m_operators(makeOperatorModel(this))
    , m_jobs(threads)
{
    connect(&m_jobs, &JobPresenter::stateChanged, this, [this] { refresh(); });
    setTarget(m_options.target);
}

WorkspacePresenter::~WorkspacePresenter() = default;

void WorkspacePresenter::open(QString path, QString shapes) { read(path, shapes, false); }

void WorkspacePresenter::reload()
{
    if (m_document) open(m_document->path, m_options.shapes);
}

void WorkspacePresenter::read(const QString& path, const QString& shapes, bool isCompiledAfter)
{
    forgetFailure();
    const auto slot = std::make_shared<Slot>();
    const auto isShown = std::make_shared<bool>(false);
    const int opening = ++m_openings;
    BuildOptions options = m_options;
    options.shapes = shapes.trimmed();
    const auto engineOpen = m_engine.open;
    // Passes over a large model take seconds; its graph can be looked at meanwhile.
    const auto showRead = [=, this](const DocumentPtr& document) {
        if (opening != m_openings) return;
        *isShown = true;
        takeOpened(document, path, options.shapes);
    };
    const Engine::Read take = [=, this](const DocumentPtr& document) {
        m_jobs.post(
            [=, this] { QTimer::singleShot(kPatienceMs, this, [=] { showRead(document); }); });
    };
    m_jobs.start(
        QStringLiteral("model"), tr("Open %1").arg(modelName(path)),
        keep([=](core::JobContext& job) { return engineOpen(path, options, take, job); }, slot),
        [=, this](const core::Status& status) {
            if (opening == m_openings) ++m_openings;
            if (!status)
                return fail(tr("%1 could not be opened").arg(modelName(path)), status.error());
            if (*isShown)
                setDocument(slot->document, true);
            else
                takeOpened(slot->document, path, options.shapes);
            if (isCompiledAfter) compile();
        });
}

void WorkspacePresenter::takeOpened(const DocumentPtr& document, const QString& path,
                                    const QString& shapes)
{
    m_options.shapes = shapes;
    m_shapesProblem.clear();
    m_selection.select({});
    setDocument(document, false);
    emit opened(path);
}

void WorkspacePresenter::compile()
{
    if (!m_state.canBuild) return;
    forgetFailure();
    const auto slot = std::make_shared<Slot>();
    const BuildOptions options = m_options;
    const DocumentPtr document = m_document;
    const auto engineCompile = m_engine.compile;
    m_jobs.start(
        QStringLiteral("model"), tr("Compile %1").arg(document->name),
        keep([=](core::JobContext& job) { return engineCompile(document, options, job); }, slot),
        [this, slot](const core::Status& status) {
            if (!status) return fail(tr("The model could not be compiled"), status.error());
            setDocument(slot->document, true);
        });
}

void WorkspacePresenter::save(QString path)
{
    if (!m_state.canBuild) return;
    forgetFailure();
    const auto slot = std::make_shared<Slot>();
    const BuildOptions options = m_options;
    const DocumentPtr document = m_document;
    const auto engineSave = m_engine.save;
    const QString file = QFileInfo(path).fileName();
    m_jobs.start(
        QStringLiteral("model"), tr("Save %1").arg(file),
        keep([=](core::JobContext& job) { return engineSave(document, options, path, job); }, slot),
        [=, this](const core::Status& status) {
            if (!status) return fail(tr("%1 was not saved").arg(file), status.error());
            if (slot->document != m_document) setDocument(slot->document, true);
            m_jobs.tell(tr("Saved %1, %2").arg(path, byteText(QFileInfo(path).size())));
        });
}

void WorkspacePresenter::cancel() { m_jobs.cancel(); }

void WorkspacePresenter::fail(const QString& what, const core::Diagnostic& diagnostic)
{
    if (diagnostic.code == core::DiagnosticCode::Cancelled) return;
    m_failure = diagnostic;
    // In the list it stands among what the import found in the model that is open.
    m_failure->message = what.toStdString() + ": " + diagnostic.message;
    m_state.bannerTitle = what;
    m_state.bannerText = QString::fromStdString(diagnostic.message);
    const core::Location& place = diagnostic.location;
    const auto isSaid = [&](const std::string& word) {
        return word.empty() || diagnostic.message.find(word) != std::string::npos;
    };
    if (!isSaid(place.node))
        m_state.bannerText += tr(" (at node %1)").arg(QString::fromStdString(place.node));
    const QString file = QString::fromStdString(place.file);
    if (!isSaid(place.file) && file != m_state.path) m_state.bannerText += tr(" (%1)").arg(file);
    if (diagnostic.code == core::DiagnosticCode::CodegenFailure && !isSaid(place.detail))
        m_state.bannerText += tr(" (%1)").arg(QString::fromStdString(place.detail));
    refreshIssues();
    refresh();
}

void WorkspacePresenter::dismissBanner()
{
    if (m_state.bannerTitle.isEmpty()) return;
    m_state.bannerTitle.clear();
    m_state.bannerText.clear();
    m_state.bannerNode = {};
    emit stateChanged();
}

void WorkspacePresenter::forgetFailure()
{
    dismissBanner();
    if (!m_failure) return;
    m_failure.reset();
    refreshIssues();
}

void WorkspacePresenter::refreshIssues()
{
    std::vector<IssueRow> rows;
    if (m_document) rows = issueRows(*m_document);
    if (m_document && m_failure) {
        rows.insert(rows.begin(), issueRow(*m_document, *m_failure));
        m_state.bannerNode = rows.front().node;
    }
    m_state.issueCount = static_cast<int>(rows.size());
    m_issues->setRows(std::move(rows));
}

void WorkspacePresenter::setTarget(QString target)
{
    const QString text = target.trimmed();
    const TargetVerdict verdict =
        m_engine.checkTarget ? m_engine.checkTarget(text) : TargetVerdict{true, text, {}, {}};
    m_options.target = text;
    m_state.target = text;
    m_state.isTargetValid = verdict.isValid;
    m_state.targetMessage = verdict.message;
    m_state.targetExplanation = verdict.explanation;
    refresh();
}

void WorkspacePresenter::setOptions(BuildOptions options)
{
    options.target = m_options.target;
    options.shapes = m_options.shapes;
    m_options = options;
    refresh();
}

void WorkspacePresenter::setThreads(int threads)
{
    m_options.threads = std::max(0, threads);
    refresh();
}

void WorkspacePresenter::checkShapes(QString text)
{
    const core::Status read =
        m_engine.checkShapes ? m_engine.checkShapes(text) : core::Status(core::kDone);
    m_shapesProblem = read ? QString() : QString::fromStdString(read.error().message);
    refresh();
}

void WorkspacePresenter::bindShapes(QString text)
{
    checkShapes(text);
    if (!m_document || !m_shapesProblem.isEmpty() || text.trimmed() == m_options.shapes) return;
    read(m_document->path, text, m_document->isCompiled());
}

bool WorkspacePresenter::setPlanner(QString algorithm)
{
    m_options.planner = algorithm;
    if (!m_state.canBuild || !m_document || !m_document->isCompiled()) return false;
    compile();
    return true;
}

void WorkspacePresenter::setDocument(DocumentPtr document, bool isSameModel)
{
    const bool isSamePasses = isSameModel && m_document &&
                              m_document->versionCount() == document->versionCount() &&
                              m_document->target == document->target;
    const core::NodeId selected = m_document && isSameModel
                                      ? counterpart(*m_document, m_selection.node(), *document)
                                      : core::NodeId();
    m_document = std::move(document);
    m_selection.select(selected);
    refreshIssues();
    m_calls->setRows(callRows(*m_document));
    m_operators->setRows(operatorRows(*m_document));
    refresh();
    emit documentChanged(isSamePasses);
}

void WorkspacePresenter::refreshShapes()
{
    const QStringList& dims = m_document->openDims;
    m_state.shapes = m_options.shapes;
    m_state.canBindShapes = !dims.isEmpty() || !m_options.shapes.isEmpty();
    m_state.shapesExample = dims.value(0) + QStringLiteral("=1..8");
    for (qsizetype i = 1; i < dims.size(); ++i)
        m_state.shapesExample += QLatin1Char(' ') + dims[i] + QStringLiteral("=128");
    QString problem = m_shapesProblem;
    if (problem.isEmpty() && !m_options.shapes.isEmpty()) {
        // What the bindings themselves got wrong has no node; it comes first.
        const core::Diagnostic* first = nullptr;
        for (const core::Diagnostic& issue : m_document->issues)
            if (issue.severity == core::Severity::Error &&
                (!first || (issue.location.node.empty() && !first->location.node.empty())))
                first = &issue;
        if (first) problem = QString::fromStdString(first->message);
    }
    m_state.areShapesValid = problem.isEmpty();
    const QString open = openSizesText(*m_document);
    const bool isAssumed = open.isEmpty() && m_options.shapes.isEmpty() && !dims.isEmpty();
    const QString names = dims.join(QStringLiteral(", "));
    m_state.shapesText = !problem.isEmpty() ? problem
                         : !open.isEmpty()  ? tr("known at run time only: %1").arg(open)
                         : !isAssumed       ? tr("every size is known")
                         : core::hasErrors(m_document->issues) ? tr("open: %1").arg(names)
                                                               : tr("%1 is taken as 1").arg(names);
}

void WorkspacePresenter::refreshMeasurement()
{
    m_state.measurementText.clear();
    m_state.measurementDetail.clear();
    m_state.measurementMethod.clear();
    m_state.peerText.clear();
    m_state.isEmulated = false;
    m_state.callsText.clear();
    if (m_document->isCompiled())
        m_state.callsText =
            tr("%1 of %2")
                .arg(countOf(static_cast<qint64>(m_document->calls.size()), tr("call")),
                     countOf(static_cast<qint64>(m_document->kernels.size()), tr("kernel")));
    const auto& m = m_document->measurement;
    if (!m) return;
    m_state.isEmulated = m->isEmulated;
    m_state.measurementText = measuredText(*m_document);
    QStringList detail{tr("%1, %2").arg(takenText(*m), m->date), spreadText(*m)};
    if (!m->sha256.isEmpty()) detail << tr("artifact SHA-256 %1").arg(shortDigest(m->sha256));
    if (m->peer) m_state.peerText = peerTextOf(*m);
    m_state.measurementMethod = m->method;
    if (!m->sha256.isEmpty())
        m_state.measurementMethod += tr("\nSHA-256 of the artifact: %1").arg(m->sha256);
    detail << m->peak << m->hygiene;
    detail.removeAll(QString());
    m_state.measurementDetail = detail.join(QStringLiteral(" · "));
}

/// Times and code stay those of the last build until the next one; they must not be taken for
/// those of the target that is named now.
void WorkspacePresenter::refreshStale()
{
    m_state.staleText.clear();
    const bool isNamed = !m_options.target.isEmpty(); // else the board's own is taken
    const bool isOther = isNamed && !m_document->target.isEmpty() && !m_document->passes.empty() &&
                         m_document->target != m_options.target;
    const bool isOld = m_document->measurement && m_document->measurement->isOld;
    if (isOther)
        m_state.staleText = (m_document->measurement    ? tr("times and code are those of %1")
                             : m_document->isCompiled() ? tr("code is that of %1")
                                                        : tr("passes are those of %1"))
                                .arg(m_document->target);
    else if (isOld)
        m_state.staleText = tr("old: the deployment after this failed");
    if (m_document->measurement && !m_state.staleText.isEmpty())
        m_state.measurementDetail =
            m_state.staleText + QStringLiteral(" · ") + m_state.measurementDetail;
}

void WorkspacePresenter::refresh()
{
    m_state.hasDocument = m_document != nullptr;
    m_state.isBusy = m_jobs.state().isRunning;
    if (m_document) {
        m_state.title = m_document->name;
        m_state.facts = factsText(*m_document);
        m_state.exactFacts = exactFactsText(*m_document);
        m_state.modelText = modelText(*m_document);
        m_state.path = m_document->path;
        m_state.errorCount = static_cast<int>(std::count_if(
            m_document->issues.begin(), m_document->issues.end(),
            [](const core::Diagnostic& d) { return d.severity == core::Severity::Error; }));
        m_state.compileText.clear();
        if (m_document->isCompiled()) {
            m_state.compileText =
                tr("compile %1").arg(durationText(m_document->compileMs() * 1000));
            m_state.compileText += tr(" (cache %1 of %2)")
                                       .arg(m_document->cachedKernelCount())
                                       .arg(m_document->kernels.size());
        }
        refreshShapes();
        refreshMeasurement();
        refreshStale();
    }
    m_state.canBuild =
        m_state.hasDocument && !m_state.isBusy && m_state.isTargetValid && m_state.errorCount == 0;
    emit stateChanged();
}

} // namespace tenon::views
