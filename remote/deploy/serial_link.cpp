// SPDX-License-Identifier: Apache-2.0
// Serial boards: what is there, flashing, sessions.
#include "remote/deploy/serial_link.h"

#include "compiler/driver/board_image.h"
#include "core/base/text.h"
#include "core/target/micro_core.h"
#include "remote/board/profile.h"
#include "remote/micro/board_words.h"
#include "remote/micro/micro_session.h"
#include "remote/session/file_digest.h"
#include "remote/ssh/shell_word.h"
#include "remote/virtual/run_program.h"

#include <unistd.h>

#include <filesystem>
#include <thread>

namespace tenon::remote {

using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kGlance{1500}; ///< for who may not be there
/// A port of USB goes and comes back when its board starts anew.
constexpr milliseconds kReturn{5000}, kStep{50};

/// "Cortex-M4".
std::string coreText(const std::string& cpu)
{
    const size_t m = cpu.find("-m");
    if (!cpu.starts_with("cortex") || m == std::string::npos) return cpu;
    return "Cortex-M" + cpu.substr(m + 2);
}

class SerialLink : public BoardLink
{
public:
    explicit SerialLink(Board board)
        : m_board(std::move(board))
    {
    }

    Result<BoardFacts> probe(milliseconds timeout, const JobContext& job) override
    {
        BoardFacts facts = expected();
        auto line = openLine();
        // Some ports are there only while their board runs, which flashing sees to.
        const bool isAbsent = access(m_board.host.c_str(), F_OK) != 0;
        if (!line && !isAbsent) return line.error();
        if (!line) {
            facts.answer = line.error().message;
            return facts;
        }
        const Patience patience{std::min(timeout, kGlance), &job};
        const auto seen = look(std::move(*line), patience);
        if (!seen) {
            if (seen.error().code == DiagnosticCode::Cancelled) return seen.error();
            facts.answer = seen.error().message;
            return facts;
        }
        if (const std::string cpu = coreOf(*seen); !cpu.empty()) {
            facts.cpu = cpu;
            facts.cpuText = coreText(cpu);
        }
        facts.settings = settingsOf(*seen);
        return facts;
    }

    Result<std::string> measure(milliseconds, const JobContext&) override
    {
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "Tenon has no speeds to measure of boards without an operating system");
    }

    Result<UploadedFile> upload(const std::string& path, milliseconds timeout,
                                const JobContext& job) override
    {
        const Result<std::string> digest = fileSha256(path);
        if (!digest) return digest.error();
        const auto image = compiler::imageName(path);
        if (!image) return image.error();
        if (image->empty())
            return makeError(DiagnosticCode::BadArtifact,
                             "this is no image of the board's server; a board on a serial line "
                             "takes models, which its project makes into images",
                             {.file = path});
        std::error_code ignored;
        const auto size = static_cast<int64_t>(std::filesystem::file_size(path, ignored));
        UploadedFile out{.sha256 = *digest};
        if (hasImage(*image, job)) {
            out.reusedBytes = size;
            return out;
        }
        if (Status go = job.checkStop(); !go) return go.error();
        const Status flashed = runProgram({"sh", "-c", flashCommand(m_board, path)}, job, timeout);
        if (!flashed) return flashError(flashed.error());
        out.sentBytes = size;
        return out;
    }

    Result<std::unique_ptr<LocalSession>> load(const RunRequest& request, milliseconds,
                                               const JobContext& job) override
    {
        auto line = reopenLine(job);
        if (!line) return line.error();
        return MicroSession::open(std::move(*line), request, job);
    }

    Status close(bool, milliseconds) override { return core::kDone; }
    std::string leftovers(LinkEnd) const override
    {
        return "the board keeps the image it was flashed with";
    }

private:
    /// What the board was described as.
    BoardFacts expected() const
    {
        BoardFacts facts{.machine = "microcontroller", .kernel = "no operating system"};
        const auto target = core::parseTarget(m_board.target);
        facts.cpu = target ? target->mcpu : std::string();
        facts.cpuText = coreText(facts.cpu);
        facts.model = "serial board";
        if (const auto profile = findProfile(m_board.profile)) facts.model = profile->title;
        facts.libc = m_board.address();
        facts.cores = facts.usable = 1;
        facts.flashBytes = m_board.flashBytes;
        facts.ramBytes = facts.freeRamBytes = m_board.ramBytes;
        facts.target = m_board.target;
        facts.isBare = true;
        return facts;
    }

    Result<std::unique_ptr<MicroLine>> openLine() const
    {
        return openSerialLine(m_board.host, m_board.baud > 0 ? m_board.baud : kUsualBaud);
    }

    Result<std::unique_ptr<MicroLine>> reopenLine(const JobContext& job) const
    {
        const auto end = std::chrono::steady_clock::now() + kReturn;
        for (;;) {
            auto line = openLine();
            if (line || std::chrono::steady_clock::now() > end) return line;
            if (Status go = job.checkStop(); !go) return go.error();
            std::this_thread::sleep_for(kStep);
        }
    }

    /// Asks whoever serves at the other end what runs there.
    static Result<MicroBoard> look(std::unique_ptr<MicroLine> line, const Patience& patience)
    {
        MicroExchange exchange(std::move(line));
        if (Status started = exchange.start(patience); !started) return started.error();
        auto carrier = std::make_unique<MicroCarrier>(exchange);
        const auto session = RpcSession::over(std::move(carrier), patience);
        return describedBoard(*session);
    }

    bool hasImage(const std::string& image, const JobContext& job) const
    {
        auto line = openLine();
        if (!line) return false;
        const auto seen = look(std::move(*line), {kGlance, &job});
        return seen && seen->image == image;
    }

    core::Diagnostic flashError(core::Diagnostic error) const
    {
        if (error.code == DiagnosticCode::IoFailure)
            error.message = "flashing failed: " + error.message + "; the command is " +
                            core::quoted(flashCommand(m_board, "IMAGE"));
        return error;
    }

    Board m_board;
};

} // namespace

std::string flashCommand(const Board& board, const std::string& image)
{
    std::string command = board.flash;
    if (command.empty())
        command = "make -s -C " + shellQuoted(board.project) +
                  " flash-image IMAGE={image} PORT={port} >/dev/null";
    command = core::replaced(command, "{image}", shellQuoted(image));
    return core::replaced(command, "{port}", shellQuoted(board.host));
}

Result<std::unique_ptr<BoardLink>> openSerialLink(const LinkRequest& request)
{
    Board board = request.board;
    if (const auto profile = findProfile(board.profile)) {
        if (board.flashBytes == 0) board.flashBytes = profile->flashBytes;
        if (board.ramBytes == 0) board.ramBytes = profile->ramBytes;
    }
    return std::unique_ptr<BoardLink>(std::make_unique<SerialLink>(std::move(board)));
}

} // namespace tenon::remote
