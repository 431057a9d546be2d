// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs of the window: state, log, queued calls back into the Qt loop.
#include "views/presenters/job_presenter.h"

#include "views/models/format.h"

#include <QPointer>
#include <QTime>

namespace tenon::views {

namespace {

constexpr int kLongestLog = 2000;
constexpr int kNewsMs = 8000;

} // namespace

JobPresenter::JobPresenter(unsigned threads, QObject* parent)
    : QObject(parent)
    , m_runner(std::make_unique<core::JobRunner>(
          [this](std::function<void()> call) { post(std::move(call)); }, threads))
{
    m_newsTimer.setSingleShot(true);
    m_newsTimer.setInterval(kNewsMs);
    connect(&m_newsTimer, &QTimer::timeout, this, [this] {
        m_state.news.clear();
        emit stateChanged();
    });
}

JobPresenter::~JobPresenter() = default;

void JobPresenter::post(std::function<void()> call)
{
    // Queued to this object: calls that are still queued when it dies are dropped by Qt.
    QMetaObject::invokeMethod(this, std::move(call), Qt::QueuedConnection);
}

void JobPresenter::start(const QString& key, const QString& title, Work work, Finished finished)
{
    m_state = {key, title, {}, 0, true, false, false, {}, {}};
    const int job = ++m_job;
    m_clock.start();
    addLog(title);
    emit stateChanged();
    m_runner->start(
        key.toStdString(), std::move(work),
        [this, job, finished = std::move(finished)](const core::Status& status) {
            finish(job, status);
            finished(status);
        },
        [this, job](double fraction, const std::string& text) {
            const QString step = QString::fromStdString(text);
            QMetaObject::invokeMethod(
                this, [this, job, fraction, step] { report(job, fraction, step); },
                Qt::QueuedConnection);
        });
}

void JobPresenter::startQuietly(const QString& key, Work work, Finished finished)
{
    m_runner->start(key.toStdString(), std::move(work), std::move(finished));
}

void JobPresenter::cancel()
{
    if (!m_state.isRunning) return;
    m_state.isCancelling = true;
    m_state.step = tr("stopping");
    emit stateChanged();
    m_runner->cancel(m_state.key.toStdString());
}

void JobPresenter::report(int job, double fraction, const QString& step)
{
    if (job != m_job || !m_state.isRunning || m_state.isCancelling) return;
    if (step != m_state.step && !step.isEmpty()) addLog(QStringLiteral("  ") + step);
    m_state.fraction = fraction;
    m_state.step = step;
    emit stateChanged();
}

void JobPresenter::finish(int job, const core::Status& status)
{
    if (job != m_job || !m_state.isRunning) return;
    m_state.isRunning = m_state.isCancelling = false;
    const QString took = durationText(static_cast<double>(m_clock.nsecsElapsed()) / 1000);
    if (status) {
        m_state.outcome = m_state.title + tr(" · done in ") + took;
    } else if (status.error().code == core::DiagnosticCode::Cancelled) {
        m_state.outcome = m_state.title + tr(" · cancelled after ") + took;
    } else {
        m_state.isFailed = true;
        m_state.outcome = m_state.title + tr(" · failed");
        addLog(QString::fromStdString(status.error().text()));
    }
    addLog(m_state.outcome);
    emit stateChanged();
}

void JobPresenter::addLog(const QString& line)
{
    m_log << QTime::currentTime().toString(QStringLiteral("HH:mm:ss  ")) + line;
    if (m_log.size() > kLongestLog) m_log.removeFirst();
    emit logChanged();
}

void JobPresenter::tell(const QString& line)
{
    addLog(line);
    m_state.news = line;
    m_newsTimer.start();
    emit stateChanged();
}

} // namespace tenon::views
