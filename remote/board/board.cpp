// SPDX-License-Identifier: Apache-2.0
// A place where models run, as the user configured it.
#include "remote/board/board.h"

#include "compiler/driver/compile.h"
#include "core/base/text.h"
#include "core/target/micro_core.h"
#include "core/target/target.h"
#include "remote/micro/serial_speed.h"

#include <algorithm>
#include <array>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;

namespace {

struct KindName
{
    BoardKind kind;
    std::string_view text;
};
constexpr std::array kKinds{KindName{BoardKind::ThisComputer, "this-computer"},
                            KindName{BoardKind::Ssh, "ssh"},
                            KindName{BoardKind::RpcServer, "rpc"},
                            KindName{BoardKind::TrackerKey, "tracker"},
                            KindName{BoardKind::Virtual, "virtual"},
                            KindName{BoardKind::Micro, "micro"},
                            KindName{BoardKind::Serial, "serial"}};

bool isNameCharacter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

/// Host and user names never meet a shell; control characters and a leading `-` are refused all
/// the same, because logs and other tools see them, too.
bool isPlainText(const std::string& text)
{
    return std::none_of(
               text.begin(), text.end(),
               [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; }) &&
           !text.starts_with('-') && text.size() <= 255;
}

core::Diagnostic bad(const std::string& message)
{
    return makeError(DiagnosticCode::BadArgument, message);
}

} // namespace

std::string_view boardKindText(BoardKind kind)
{
    return std::find_if(kKinds.begin(), kKinds.end(),
                        [&](const KindName& each) { return each.kind == kind; })
        ->text;
}

Result<BoardKind> parseBoardKind(std::string_view text)
{
    for (const KindName& each : kKinds)
        if (each.text == text) return each.kind;
    return bad("there is no kind of board " + core::quoted(text));
}

std::string Board::address() const
{
    if (kind == BoardKind::ThisComputer) return "this computer";
    if (kind == BoardKind::Serial)
        return host + " at " + std::to_string(baud > 0 ? baud : kUsualBaud) + " baud";
    std::string text = user.empty() ? host : user + "@" + host;
    if (port != 0) text += ":" + std::to_string(port);
    return text;
}

namespace {

/// What a board at the end of a line needs beside a name.
Status checkSerial(const Board& board)
{
    const std::string name = "board " + core::quoted(board.name);
    if (board.project.empty())
        return bad(name + " needs a project that serves models on it; make one with `tenon project "
                          "create`, fit it to the board, and name its folder with --project");
    if (!board.project.starts_with('/'))
        return bad(name + "'s project is " + core::quoted(board.project) +
                   ", which is no full path");
    const auto target = core::parseTarget(board.target);
    if (!target) return target.error();
    const compiler::BackEnd* backEnd = compiler::findBackEnd(*target);
    if (!backEnd || !backEnd->sources)
        return bad(name + " runs C source, not code for " + core::quoted(board.target) +
                   "; write --target \"c -mcpu=cortex-m4\"");
    if (board.flashBytes < 0 || board.ramBytes < 0) return bad(name + " has less than no memory");
    return checkSerialSpeed(board.baud > 0 ? board.baud : kUsualBaud);
}

} // namespace

Status checkBoard(const Board& board)
{
    if (board.name.empty() || board.name.size() > 64 ||
        !std::all_of(board.name.begin(), board.name.end(), isNameCharacter))
        return bad("a board's name has 1 to 64 letters, digits, `-`, `_` or `.`; " +
                   core::quoted(board.name) + " does not");
    if (board.name == kThisComputer && board.kind != BoardKind::ThisComputer)
        return bad("`local` is this computer; choose another name");
    if (board.port < 0 || board.port > 65535)
        return bad(std::to_string(board.port) + " is no port; ports are 1 to 65535");
    if (board.kind != BoardKind::ThisComputer && board.host.empty())
        return bad("board " + core::quoted(board.name) + " has no host");
    if (board.kind == BoardKind::Micro && !core::microCoreOnBoard(board.host))
        return bad("board " + core::quoted(board.name) + " is emulated as " +
                   core::quoted(board.host) + ", which is no board that Tenon links programs for");
    if (board.kind == BoardKind::Serial)
        if (Status checked = checkSerial(board); !checked) return checked;
    if (!isPlainText(board.host) || !isPlainText(board.user) || !isPlainText(board.key))
        return bad("board " + core::quoted(board.name) +
                   " has blanks or control characters in its host, user or key");
    const bool needsPort =
        board.kind == BoardKind::RpcServer || board.kind == BoardKind::TrackerKey;
    if (needsPort && board.port == 0)
        return bad("board " + core::quoted(board.name) + " needs a port; write HOST:PORT");
    if (board.kind == BoardKind::TrackerKey && board.key.empty())
        return bad("board " + core::quoted(board.name) + " needs the key its tracker knows it by");
    return core::kDone;
}

} // namespace tenon::remote
