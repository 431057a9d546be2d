// SPDX-License-Identifier: Apache-2.0
// Measuring on a board's server and keeping the figures that do not contradict themselves.
#include "app/cli/board_measure.h"

#include "core/base/text.h"
#include "remote/deploy/measure_board.h"

namespace tenon::cli {
namespace {

using remote::Board;
using remote::BoardKind;
using remote::BoardStore;

Result<remote::Measured> measured(const MeasureRequest& options, Board& board, JobContext& job)
{
    TerminalPrompt prompt;
    remote::Deployer deployer(board, deployEnvironment(options.access, prompt));
    const remote::PhaseLimits limits{.queue = std::chrono::seconds(options.access.queueTimeoutS)};
    auto found = remote::measureBoard(deployer, board, limits, job);
    const Status closed = deployer.close();
    return found && !closed ? Result<remote::Measured>(closed.error()) : found;
}

void tellMeasured(const MeasureRequest& options, const Board& board,
                  const remote::Measured& measured)
{
    Json figures = Json::object();
    std::vector<std::vector<std::string>> rows{{"  clock_ghz", core::fixed(measured.clockGhz, 2)}};
    for (const auto& [name, value] : measured.figures) {
        figures[name] = value;
        rows.push_back({"  " + name, core::exact(value)});
    }
    if (options.common.json)
        return printJson({{"board", boardJson(board)},
                          {"clock_ghz", measured.clockGhz},
                          {"measured", std::move(figures)}});
    print(board.name + ": measured, per cycle\n" + table(rows) +
          (board.kind == BoardKind::ThisComputer
               ? "to compile with these: --target '" + board.target + "'\n"
               : "compiled for with these from now on: " + board.target + "\n"));
}

} // namespace

int measureBoard(const MeasureRequest& options, remote::Board board, JobContext& job)
{
    const BoardStore store = boardStore(options.access.config);
    const auto found = measured(options, board, job);
    if (board.kind != BoardKind::ThisComputer)
        if (const auto updated = store.update(board); !updated) return failure(updated.error());
    if (!found) return failure(found.error());
    tellMeasured(options, board, *found);
    return kSuccess;
}

} // namespace tenon::cli
