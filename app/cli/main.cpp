// SPDX-License-Identifier: Apache-2.0
// tenon: everything the workbench shows, on the command line.
#include "app/cli/command.h"
#include "app/cli/completion.h"
#include "app/cli/examples.h"
#include "app/cli/interrupt.h"
#include "app/cli/wrong_name.h"
#include "compiler/driver/kernel_service.h"
#include "core/base/printable.h"
#include "core/base/temporary_folder.h"
#include "remote/peer/peer_program.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

namespace {

using namespace tenon;

constexpr std::array kCommands{
    cli::addInspect, cli::addPasses,  cli::addCompile, cli::addFootprint, cli::addRun,
    cli::addVerify,  cli::addCompare, cli::addBench,   cli::addQuantize,  cli::addConvert,
    cli::addPlan,    cli::addTargets, cli::addTir,     cli::addRelay,     cli::addBoard,
    cli::addDeploy,  cli::addProject, cli::addTracker, cli::addRpcServer, cli::addCompletion,
};

/// A bar on the terminal for anything over a second.
core::JobContext::ProgressHook progressBar()
{
    if (::isatty(STDERR_FILENO) == 0) return {};
    const auto start = std::chrono::steady_clock::now();
    return [start](double fraction, const std::string& text) {
        if (std::chrono::steady_clock::now() - start < std::chrono::seconds(1)) return;
        constexpr int kWidth = 30;
        const int full = static_cast<int>(fraction * kWidth);
        const std::string bar = std::string(static_cast<size_t>(full), '#') +
                                std::string(static_cast<size_t>(kWidth - full), '.');
        std::fprintf(stderr, "\r\x1b[K[%s] %3d%% %s", bar.c_str(), static_cast<int>(fraction * 100),
                     core::printable(text, core::LineBreaks::Escape).c_str());
        if (fraction >= 1) std::fprintf(stderr, "\r\x1b[K");
    };
}

/// Help and the version were asked for; what is wrong otherwise is said like every other error.
int stopped(const CLI::App& app, const CLI::ParseError& stop,
            const std::vector<std::string>& arguments)
{
    if (stop.get_exit_code() == 0) return app.exit(stop) == 0 ? cli::kSuccess : cli::kWrongUsage;
    if (!arguments.empty()) return cli::wrongUsage(cli::wrongUseText(app, arguments, stop.what()));
    std::fputs(app.help().c_str(), stderr);
    return cli::kWrongUsage;
}

int run(int argc, char** argv)
{
    CLI::App app{"tenon: inspects, compiles, runs and measures neural networks"};
    app.name("tenon");
    app.set_version_flag("--version", "tenon " TENON_VERSION);
    app.require_subcommand(1);
    cli::Action action;
    for (const auto add : kCommands) add(app, action);
    cli::addExamples(app);
    int workerSocket = -1;
    CLI::App* worker = app.add_subcommand("kernel-worker")->group("");
    worker->add_option("--fd", workerSocket)->required();
    worker->callback([&] {
        action = [&](core::JobContext&) { return compiler::runKernelWorker(workerSocket); };
    });
    if (argc > 1 && argv[1] == std::string_view("__complete")) {
        cli::print(cli::completionLines(app, {argv + 2, argv + argc}));
        return cli::kSuccess;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& stop) {
        if (stop.get_exit_code() != 0)
            if (const std::string wrong = cli::wrongNameText(app, {argv + 1, argv + argc});
                !wrong.empty())
                return cli::wrongUsage(wrong);
        return stopped(app, stop, {argv + 1, argv + argc});
    }
    core::JobContext job(std::max(1u, std::thread::hardware_concurrency()), progressBar());
    const cli::InterruptGuard interrupts(job);
    int code = cli::kFailed;
    const core::Status done = core::runGuarded(
        [&](core::JobContext& context) {
            code = action(context);
            return core::Status(core::kDone);
        },
        job);
    return done ? code : cli::failure(done.error());
}

} // namespace

int main(int argc, char** argv)
{
    if (argc > 1 && argv[1] == std::string_view(remote::kPeerCommand))
        return remote::runPeerProgram({argv + 2, argv + argc}, 3, 3);
    const bool isWorker = argc > 1 && argv[1] == std::string_view("kernel-worker");
    if (!isWorker) core::sweepTemporaryFolders(); // what programs that were killed left
    return run(argc, argv);
}
