// SPDX-License-Identifier: Apache-2.0
// What was measured, when, and on what.
#include "remote/history/run_history.h"

#include "core/base/descriptor.h"
#include "core/base/text.h"
#include "core/base/written_path.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;

namespace {

constexpr int kApplicationId = 0x54656e6f; // "Teno"
constexpr int kVersion = 3;

/// From version 1 to 2, and from 2 to 3.
constexpr const char* kGrow[] = {
    "ALTER TABLE run ADD COLUMN artifact TEXT; PRAGMA user_version=2",
    "ALTER TABLE run ADD COLUMN call_titles TEXT; ALTER TABLE run ADD COLUMN calls_ms BLOB; "
    "PRAGMA user_version=3"};

constexpr const char* kColumns =
    "time, model_name, model_hash, target, executor, board, tool_version, threads, opt_level, "
    "artifact, runs_ms, hygiene, call_titles, calls_ms";

/// A prepared statement with an end of life; binds and reads in order.
class Statement
{
public:
    Statement(sqlite3* database, const std::string& sql)
    {
        sqlite3_prepare_v2(database, sql.c_str(), -1, &m_statement, nullptr);
    }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement() { sqlite3_finalize(m_statement); }

    Statement& bind(int64_t value)
    {
        sqlite3_bind_int64(m_statement, ++m_bound, value);
        return *this;
    }
    Statement& bind(const std::string& text)
    {
        sqlite3_bind_text64(m_statement, ++m_bound, text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8);
        return *this;
    }
    Statement& bind(const std::vector<double>& values)
    {
        sqlite3_bind_blob64(m_statement, ++m_bound, values.data(), values.size() * sizeof(double),
                            SQLITE_TRANSIENT);
        return *this;
    }
    int step()
    {
        m_read = 0;
        return m_statement ? sqlite3_step(m_statement) : SQLITE_ERROR;
    }

    int64_t integer() { return sqlite3_column_int64(m_statement, m_read++); }
    std::string text()
    {
        const auto* data = sqlite3_column_blob(m_statement, m_read);
        const int size = sqlite3_column_bytes(m_statement, m_read++);
        return {static_cast<const char*>(data), static_cast<size_t>(size)};
    }
    std::vector<double> doubles()
    {
        const std::string bytes = text();
        std::vector<double> values(bytes.size() / sizeof(double));
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
        return values;
    }

private:
    sqlite3_stmt* m_statement = nullptr;
    int m_bound = 0;
    int m_read = 0;
};

/// One to a line; ends of lines within a title become spaces.
std::string titlesOf(const std::vector<RunCall>& calls)
{
    std::vector<std::string> titles;
    for (const RunCall& call : calls) titles.push_back(core::replaced(call.title, "\n", " "));
    return core::join(titles, "\n");
}

std::vector<double> timesOf(const std::vector<RunCall>& calls)
{
    std::vector<double> times;
    for (const RunCall& call : calls) times.push_back(call.ms);
    return times;
}

/// Empty where titles and times do not belong together.
std::vector<RunCall> callsOf(const std::string& titles, const std::vector<double>& times)
{
    std::vector<RunCall> calls;
    if (times.empty()) return calls;
    const std::vector<std::string> lines = core::split(titles, '\n');
    if (lines.size() != times.size()) return calls;
    for (size_t i = 0; i < times.size(); ++i) calls.push_back({lines[i], times[i]});
    return calls;
}

/// The single number a query yields; -1 when it fails.
int64_t numberOf(sqlite3* database, const char* sql)
{
    Statement query(database, sql);
    return query.step() == SQLITE_ROW ? query.integer() : -1;
}

/// Held while a file is opened and, if it is damaged, renamed.
class FolderLock
{
public:
    explicit FolderLock(const std::string& path)
        : m_fd(::open(core::folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    {
        while (m_fd.get() >= 0 && flock(m_fd.get(), LOCK_EX) != 0 && errno == EINTR) {}
    }

private:
    core::Descriptor m_fd;
};

/// Where it is now. Nothing that was set aside before is written over.
Result<std::string> setAside(const std::string& path)
{
    std::string aside = path + ".damaged";
    for (int i = 2; std::filesystem::exists(aside) && i < 1000; ++i)
        aside = path + ".damaged-" + std::to_string(i);
    if (std::rename(path.c_str(), aside.c_str()) != 0)
        return makeError(DiagnosticCode::IoFailure,
                         std::string("cannot rename the damaged run history: ") +
                             std::strerror(errno),
                         {.file = path});
    // Its parts would be taken for those of the new file.
    for (const char* part : {"-wal", "-shm"})
        std::rename((path + part).c_str(), (aside + part).c_str());
    return aside;
}

} // namespace

RunHistory::RunHistory(sqlite3* database)
    : m_database(database)
{
    sqlite3_busy_timeout(m_database, 5000);
}

RunHistory::~RunHistory() { sqlite3_close(m_database); }

core::Diagnostic RunHistory::failure(const std::string& doing) const
{
    const char* file = sqlite3_db_filename(m_database, "main");
    return makeError(DiagnosticCode::IoFailure,
                     "cannot " + doing + " the run history: " + sqlite3_errmsg(m_database),
                     {.file = file ? file : ""});
}

Status RunHistory::execute(const std::string& sql)
{
    if (sqlite3_exec(m_database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK)
        return core::kDone;
    return failure("open");
}

Result<std::unique_ptr<RunHistory>> RunHistory::open(const std::string& path)
{
    // Several programs may see the same damage: one of them renames, the others find the new file.
    // Who opens waits, too, or the parts of the file that it has just made would be renamed.
    const FolderLock lock(path);
    bool isDamaged = false;
    Result<std::unique_ptr<RunHistory>> history = openOnce(path, isDamaged);
    if (history || !isDamaged) return history;
    const core::Diagnostic damage = history.error();
    const Result<std::string> aside = setAside(path);
    if (!aside) return aside.error();
    history = openOnce(path, isDamaged);
    if (!history) return history;
    (*history)->m_note = makeError(DiagnosticCode::IoFailure,
                                   damage.message + "; it was renamed to " + core::quoted(*aside) +
                                       ", and a new history begins",
                                   {.file = path});
    (*history)->m_note->severity = core::Severity::Warning;
    return history;
}

Result<std::unique_ptr<RunHistory>> RunHistory::openOnce(const std::string& path, bool& isDamaged)
{
    sqlite3* database = nullptr;
    const int status = sqlite3_open(path.c_str(), &database);
    std::unique_ptr<RunHistory> history(new RunHistory(database));
    if (status != SQLITE_OK) {
        core::Diagnostic error = history->failure("open");
        error.location.file = path;
        return error;
    }
    Status prepared = history->prepareFile(isDamaged);
    const int reason = sqlite3_errcode(database) & 0xff;
    isDamaged = isDamaged || (!prepared && (reason == SQLITE_CORRUPT || reason == SQLITE_NOTADB));
    if (!prepared) return prepared.error();
    return history;
}

Status RunHistory::checkFile(bool& isDamaged)
{
    const int64_t version = numberOf(m_database, "PRAGMA user_version");
    const bool isOurs = numberOf(m_database, "PRAGMA application_id") == kApplicationId;
    if (isOurs && version > kVersion)
        return makeError(DiagnosticCode::IoFailure, "the run history is of a newer version");
    Statement check(m_database, "PRAGMA quick_check(1)");
    const bool isWhole = check.step() == SQLITE_ROW && check.text() == "ok" &&
                         numberOf(m_database, "SELECT count(*) FROM run") >= 0;
    isDamaged = !isOurs || version < 1 || !isWhole;
    if (!isDamaged) return core::kDone;
    return makeError(DiagnosticCode::IoFailure,
                     isOurs ? "the run history is damaged" : "the file of the run history is none");
}

/// One transaction, so that two programs that start at once do not both create the table.
Status RunHistory::prepareFile(bool& isDamaged)
{
    for (const char* pragma : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"})
        if (Status done = execute(pragma); !done) return done;
    if (Status begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
    const int64_t tables = numberOf(m_database, "SELECT count(*) FROM sqlite_master");
    if (tables != 0) {
        if (Status fine = checkFile(isDamaged); !fine) return fine;
        for (int64_t version = numberOf(m_database, "PRAGMA user_version"); version < kVersion;
             ++version)
            if (Status grown = execute(kGrow[version - 1]); !grown) return grown;
    } else {
        const std::string sql =
            "PRAGMA application_id=" + std::to_string(kApplicationId) +
            "; PRAGMA user_version=" + std::to_string(kVersion) +
            "; CREATE TABLE run(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, model_name TEXT, "
            "model_hash TEXT, target TEXT, executor TEXT, board TEXT, tool_version TEXT, "
            "threads INTEGER, opt_level INTEGER, runs_ms BLOB, hygiene TEXT, artifact TEXT, "
            "call_titles TEXT, calls_ms BLOB);"
            "CREATE INDEX run_by_model ON run(model_hash, time)";
        if (Status created = execute(sql); !created) return created;
    }
    return execute("COMMIT");
}

Result<int64_t> RunHistory::add(const RunRecord& record)
{
    Statement insert(m_database, std::string("INSERT INTO run(") + kColumns +
                                     ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    insert.bind(record.unixTimeS)
        .bind(record.modelName)
        .bind(record.modelHash)
        .bind(record.target)
        .bind(record.executor)
        .bind(record.board)
        .bind(record.toolVersion)
        .bind(static_cast<int64_t>(record.threads))
        .bind(static_cast<int64_t>(record.optLevel))
        .bind(record.artifact)
        .bind(record.runsMs)
        .bind(record.hygiene)
        .bind(titlesOf(record.calls))
        .bind(timesOf(record.calls));
    if (insert.step() != SQLITE_DONE) return failure("write");
    return sqlite3_last_insert_rowid(m_database);
}

Result<std::vector<RunRecord>> RunHistory::recent(size_t limit, const std::string& modelHash)
{
    Statement query(m_database, std::string("SELECT id, ") + kColumns +
                                    " FROM run WHERE ?1 = '' OR model_hash = ?1 "
                                    "ORDER BY time DESC, id DESC LIMIT ?2");
    query.bind(modelHash).bind(static_cast<int64_t>(limit));
    std::vector<RunRecord> records;
    int status = SQLITE_DONE;
    while ((status = query.step()) == SQLITE_ROW) {
        RunRecord record;
        record.id = query.integer();
        record.unixTimeS = query.integer();
        record.modelName = query.text();
        record.modelHash = query.text();
        record.target = query.text();
        record.executor = query.text();
        record.board = query.text();
        record.toolVersion = query.text();
        record.threads = static_cast<unsigned>(query.integer());
        record.optLevel = static_cast<int>(query.integer());
        record.artifact = query.text();
        record.runsMs = query.doubles();
        record.hygiene = query.text();
        const std::string titles = query.text();
        record.calls = callsOf(titles, query.doubles());
        records.push_back(std::move(record));
    }
    if (status != SQLITE_DONE) return failure("read");
    return records;
}

} // namespace tenon::remote
