// SPDX-License-Identifier: Apache-2.0
// tenon board: the list of boards, what a board is, and whether it works.
#include "app/cli/board_access.h"
#include "app/cli/board_measure.h"
#include "compiler/driver/board_image.h"
#include "compiler/memory/pools.h"
#include "compiler/package/project_folder.h"
#include "core/base/program_files.h"
#include "core/base/text.h"
#include "remote/board/measured.h"
#include "remote/board/profile.h"
#include "remote/virtual/virtual_board.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <filesystem>

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;
using remote::Board;
using remote::BoardKind;
using remote::BoardStore;

struct BoardCommandOptions
{
    CommonOptions common;
    BoardOptions access;
    std::string name;
    std::string ssh;
    std::string rpc;
    std::string tracker;
    std::string key;
    std::string virtualProfile;
    std::string profile;
    std::string identity;
    std::string target;
    std::string serial;
    std::string project;
    std::string flash;
    std::string flashSize, ramSize;
    int baud = 0;
    bool listsProfiles = false;
    bool skipsProbe = false;
    bool usesProposal = false;
    bool measures = false;
};

/// "USER@HOST:PORT", "[::1]:22", "HOST"; user and port are optional.
Status readAddress(const std::string& text, Board& board)
{
    std::string rest = text;
    if (const size_t at = rest.rfind('@'); at != std::string::npos) {
        board.user = rest.substr(0, at);
        rest = rest.substr(at + 1);
    }
    std::string port;
    const bool isBracketed = rest.starts_with('[') && rest.find(']') != std::string::npos;
    const size_t colon = isBracketed ? rest.find(':', rest.find(']')) : rest.rfind(':');
    const bool isPlainV6 = !isBracketed && rest.find(':') != colon;
    if (colon != std::string::npos && !isPlainV6) {
        port = rest.substr(colon + 1);
        rest = rest.substr(0, colon);
    }
    board.host = isBracketed ? rest.substr(1, rest.find(']') - 1) : rest;
    const char* end = port.data() + port.size();
    if (!port.empty() && std::from_chars(port.data(), end, board.port).ptr != end)
        return makeError(DiagnosticCode::BadArgument,
                         core::quoted(text) + " is no address; write USER@HOST:PORT");
    return kDone;
}

int showList(const BoardCommandOptions& options)
{
    if (options.listsProfiles) {
        const auto profiles = remote::boardProfiles();
        if (!profiles) return failure(profiles.error());
        Json list = Json::array();
        std::vector<std::vector<std::string>> rows;
        for (const remote::BoardProfile& each : *profiles) {
            list.push_back({{"name", each.name},
                            {"title", each.title},
                            {"target", each.target},
                            {"system", each.system},
                            {"cores", each.cores},
                            {"ram_bytes", each.ramBytes},
                            {"flash_bytes", each.flashBytes},
                            {"emulated", !each.emulation.program.empty()}});
            rows.push_back({each.name, " " + each.title, each.target,
                            each.emulation.program.empty() ? "" : "--virtual"});
        }
        options.common.json ? printJson({{"profiles", std::move(list)}}) : print(table(rows));
        return kSuccess;
    }
    const auto boards = boardStore(options.access.config).list();
    if (!boards) return failure(boards.error());
    Json list = Json::array();
    std::vector<std::vector<std::string>> rows;
    for (const Board& board : **boards) {
        list.push_back(boardJson(board));
        rows.push_back({board.name, std::string(remote::boardKindText(board.kind)),
                        " " + board.address(), board.target.empty() ? "not probed" : board.target,
                        board.isEmulated() ? "emulated" : "", " " + board.summary});
    }
    options.common.json ? printJson({{"boards", std::move(list)}}) : print(table(rows));
    return kSuccess;
}

/// A board at the end of a line: what its project was made for is its target.
Result<Board> serialBoard(const BoardCommandOptions& options)
{
    Board board{.name = options.name,
                .kind = BoardKind::Serial,
                .target = options.target,
                .profile = options.profile,
                .host = options.serial,
                .threads = 1,
                .baud = options.baud,
                .flash = options.flash};
    std::error_code ignored;
    if (!options.project.empty())
        board.project = fs::weakly_canonical(options.project, ignored).string();
    for (const auto& [text, bytes] : {std::pair(&options.flashSize, &board.flashBytes),
                                      std::pair(&options.ramSize, &board.ramBytes)}) {
        if (text->empty()) continue;
        const auto size = compiler::parseMemorySize(*text);
        if (!size)
            return makeError(DiagnosticCode::BadArgument,
                             core::quoted(*text) + " is no size of memory; write 128KiB or 1MiB");
        *bytes = *size;
    }
    if (board.project.empty()) return board; // which checkBoard() refuses
    const auto facts = compiler::readProject(board.project);
    if (!facts) return facts.error();
    if (board.target.empty()) board.target = facts->manifest.target;
    const auto target = core::parseTarget(board.target);
    if (!target) return target.error();
    if (const auto known = compiler::boardTemplate(board.project, *target); !known)
        return known.error();
    return board;
}

Result<Board> describedBoard(const BoardCommandOptions& options, const BoardStore& store,
                             JobContext& job)
{
    if (!options.serial.empty()) return serialBoard(options);
    if (!options.virtualProfile.empty()) {
        const auto profile = remote::findProfile(options.virtualProfile);
        if (!profile) return profile.error();
        const std::string name = options.name.empty() ? profile->name : options.name;
        // Asked before the work: the name must be free.
        if (store.find(name))
            return makeError(DiagnosticCode::BadArgument,
                             "there is a board " + core::quoted(name) +
                                 " already; remove it first or give --name");
        return remote::makeVirtualBoard(name, *profile, store.folder() + "/virtual/" + name, job);
    }
    Board board{.name = options.name,
                .target = options.target,
                .profile = options.profile,
                .identityFile = options.identity,
                .key = options.key};
    board.kind = !options.ssh.empty()   ? BoardKind::Ssh
                 : !options.rpc.empty() ? BoardKind::RpcServer
                                        : BoardKind::TrackerKey;
    const std::string& address = !options.ssh.empty()   ? options.ssh
                                 : !options.rpc.empty() ? options.rpc
                                                        : options.tracker;
    if (Status read = readAddress(address, board); !read) return read.error();
    if (board.kind == BoardKind::TrackerKey && board.port == 0) board.port = 9190;
    if (board.kind == BoardKind::RpcServer && board.port == 0) board.port = 9090;
    if (board.target.empty() && !options.profile.empty()) {
        const auto profile = remote::findProfile(options.profile);
        if (!profile) return profile.error();
        board.target = profile->target;
        board.threads = profile->cores;
    }
    return board;
}

/// Connects, asks, hangs up; what was found is written into `board`.
Result<remote::BoardFacts> probeBoard(const BoardCommandOptions& options, Board& board,
                                      JobContext& job)
{
    TerminalPrompt prompt;
    remote::Deployer deployer(board, deployEnvironment(options.access, prompt));
    auto facts = deployer.probe({.queue = std::chrono::seconds(options.access.queueTimeoutS)}, job);
    if (!facts) return facts.error();
    if (const Status closed = deployer.close(); !closed) return closed.error();
    board.summary = remote::summaryLine(*facts);
    board.threads = facts->usableCores();
    const auto proposed = remote::proposedTarget(*facts);
    if (proposed && board.target.empty()) board.target = *proposed;
    return facts;
}

Json factsJson(const remote::BoardFacts& facts)
{
    const auto proposed = remote::proposedTarget(facts);
    return {{"machine", facts.machine},
            {"kernel", facts.kernel},
            {"model", facts.model},
            {"cpu", facts.cpu},
            {"features", facts.features},
            {"libc", facts.libc},
            {"cores", facts.cores},
            {"usable_cores", facts.usableCores()},
            {"ram_bytes", facts.ramBytes},
            {"free_ram_bytes", facts.freeRamBytes},
            {"free_disk_bytes", facts.freeDiskBytes},
            {"governor", facts.governor},
            {"clock_mhz", facts.clockMhz},
            {"temperature_c", facts.temperatureC},
            {"load", facts.load},
            {"sandbox", facts.sandbox},
            {"proposed_target", proposed ? *proposed : ""}};
}

void tellProbe(const BoardCommandOptions& options, const Board& board,
               const remote::BoardFacts& facts)
{
    const std::vector<remote::Check> checks = remote::probeChecklist(facts);
    if (options.common.json)
        return printJson({{"board", boardJson(board)},
                          {"facts", factsJson(facts)},
                          {"checks", checksJson(checks)}});
    const auto proposed = remote::proposedTarget(facts);
    const auto known = remote::withFigures(board.target, "");
    const std::optional<std::string> plain = known ? std::optional(*known) : std::nullopt;
    print(board.name + ": " + board.summary + (board.isEmulated() ? " (emulated)" : "") + "\n" +
          checksText(checks) + "target of the board: " +
          (board.target.empty() ? "not known; add it with --target or --profile" : board.target) +
          "\n" +
          (proposed && *proposed != plain.value_or(board.target)
               ? "proposed target:     " + *proposed + "; `tenon board probe " + board.name +
                     " --use-proposal` takes it\n"
               : ""));
}

int add(const BoardCommandOptions& options, JobContext& job)
{
    const int ways = !options.ssh.empty() + !options.rpc.empty() + !options.tracker.empty() +
                     !options.virtualProfile.empty() + !options.serial.empty();
    if (ways != 1)
        return wrongUsage(
            "say how to reach the board: one of --ssh, --rpc, --tracker, --serial, --virtual");
    if (options.name.empty() && options.virtualProfile.empty())
        return wrongUsage("give the board a name");
    const BoardStore store = boardStore(options.access.config);
    auto board = describedBoard(options, store, job);
    if (!board) return failure(board.error());
    if (const Status checked = remote::checkBoard(*board); !checked)
        return failure(checked.error());
    Result<remote::BoardFacts> facts = remote::BoardFacts{};
    if (!options.skipsProbe) facts = probeBoard(options, *board, job);
    const auto list = facts ? store.add(*board) : Result<remote::BoardList>(facts.error());
    if (!list) {
        static_cast<void>(remote::removeVirtualBoard(*board)); // it is not in any list
        return failure(list.error());
    }
    if (!options.skipsProbe)
        tellProbe(options, *board, *facts);
    else if (options.common.json)
        printJson({{"board", boardJson(*board)}});
    if (board->kind == BoardKind::Virtual && !options.common.json)
        print("a shell on it: " + remote::virtualSshCommand(*board) + "\n");
    return kSuccess;
}

int probe(const BoardCommandOptions& options, JobContext& job)
{
    const BoardStore store = boardStore(options.access.config);
    auto board = store.find(options.name);
    if (!board) return failure(board.error());
    if (options.usesProposal && board->kind == BoardKind::ThisComputer)
        return wrongUsage("`local` is always compiled for as it is; leave out --use-proposal");
    const auto facts = probeBoard(options, *board, job);
    if (!facts) return failure(facts.error());
    if (options.usesProposal) {
        auto proposed = remote::proposedTarget(*facts);
        if (!proposed) return failure(proposed.error());
        auto target = remote::withFigures(*proposed, remote::figuresOf(board->target));
        if (!target) return failure(target.error());
        board->target = std::move(*target);
    }
    if (board->kind != BoardKind::ThisComputer)
        if (const auto updated = store.update(*board); !updated) return failure(updated.error());
    if (options.measures) return measureBoard({options.access, options.common}, *board, job);
    tellProbe(options, *board, *facts);
    return kSuccess;
}

int removeBoard(const BoardCommandOptions& options)
{
    const BoardStore store = boardStore(options.access.config);
    const auto board = store.find(options.name);
    if (!board) return failure(board.error());
    const auto list = store.remove(options.name);
    if (!list) return failure(list.error());
    if (const Status removed = remote::removeVirtualBoard(*board); !removed)
        return failure(removed.error());
    if (options.common.json) printJson({{"removed", options.name}});
    return kSuccess;
}

/// The whole way with the sample model: connect to clean up.
int test(const BoardCommandOptions& options, JobContext& job)
{
    BoardJob work{.where = options.access, .common = options.common};
    work.where.board = options.name;
    int code = kSuccess;
    const remote::DeployReportPtr report =
        deployOnce(work, core::shippedFile("sample/digits/model.onnx"), job, code);
    if (!report) return code;
    if (options.common.json)
        printJson({{"board", boardJson(report->board)},
                   {"steps", stepsJson(*report)},
                   {"overhead_ms", report->overheadMs()}});
    else
        print(options.name + " works\n");
    return kSuccess;
}

using Handler = int (*)(const BoardCommandOptions&, JobContext&);

using Options = std::shared_ptr<BoardCommandOptions>;

CLI::App* addWord(CLI::App& parent, const char* word, const char* help, Handler handler,
                  const Options& options, Action& action)
{
    CLI::App* command = parent.add_subcommand(word, help);
    addOutputOptions(*command, options->common);
    addConfigOptions(*command, options->access);
    command->callback([options, handler, &action] {
        action = [options, handler](JobContext& job) { return handler(*options, job); };
    });
    return command;
}

void addWaysToReach(CLI::App& adding, const Options& options)
{
    adding.add_option("--ssh", options->ssh,
                      "a host: [USER@]HOST[:PORT] or an alias of ~/.ssh/config");
    adding.add_option("--rpc", options->rpc, "a running RPC server: HOST:PORT");
    adding.add_option("--tracker", options->tracker, "a tracker: HOST[:PORT], with --key");
    adding.add_option(
        "--serial", options->serial,
        "a microcontroller on this serial port, such as /dev/ttyACM0, with --project");
    adding.add_option("--baud", options->baud, "speed of the serial port; default: 115200");
    adding.add_option("--project", options->project,
                      "folder of a project whose server runs on that board (`tenon project create "
                      "--template baremetal-mps2`, fitted to the board); models are put into it");
    adding.add_option("--flash", options->flash,
                      "shell command that brings {image} to the board at {port}; default: the "
                      "project's `make flash-image`");
    adding.add_option("--flash-size", options->flashSize, "memory for code and weights: 1MiB");
    adding.add_option("--ram-size", options->ramSize, "memory for everything else: 128KiB");
    adding.add_option("--virtual", options->virtualProfile, "emulate a board of this profile");
    adding.add_option("--key", options->key, "key of the RPC server or tracker");
    adding.add_option("--identity", options->identity, "private key file for SSH");
}

} // namespace

void addBoard(CLI::App& app, Action& action)
{
    const auto options = std::make_shared<BoardCommandOptions>();
    CLI::App* command = app.add_subcommand("board", "boards that models run on");
    command->require_subcommand(1);
    const auto listing = [](const BoardCommandOptions& o, JobContext&) { return showList(o); };
    addWord(*command, "list", "all boards", listing, options, action)
        ->add_flag("--profiles", options->listsProfiles, "the kinds of boards Tenon knows");
    CLI::App* adding = addWord(*command, "add", "add a board and look at it", add, options, action);
    adding->add_option("NAME,--name", options->name, "what to call it");
    addWaysToReach(*adding, options);
    adding->add_option("--profile", options->profile, "take target and cores from this profile");
    adding->add_option("--target", options->target,
                       "what to compile for; default: as the probe proposes");
    adding->add_flag("--no-probe", options->skipsProbe, "do not connect now");
    addQueueOption(*adding, options->access);
    const auto addNamed = [&](const char* word, const char* help, Handler handler) {
        CLI::App* named = addWord(*command, word, help, handler, options, action);
        named->add_option("NAME", options->name, "the board")->required();
        return named;
    };
    CLI::App* probing = addNamed("probe", "say what a board is", probe);
    probing->add_flag("--use-proposal", options->usesProposal,
                      "compile for the proposed target from now on");
    probing->add_flag("--measure", options->measures,
                      "measure how fast it computes, reads and starts threads; it is compiled for "
                      "with these figures from now on");
    addQueueOption(*probing, options->access);
    addNamed("remove", "forget a board",
             [](const BoardCommandOptions& o, JobContext&) { return removeBoard(o); });
    addQueueOption(*addNamed("test", "run the sample model on a board", test), options->access);
}

} // namespace tenon::cli
