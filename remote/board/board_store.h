// SPDX-License-Identifier: Apache-2.0
// BoardStore: the user's boards in a file of the configuration folder, shared by all programs.
#pragma once

#include "remote/board/board.h"

#include <functional>
#include <memory>

namespace tenon::remote {

/// A list as it was at one moment; the first entry is always this computer.
using BoardList = std::shared_ptr<const std::vector<Board>>;

/// Nothing is kept in memory: each call reads or replaces the file, under a lock.
class BoardStore
{
public:
    using Tell = std::function<void(const core::Diagnostic&)>;

    /// Empty: $XDG_CONFIG_HOME/tenon or ~/.config/tenon. A damaged file is renamed, a new one
    /// begins with the boards that can be read, and `tell` gets a warning that names both.
    explicit BoardStore(std::string folder = {}, Tell tell = {});

    /// Error BadText when the file is of a newer version.
    core::Result<BoardList> list() const;
    /// Error UnknownName with the nearest names.
    core::Result<Board> find(const std::string& name) const;
    /// Adds; error BadArgument when the name is taken.
    core::Result<BoardList> add(const Board& board) const;
    /// Replaces the board of this name.
    core::Result<BoardList> update(const Board& board) const;
    core::Result<BoardList> remove(const std::string& name) const;

    const std::string& folder() const { return m_folder; }
    std::string path() const { return m_folder + "/boards.json"; }
    /// Host keys the user accepted here; beside the user's own known_hosts, which is only read.
    std::string knownHostsPath() const { return m_folder + "/known_hosts"; }
    std::string historyPath() const { return m_folder + "/history.sqlite"; }

private:
    core::Result<BoardList>
    change(const std::function<core::Status(std::vector<Board>&)>& edit) const;
    std::string lockPath() const { return m_folder + "/boards.lock"; }
    core::Result<std::vector<Board>> read() const;
    core::Result<std::vector<Board>> readLocked() const;
    core::Status write(const std::vector<Board>& boards) const;

    std::string m_folder;
    Tell m_tell;
};

} // namespace tenon::remote
