// SPDX-License-Identifier: Apache-2.0
// The user's boards in a file of the configuration folder.
#include "remote/board/board_store.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/user_folder.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kVersion = 1;

std::string defaultFolder()
{
    const std::string settings = core::userFolder("XDG_CONFIG_HOME", ".config");
    return (settings.empty() ? "/nonexistent" : settings) + "/tenon";
}

/// Held while the file is read and replaced, so that two programs do not lose each other's boards.
class Lock
{
public:
    explicit Lock(const std::string& path)
        : m_fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600))
    {
        while (m_fd >= 0 && flock(m_fd, LOCK_EX) != 0 && errno == EINTR) {}
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock()
    {
        if (m_fd >= 0) close(m_fd);
    }
    bool isHeld() const { return m_fd >= 0; }

private:
    int m_fd;
};

Board thisComputer()
{
    return {.name = std::string(kThisComputer),
            .kind = BoardKind::ThisComputer,
            .target = "llvm -mcpu=native"};
}

Json toJson(const Board& board)
{
    Json out{{"name", board.name}, {"kind", boardKindText(board.kind)}};
    const auto put = [&](const char* key, const std::string& text) {
        if (!text.empty()) out[key] = text;
    };
    put("target", board.target);
    put("profile", board.profile);
    put("host", board.host);
    if (board.port != 0) out["port"] = board.port;
    put("user", board.user);
    put("identity_file", board.identityFile);
    put("key", board.key);
    put("folder", board.folder);
    put("summary", board.summary);
    if (board.threads != 0) out["threads"] = board.threads;
    put("project", board.project);
    put("flash", board.flash);
    if (board.baud != 0) out["baud"] = board.baud;
    if (board.flashBytes != 0) out["flash_bytes"] = board.flashBytes;
    if (board.ramBytes != 0) out["ram_bytes"] = board.ramBytes;
    return out;
}

Result<Board> fromJson(const Json& json)
{
    if (!json.is_object()) return makeError(DiagnosticCode::BadText, "a board is no object");
    try {
        const Result<BoardKind> kind = parseBoardKind(json.value("kind", ""));
        if (!kind) return kind.error();
        Board board{.name = json.value("name", ""),
                    .kind = *kind,
                    .target = json.value("target", ""),
                    .profile = json.value("profile", ""),
                    .host = json.value("host", ""),
                    .port = json.value("port", 0),
                    .user = json.value("user", ""),
                    .identityFile = json.value("identity_file", ""),
                    .key = json.value("key", ""),
                    .folder = json.value("folder", ""),
                    .summary = json.value("summary", ""),
                    .threads = json.value("threads", 0u),
                    .baud = json.value("baud", 0),
                    .project = json.value("project", ""),
                    .flash = json.value("flash", ""),
                    .flashBytes = json.value("flash_bytes", int64_t{0}),
                    .ramBytes = json.value("ram_bytes", int64_t{0})};
        if (Status checked = checkBoard(board); !checked) return checked.error();
        return board;
    } catch (const Json::exception& error) {
        return makeError(DiagnosticCode::BadText, error.what());
    }
}

struct FileContent
{
    std::vector<Board> boards{thisComputer()};
    std::string damage; ///< what is wrong with the rest of it
};

Result<FileContent> readContent(const std::string& path)
{
    FileContent out;
    if (access(path.c_str(), F_OK) != 0) return out;
    const Result<std::string> text = core::readFile(path);
    if (!text) return text.error();
    const Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object() || !json.contains("boards") || !json["boards"].is_array()) {
        out.damage = "it is no list of boards in JSON";
        return out;
    }
    const bool hasVersion = json.contains("version") && json["version"].is_number_integer();
    const int64_t version = hasVersion ? json["version"].get<int64_t>() : 0;
    if (version > kVersion)
        return makeError(DiagnosticCode::BadText,
                         "the list of boards is of a newer version of Tenon", {.file = path});
    if (version < kVersion) out.damage = "it has no version";
    for (const Json& item : json["boards"]) {
        Result<Board> board = fromJson(item);
        if (board)
            out.boards.push_back(std::move(*board));
        else
            out.damage = board.error().message;
    }
    return out;
}

/// Where it is now. Nothing that was set aside before is written over.
Result<std::string> setAside(const std::string& path)
{
    std::string aside = path + ".damaged";
    for (int i = 2; std::filesystem::exists(aside) && i < 1000; ++i)
        aside = path + ".damaged-" + std::to_string(i);
    if (std::rename(path.c_str(), aside.c_str()) == 0) return aside;
    return makeError(DiagnosticCode::IoFailure,
                     std::string("cannot rename the damaged list of boards: ") +
                         std::strerror(errno),
                     {.file = path});
}

Status makeFolder(const std::string& folder)
{
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        return makeError(DiagnosticCode::IoFailure,
                         "cannot create the configuration folder: " + failed.message(),
                         {.file = folder});
    return core::kDone;
}

auto position(std::vector<Board>& boards, const std::string& name)
{
    return std::find_if(boards.begin(), boards.end(),
                        [&](const Board& each) { return each.name == name; });
}

core::Diagnostic unknownBoard(const std::vector<Board>& boards, const std::string& name)
{
    std::vector<std::string> names;
    for (const Board& board : boards) names.push_back(board.name);
    return makeError(DiagnosticCode::UnknownName,
                     "there is no board " + core::quoted(name) + "; there are " +
                         core::join(core::nearestNames(name, names, 5), ", ") +
                         "; `tenon board add` makes another");
}

} // namespace

BoardStore::BoardStore(std::string folder, Tell tell)
    : m_folder(folder.empty() ? defaultFolder() : std::move(folder))
    , m_tell(std::move(tell))
{
}

Result<std::vector<Board>> BoardStore::read() const
{
    Result<FileContent> content = readContent(path());
    if (!content) return content.error();
    // Who cannot tell anybody leaves the file to who can.
    if (content->damage.empty() || !m_tell) return std::move(content->boards);
    const Lock lock(lockPath());
    if (!lock.isHeld())
        return makeError(DiagnosticCode::IoFailure, "cannot lock the list of boards",
                         {.file = m_folder});
    return readLocked();
}

/// Another program may have seen the damage, too: the first one has renamed the file.
Result<std::vector<Board>> BoardStore::readLocked() const
{
    Result<FileContent> content = readContent(path());
    if (!content) return content.error();
    if (content->damage.empty()) return std::move(content->boards);
    const Result<std::string> aside = setAside(path());
    if (!aside) return aside.error();
    const size_t kept = content->boards.size() - 1;
    if (kept > 0)
        if (Status written = write(content->boards); !written) return written.error();
    if (m_tell)
        m_tell(core::makeWarning(
            DiagnosticCode::BadText,
            "the list of boards is damaged: " + content->damage + "; it was renamed to " +
                core::quoted(*aside) + ", and a new one begins with " +
                (kept == 0 ? "none" : "the " + std::to_string(kept) + " that can be read"),
            {.file = path()}));
    return std::move(content->boards);
}

Status BoardStore::write(const std::vector<Board>& boards) const
{
    Json list = Json::array();
    for (const Board& board : boards)
        if (board.kind != BoardKind::ThisComputer) list.push_back(toJson(board));
    const Json file{{"version", kVersion}, {"boards", std::move(list)}};
    return core::writeFileAtomically(path(), file.dump(2) + "\n");
}

Result<BoardList> BoardStore::list() const
{
    Result<std::vector<Board>> boards = read();
    if (!boards) return boards.error();
    return std::make_shared<const std::vector<Board>>(std::move(*boards));
}

Result<Board> BoardStore::find(const std::string& name) const
{
    Result<std::vector<Board>> boards = read();
    if (!boards) return boards.error();
    const auto found = position(*boards, name);
    if (found == boards->end()) return unknownBoard(*boards, name);
    return *found;
}

Result<BoardList> BoardStore::change(const std::function<Status(std::vector<Board>&)>& edit) const
{
    if (Status made = makeFolder(m_folder); !made) return made.error();
    const Lock lock(lockPath());
    if (!lock.isHeld())
        return makeError(DiagnosticCode::IoFailure, "cannot lock the list of boards",
                         {.file = m_folder});
    Result<std::vector<Board>> boards = readLocked();
    if (!boards) return boards.error();
    if (Status edited = edit(*boards); !edited) return edited.error();
    if (Status written = write(*boards); !written) return written.error();
    return std::make_shared<const std::vector<Board>>(std::move(*boards));
}

Result<BoardList> BoardStore::add(const Board& board) const
{
    return change([&](std::vector<Board>& boards) -> Status {
        if (Status checked = checkBoard(board); !checked) return checked;
        if (position(boards, board.name) != boards.end())
            return makeError(DiagnosticCode::BadArgument,
                             "there is a board " + core::quoted(board.name) +
                                 " already; remove it first or choose another name");
        boards.push_back(board);
        return core::kDone;
    });
}

Result<BoardList> BoardStore::update(const Board& board) const
{
    return change([&](std::vector<Board>& boards) -> Status {
        if (Status checked = checkBoard(board); !checked) return checked;
        const auto found = position(boards, board.name);
        if (found == boards.end()) return unknownBoard(boards, board.name);
        *found = board;
        return core::kDone;
    });
}

Result<BoardList> BoardStore::remove(const std::string& name) const
{
    return change([&](std::vector<Board>& boards) -> Status {
        const auto found = position(boards, name);
        if (found == boards.end()) return unknownBoard(boards, name);
        if (found->kind == BoardKind::ThisComputer)
            return makeError(DiagnosticCode::BadArgument, "this computer cannot be removed");
        boards.erase(found);
        return core::kDone;
    });
}

} // namespace tenon::remote
