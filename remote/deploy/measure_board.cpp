// SPDX-License-Identifier: Apache-2.0
// What a board must be to be measured, and what becomes of the figures.
#include "remote/deploy/measure_board.h"

#include "core/base/text.h"

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;

namespace {

core::Status checkMeasurable(const Board& board)
{
    if (board.isEmulated())
        return makeError(DiagnosticCode::BadArgument,
                         core::quoted(board.name) +
                             " is emulated, whose speed says nothing of the board that it stands "
                             "for; measure a real one");
    if (board.target.empty())
        return makeError(DiagnosticCode::BadArgument,
                         "what to compile for " + core::quoted(board.name) +
                             " for is not known; probe it with --use-proposal first");
    return core::kDone;
}

} // namespace

Result<Measured> measureBoard(Deployer& deployer, Board& board, const PhaseLimits& limits,
                              core::JobContext& job)
{
    if (const auto fine = checkMeasurable(board); !fine) return fine.error();
    const auto text = deployer.measure(limits, job);
    if (!text) return text.error();
    auto found = parseMeasured(*text);
    if (!found) return found.error();
    const auto target = measuredTarget(board.target, *found);
    const auto kept = target ? target : withFigures(board.target, "");
    if (!kept) return kept.error();
    board.target = *kept;
    if (!target) return target.error();
    return found;
}

} // namespace tenon::remote
