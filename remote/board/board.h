// SPDX-License-Identifier: Apache-2.0
// Board: a place where models run, as the user configured it.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::remote {

enum class BoardKind : uint8_t
{
    ThisComputer,
    Ssh,
    RpcServer,
    TrackerKey,
    Virtual, ///< emulated on this computer, reached over SSH like a real one
    Micro,   ///< without an operating system, emulated on this computer; `host` is QEMU's name
    Serial   ///< without an operating system, at the end of a serial line; `host` is the port
};

/// "this-computer", "ssh", "rpc", "tracker", "virtual", "micro", "serial": what the configuration
/// file says.
std::string_view boardKindText(BoardKind kind);
core::Result<BoardKind> parseBoardKind(std::string_view text);

struct Board
{
    std::string name;
    BoardKind kind = BoardKind::ThisComputer;
    std::string target;       ///< what to compile for; empty: not known before a probe
    std::string profile;      ///< name of its BoardProfile, or empty
    std::string host;         ///< name, address or alias of the user's ssh configuration
    int port = 0;             ///< 0: the usual one of its kind
    std::string user;         ///< SSH; empty: as the ssh configuration says, or this user
    std::string identityFile; ///< SSH; empty: agent and usual keys
    std::string key;          ///< of RPC servers and trackers
    std::string folder;       ///< virtual boards: where the emulated system lives here
    std::string summary;      ///< what the last probe found, one line
    unsigned threads = 0;     ///< to run with; 0: not known
    int baud = 0;             ///< serial boards; 0: kUsualBaud
    std::string project;      ///< serial boards: folder of the project that serves models there
    std::string flash;        ///< command that brings {image} to the board at {port}; empty: the
                              ///< project's `make flash-image`
    int64_t flashBytes = 0;   ///< serial boards; 0: as the profile says
    int64_t ramBytes = 0;

    /// Times of an emulated processor say nothing about silicon and are labelled so.
    bool isEmulated() const { return kind == BoardKind::Virtual || kind == BoardKind::Micro; }
    bool isReachedBySsh() const { return kind == BoardKind::Ssh || kind == BoardKind::Virtual; }
    /// "pi@raspberry:22", "192.168.1.7:9090", ... for lists and messages.
    std::string address() const;
};

inline constexpr int kUsualBaud = 115200;

/// The name every list starts with.
inline constexpr std::string_view kThisComputer = "local";

/// What is wrong with a board as entered: an impossible name, port or address. BadArgument.
core::Status checkBoard(const Board& board);

} // namespace tenon::remote
