// SPDX-License-Identifier: Apache-2.0
// The user's boards in a file of the configuration folder.
#include "remote/board/board_store.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
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
    const char* configured = std::getenv("XDG_CONFIG_HOME");
    if (configured && configured[0] == '/') return std::string(configured) + "/tenon";
    const char* home = std::getenv("HOME");
    return std::string(home ? home : "/") + "/.config/tenon";
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
                    .threads = json.value("threads", 0u)};
        if (Status checked = checkBoard(board); !checked) return checked.error();
        return board;
    } catch (const Json::exception& error) {
        return makeError(DiagnosticCode::BadText, error.what());
    }
}

core::Diagnostic damaged(const std::string& path, const std::string& why)
{
    return makeError(DiagnosticCode::BadText,
                     "the list of boards is damaged: " + why + "; repair the file or move it away",
                     {.file = path});
}

Result<std::vector<Board>> readBoards(const std::string& path)
{
    std::vector<Board> boards{thisComputer()};
    if (access(path.c_str(), F_OK) != 0) return boards;
    const Result<std::string> text = core::readFile(path);
    if (!text) return text.error();
    const Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object() || !json.contains("boards") || !json["boards"].is_array())
        return damaged(path, "it is no list of boards in JSON");
    if (json.value("version", 0) != kVersion) return damaged(path, "it is of another version");
    for (const Json& item : json["boards"]) {
        Result<Board> board = fromJson(item);
        if (!board) return damaged(path, board.error().message);
        boards.push_back(std::move(*board));
    }
    return boards;
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
                         core::join(core::nearestNames(name, names, 5), ", "));
}

} // namespace

BoardStore::BoardStore(std::string folder)
    : m_folder(folder.empty() ? defaultFolder() : std::move(folder))
{
}

Result<BoardList> BoardStore::list() const
{
    Result<std::vector<Board>> boards = readBoards(path());
    if (!boards) return boards.error();
    return std::make_shared<const std::vector<Board>>(std::move(*boards));
}

Result<Board> BoardStore::find(const std::string& name) const
{
    Result<std::vector<Board>> boards = readBoards(path());
    if (!boards) return boards.error();
    const auto found = position(*boards, name);
    if (found == boards->end()) return unknownBoard(*boards, name);
    return *found;
}

Result<BoardList> BoardStore::change(const std::function<Status(std::vector<Board>&)>& edit) const
{
    if (Status made = makeFolder(m_folder); !made) return made.error();
    const Lock lock(m_folder + "/boards.lock");
    if (!lock.isHeld())
        return makeError(DiagnosticCode::IoFailure, "cannot lock the list of boards",
                         {.file = m_folder});
    Result<std::vector<Board>> boards = readBoards(path());
    if (!boards) return boards.error();
    if (Status edited = edit(*boards); !edited) return edited.error();
    Json list = Json::array();
    for (const Board& board : *boards)
        if (board.kind != BoardKind::ThisComputer) list.push_back(toJson(board));
    const Json file{{"version", kVersion}, {"boards", std::move(list)}};
    if (Status written = core::writeFileAtomically(path(), file.dump(2) + "\n"); !written)
        return written.error();
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
