// SPDX-License-Identifier: Apache-2.0
// RunHistory: what was measured, when, and on what; one SQLite file.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace tenon::remote {

/// Of one kernel call.
struct RunCall
{
    std::string title; ///< for people
    double ms = 0;     ///< the median
};

/// One benchmark of one artifact.
struct RunRecord
{
    int64_t id = 0;        ///< given by the history
    int64_t unixTimeS = 0; ///< when it was measured
    std::string modelName;
    std::string modelHash;
    std::string target;
    std::string executor;
    std::string board; ///< "this computer", a host, ...
    std::string toolVersion;
    unsigned threads = 1;
    int optLevel = 3;
    std::string artifact;            ///< SHA-256 of what was measured; empty in old records
    std::vector<double> runsMs;      ///< the samples; everything else about time follows from them
    std::string hygiene;             ///< JSON
    std::vector<RunCall> calls = {}; ///< in execution order; empty: not measured, or an old record
};

/// Crash-safe; several processes may use one file. Errors: IoFailure.
class RunHistory
{
public:
    /// Creates the file when there is none, and when it is damaged or of another program: then it
    /// is renamed, and note() says how. Refuses newer versions.
    static core::Result<std::unique_ptr<RunHistory>> open(const std::string& path);
    /// A warning that names the file that was set aside.
    const std::optional<core::Diagnostic>& note() const { return m_note; }
    RunHistory(const RunHistory&) = delete;
    RunHistory& operator=(const RunHistory&) = delete;
    ~RunHistory();

    /// Returns the new record's id.
    core::Result<int64_t> add(const RunRecord& record);
    /// The newest `limit` records, newest first; of one model when `modelHash` is not empty.
    core::Result<std::vector<RunRecord>> recent(size_t limit, const std::string& modelHash = {});

private:
    explicit RunHistory(sqlite3* database);
    static core::Result<std::unique_ptr<RunHistory>> openOnce(const std::string& path,
                                                              bool& isDamaged);
    /// Error when there is damage; `isDamaged` tells it from a newer version or a file that cannot
    /// be read.
    core::Status checkFile(bool& isDamaged);
    core::Status execute(const std::string& sql);
    core::Status prepareFile(bool& isDamaged);
    core::Diagnostic failure(const std::string& doing) const;

    sqlite3* m_database;
    std::optional<core::Diagnostic> m_note;
};

} // namespace tenon::remote
