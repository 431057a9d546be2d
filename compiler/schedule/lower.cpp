// SPDX-License-Identifier: Apache-2.0
// Scheduled TIR -> flat TIR.
#include "compiler/schedule/lower.h"

#include "compiler/schedule/beyond_images.h"
#include "compiler/schedule/rules.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/text.h"

namespace tenon::compiler {
namespace {

/// ONNX gives no order to the sums of layers. Those of opt level 0 that reduce a tensor (sums,
/// means, pools) stay term by term.
bool mayAddInRuns(const tir::PrimFunc& function)
{
    if (!hasOrderedSums(function)) return true;
    const std::string kind = function.attrs.string("kind", "");
    return kind.starts_with("conv") || kind.starts_with("dense") || kind == "matmul";
}

} // namespace

Result<tir::PrimFunc> lowerToLoops(const tir::PrimFunc& scheduled)
{
    if (Status valid = tir::verify(scheduled); !valid) return valid.error();
    tir::PrimFunc function = scheduled;
    const std::optional<LoopLimits> limits = limitsInPatches(function);
    function.body = placeBuffers(function.body);
    function.body = tir::simplify(lowerPowers(lowerGates(lowerBlocks(function.body))));
    function.body = compactBuffers(function.body);
    function = flattenBuffers(function);
    function.body = tir::simplify(function.body);
    function = hoistDivisions(std::move(function));
    function.body = tir::simplify(splitRests(hoistGuards(function.body)));
    function.body = tir::simplify(partitionLoops(function.body));
    function.body = tir::simplify(splitTails(function.body));
    function.body = tir::simplify(lowerVectorized(
        function.body, function.sizes.empty() ? LaneChoice::Common : LaneChoice::Own));
    if (!hasOrderedSums(function)) function.body = fuseSums(function.body);
    function = requestStreams(std::move(function));
    function = requestResults(requestRows(std::move(function)));
    if (mayAddInRuns(function)) function = addInRuns(std::move(function));
    if (limits) function = withLimits(std::move(function), *limits);
    if (Status valid = tir::verify(function); !valid) return valid.error();
    return function;
}

} // namespace tenon::compiler
