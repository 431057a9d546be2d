// SPDX-License-Identifier: GPL-3.0-or-later
// WorkspacePresenter: the opened model, its target, and the commands that act on the whole of it.
#pragma once

#include "views/models/tables.h"
#include "views/presenters/engine.h"
#include "views/presenters/job_presenter.h"
#include "views/presenters/selection.h"

#include <QObject>

namespace tenon::views {

struct WorkspaceState
{
    bool hasDocument = false;
    QString title;
    QString facts;
    QString exactFacts; ///< in full digits, one per line
    QString modelText;  ///< producer, opset, inputs and outputs, one per line
    QString path;
    QString target;
    bool isTargetValid = true;
    QString targetMessage;
    QStringList targetExplanation;
    bool canBindShapes = false; ///< the model leaves sizes open
    QString shapes;             ///< bindings in force
    QString shapesExample;      ///< what could be written for this model
    QString shapesText;         ///< what is open still, or what is wrong with the bindings
    bool areShapesValid = true;
    bool canBuild = false; ///< compile and benchmark make sense now
    bool isBusy = false;
    QString compileText;       ///< "compile 0.31 s (cache 41 of 52)"
    QString measurementText;   ///< "12.4 ms ± 0.1, n = 40"
    QString measurementDetail; ///< interval, board, date, the machine's state
    QString measurementMethod; ///< how it was measured
    QString peerText;          ///< another engine's time beside ours; empty: none was measured
    bool isEmulated = false;   ///< what was measured is no time of silicon
    QString callsText;         ///< "36 calls of 22 kernels"
    QString staleText;         ///< what is shown was built for another target than the one named
    int issueCount = 0;
    int errorCount = 0;
    QString bannerTitle; ///< non-empty: something failed
    QString bannerText;
    core::NodeId bannerNode; ///< where it failed, if known
};

class WorkspacePresenter : public QObject
{
    Q_OBJECT
public:
    WorkspacePresenter(Engine engine, unsigned threads, QObject* parent = nullptr);
    ~WorkspacePresenter() override;

    const WorkspaceState& state() const { return m_state; }
    const DocumentPtr& document() const { return m_document; }
    Selection& selection() { return m_selection; }
    JobPresenter& jobs() { return m_jobs; }
    const Engine& engine() const { return m_engine; }
    IssueModel& issues() { return *m_issues; }
    CallModel& calls() { return *m_calls; }
    OperatorModel& operators() { return *m_operators; }
    const BuildOptions& options() const { return m_options; }

public slots:
    void open(QString path, QString shapes = {});
    void reload();
    void compile();
    /// Writes the compiled model, compiled first if it is not yet.
    void save(QString path);
    void cancel();
    /// Validates at once; takes effect on the next compile.
    void setTarget(QString target);
    /// All but target and sizes, which have their own ways; takes effect on the next compile.
    void setOptions(tenon::views::BuildOptions options);
    /// To shape the kernels for and to run with; 0: as many as the board has cores.
    void setThreads(int threads);
    /// As one types: says what is wrong with a line of bindings, and changes nothing.
    void checkShapes(QString text);
    /// Opens the model again with its sizes bound; what was compiled is compiled again.
    void bindShapes(QString text);
    /// Takes effect at once when the model is compiled already: true when a compile was started.
    bool setPlanner(QString algorithm);
    /// The same model with what was compiled or measured elsewhere.
    void takeResult(DocumentPtr document) { setDocument(document, true); }
    void dismissBanner();
    /// A new job: what went wrong in the last one is history.
    void forgetFailure();
    /// Shows an error of the window itself as that of a job.
    void report(QString what, tenon::core::Diagnostic diagnostic) { fail(what, diagnostic); }

signals:
    void stateChanged();
    /// `isSameModel`: only results were added, passes and positions are as before.
    void documentChanged(bool isSameModel);
    void opened(QString path);

private:
    void read(const QString& path, const QString& shapes, bool isCompiledAfter);
    void takeOpened(const DocumentPtr& document, const QString& path, const QString& shapes);
    void setDocument(DocumentPtr document, bool isSameModel);
    void refresh();
    void refreshShapes();
    void refreshMeasurement();
    void refreshStale();
    void fail(const QString& what, const core::Diagnostic& diagnostic);
    void refreshIssues();

    Engine m_engine;
    BuildOptions m_options;
    WorkspaceState m_state;
    DocumentPtr m_document;
    QString m_shapesProblem;                   ///< of what is being typed
    std::optional<core::Diagnostic> m_failure; ///< of the last job, listed with the issues
    int m_openings = 0; ///< counts what is opened, and what stopped being opened
    Selection m_selection;
    IssueModel* m_issues;
    CallModel* m_calls;
    OperatorModel* m_operators;
    JobPresenter m_jobs;
};

} // namespace tenon::views
