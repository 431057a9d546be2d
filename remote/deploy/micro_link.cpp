// SPDX-License-Identifier: Apache-2.0
// Programs are linked for the board and need no upload; QEMU starts with them in its flash.
#include "remote/deploy/micro_link.h"

#include "core/artifact/manifest.h"
#include "core/base/text.h"
#include "core/base/tool.h"
#include "core/target/micro_core.h"
#include "remote/board/profile.h"
#include "remote/session/emulation.h"
#include "remote/session/file_digest.h"

namespace tenon::remote {

using core::JobContext;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

class MicroLink : public BoardLink
{
public:
    explicit MicroLink(Board board)
        : m_board(std::move(board))
    {
    }
    Result<BoardFacts> probe(milliseconds, const JobContext&) override
    {
        const core::MicroCore& core = *core::microCoreOnBoard(m_board.host);
        const Result<BoardProfile> profile = findProfile(m_board.profile);
        BoardFacts facts{.machine = std::string(core.cpu), .kernel = "no operating system"};
        facts.model = profile ? profile->title : m_board.host;
        facts.cpu = core.cpu;
        facts.cpuText = core.title;
        facts.libc = "semihosting";
        facts.cores = facts.usable = 1;
        facts.ramBytes = facts.freeRamBytes = core.ramBytes;
        facts.flashBytes = core.flashBytes;
        facts.isBare = true;
        facts.settings = core::fixed(static_cast<double>(core.clockHz) / 1e6, 0) +
                         " MHz, memory without waits, no caches";
        facts.target = "c -mcpu=" + std::string(core.cpu);
        return facts;
    }
    Result<std::string> measure(milliseconds, const JobContext&) override
    {
        return core::makeError(core::DiagnosticCode::UnsupportedFeature,
                               "an emulated board has no speed to measure; its instructions are "
                               "counted");
    }
    Result<UploadedFile> upload(const std::string& path, milliseconds, const JobContext&) override
    {
        const Result<std::string> digest = fileSha256(path);
        if (!digest) return digest.error();
        return UploadedFile{.sha256 = *digest};
    }
    Result<std::unique_ptr<LocalSession>> load(const RunRequest& request, milliseconds,
                                               const JobContext& job) override
    {
        const Result<core::Manifest> manifest = core::readManifest(request.artifactPath);
        if (!manifest) return manifest.error();
        const auto target = core::parseTarget(manifest->target);
        if (!target) return target.error();
        RunRequest here = request;
        if (Status found = runHere(here, *target); !found) return found.error();
        return LocalSession::open(here, job);
    }
    Status close(bool, milliseconds) override { return core::kDone; }

private:
    Board m_board;
};

} // namespace

Result<std::unique_ptr<BoardLink>> openMicroLink(const LinkRequest& request)
{
    const core::MicroFamily& family = *core::microCoreOnBoard(request.board.host)->family;
    if (const std::string emulator(family.emulator); !core::hasTool(emulator))
        return core::makeError(core::DiagnosticCode::UnsupportedFeature,
                               "board " + core::quoted(request.board.name) + " is emulated by " +
                                   emulator + ", which is not on PATH; install " +
                                   std::string(family.emulatorPackage));
    return std::unique_ptr<BoardLink>(std::make_unique<MicroLink>(request.board));
}

} // namespace tenon::remote
