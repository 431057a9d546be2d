// SPDX-License-Identifier: Apache-2.0
// What the commands that use boards share: finding one, reaching it, deploying to it, telling of
// it.
#pragma once

#include "app/cli/command.h"
#include "app/cli/execution.h"
#include "app/cli/terminal_prompt.h"
#include "remote/board/board_store.h"
#include "remote/deploy/deployer.h"

namespace tenon::cli {

struct BoardOptions
{
    std::string board;
    std::string virtualProfile; ///< an emulated board of this kind, which may not be there yet
    std::string config;         ///< folder; empty: the user's
    std::string acceptedFingerprint;
    bool keepsFiles = false;
    bool skipsPreflight = false;
    int queueTimeoutS = 300;

    bool isElsewhere() const { return !board.empty() && board != remote::kThisComputer; }
};

/// Adds --config and --accept-host-key.
void addConfigOptions(CLI::App& command, BoardOptions& options);
/// Adds --queue-timeout.
void addQueueOption(CLI::App& command, BoardOptions& options);
/// Adds --board, --keep, --no-preflight and the above.
void addBoardOptions(CLI::App& command, BoardOptions& options);
/// How many samples were asked for, and in what time; 0: nothing was said.
struct SamplingOptions
{
    int repeat = 0;
    double budgetS = 0;
    double precisionPercent = 0;
};

/// Adds --number, --repeat, --time-budget and --precision.
void addTimingOptions(CLI::App& command, remote::TimingRequest& timing, SamplingOptions& sampling);
/// A number of samples ends with them unless a budget or precision was given, too; else the usual
/// budget and precision hold.
void applySampling(const SamplingOptions& sampling, remote::TimingRequest& timing);

/// Makes the emulated board of --virtual where there is none, and chooses it.
Status chooseVirtualBoard(BoardOptions& options, JobContext& job);

/// `prompt` outlives what is made with it.
remote::DeployEnvironment deployEnvironment(const BoardOptions& options, remote::SshPrompt& prompt);

/// Where and how to run, besides the model.
struct BoardJob
{
    BoardOptions where;
    CommonOptions common;
    std::string boardProject = {};   ///< of the board, if it is one on a serial line
    std::vector<std::string> inputs; ///< files and folders; empty: made up
    /// Data besides files, by the program's own inputs; empty: `inputs` are all.
    std::function<Result<remote::NamedTensors>(const Manifest&)> given;
    std::optional<remote::TimingRequest> timing;
    int timeoutS = 300;
    bool staysConnected = false;
};

/// A library with what preflight wants to know of it.
remote::BuiltModel builtModel(const Runnable& runnable);

/// Compiles the model (or takes the artifact) for the board and deploys it. Steps are printed as
/// they end unless JSON is wanted.
remote::DeployReportPtr deployOnBoard(remote::Deployer& deployer, const BoardJob& work,
                                      const std::string& path, JobContext& job);
/// The board of the options.
Result<remote::Board> chosenBoard(const BoardOptions& options);

/// For commands that only need the outcome: deploys, prints the error; null after one.
remote::DeployReportPtr deployOnce(const BoardJob& work, const std::string& path, JobContext& job,
                                   int& exitCode);

Json stepsJson(const remote::DeployReport& report);
Json checksJson(const std::vector<remote::Check>& checks);
Json boardJson(const remote::Board& board);
std::string checksText(const std::vector<remote::Check>& checks);

/// The boards of a configuration folder; what is wrong with the file goes to stderr.
remote::BoardStore boardStore(const std::string& folder);

/// Writes the measurement into the history; a failure is only a warning.
void remember(const remote::BoardStore& store, const remote::DeployReport& report, int optLevel);

} // namespace tenon::cli
