// SPDX-License-Identifier: Apache-2.0
// Sends bytes to a file of the host.
#include "remote/ssh/push_file.h"

#include "core/base/board_code.h"
#include "core/base/text.h"

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Status;

namespace {

std::string octal(int mode)
{
    std::string out;
    for (; mode > 0; mode /= 8) out.insert(out.begin(), static_cast<char>('0' + mode % 8));
    return out;
}

/// Whatever fails, also a link that dies in between (`cat` then ends early and the digest differs),
/// the half-written file goes, and its folders when nothing else is in them.
std::string script(const std::string& path, const std::string& sha256, int mode)
{
    return "umask 077; f=" + shellQuoted(path) + "; trap 'rm -f \"$f.part\"' HUP INT TERM; " +
           "cat > \"$f.part\" && { h=$(sha256sum < \"$f.part\") && test \"${h%% *}\" = " + sha256 +
           "; } && chmod " + octal(mode) + " \"$f.part\" && mv -f \"$f.part\" \"$f\" || " +
           "{ s=$?; rm -f \"$f.part\"; rmdir \"${f%/*}\" \"${f%/*/*}\" 2>/dev/null; exit $s; }";
}

} // namespace

std::string shellQuoted(const std::string& text)
{
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out + "'";
}

Status pushFile(SshSession& session, const std::string& path, std::span<const std::byte> bytes,
                const std::string& sha256, int mode, std::chrono::milliseconds timeout,
                const core::JobContext& job)
{
    const core::Result<SshExit> exit = session.run(script(path, sha256, mode), bytes, timeout, job);
    if (!exit) return exit.error();
    if (exit->status == 0) return core::kDone;
    const std::string said(core::trimmed(exit->errors));
    if (said.find("No space left") != std::string::npos || said.find("quota") != std::string::npos)
        return makeError(BoardCode::DiskFull, "the disk of " + core::quoted(session.peer()) +
                                                  " is full: " + core::bytesText(bytes.size()) +
                                                  " do not fit; free some space there");
    return makeError(DiagnosticCode::BoardFailure,
                     "writing " + core::quoted(path) + " on " + core::quoted(session.peer()) +
                         " failed: " + (said.empty() ? "the content arrived damaged" : said));
}

} // namespace tenon::remote
