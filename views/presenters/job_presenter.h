// SPDX-License-Identifier: GPL-3.0-or-later
// JobPresenter: starts jobs, brings their ends and progress back to the Qt loop, keeps their log.
#pragma once

#include "core/jobs/job.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include <memory>

namespace tenon::views {

struct JobState
{
    QString key;
    QString title;
    QString step;
    double fraction = 0; ///< negative: unknown
    bool isRunning = false;
    bool isCancelling = false;
    bool isFailed = false;
    QString outcome; ///< last result, in one line
    QString news;    ///< what was done just now; goes by itself
};

class JobPresenter : public QObject
{
    Q_OBJECT
public:
    explicit JobPresenter(unsigned threads, QObject* parent = nullptr);
    ~JobPresenter() override;

    using Work = core::JobRunner::Work;
    using Finished = std::function<void(const core::Status&)>;

    /// Runs `work`; a newer start with the same key supersedes the older one. `finished` comes on
    /// this object's thread, never after it died.
    void start(const QString& key, const QString& title, Work work, Finished finished);
    /// As above, but without showing in state and log: for layouts and other short work.
    void startQuietly(const QString& key, Work work, Finished finished);
    void cancel();
    void cancelKey(const QString& key) { m_runner->cancel(key.toStdString()); }
    /// Runs `call` on this object's thread, unless this died meanwhile. May be called by jobs.
    void post(std::function<void()> call);

    const JobState& state() const { return m_state; }
    const QStringList& log() const { return m_log; }
    void addLog(const QString& line);
    /// Into the log, and for some seconds into the status bar.
    void tell(const QString& line);

signals:
    void stateChanged();
    void logChanged();

private:
    void report(int job, double fraction, const QString& step);
    void finish(int job, const core::Status& status);

    JobState m_state;
    int m_job = 0; ///< number of the one that is shown: an older one's end is not its end
    QStringList m_log;
    QElapsedTimer m_clock;
    QTimer m_newsTimer;
    std::unique_ptr<core::JobRunner> m_runner; ///< last: joins its threads before the rest goes
};

} // namespace tenon::views
