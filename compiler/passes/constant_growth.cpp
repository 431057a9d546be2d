// SPDX-License-Identifier: Apache-2.0
// Adds up bytes of constants, and of results that depend on constants only, function by function.
#include "compiler/passes/constant_growth.h"

#include "compiler/passes/control.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "core/base/text.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::compiler {
namespace {

/// A model may compute masks and tables from a few numbers: 8192 x 8192 floats.
constexpr int64_t kMostBytes = int64_t{256} << 20;
constexpr int64_t kMostGrowth = 64;
/// What folding adds beside a multiple of the constants (transformed filters take four times the
/// bytes, and pass through several forms).
constexpr int64_t kFoldedBytes = int64_t{64} << 20;
constexpr int64_t kFoldedGrowth = 16;

/// 0 where a size is open.
double resultBytes(const NodeRecord& node)
{
    double bytes = 0;
    for (const TensorType& type : node.types) {
        double one = static_cast<double>(type.dtype.bytes());
        for (const Dim& dim : type.shape)
            one *= dim.isConst() ? static_cast<double>(dim.value()) : 0;
        bytes += one;
    }
    return bytes;
}

bool dependsOnConstantsOnly(const NodeRecord& node, const std::unordered_set<NodeId>& constants)
{
    return node.kind == NodeKind::Op && !isControl(node) &&
           std::all_of(node.operands.begin(), node.operands.end(), [&](ValueRef operand) {
               return !operand.node.isValid() || constants.count(operand.node) > 0;
           });
}

} // namespace

int64_t constantBytes(const Module& module)
{
    int64_t bytes = 0;
    std::unordered_set<const Tensor*> seen;
    for (const auto& [id, function] : module.functions())
        for (const NodeId node : function->order)
            if (const auto& constant = module.node(node).constant;
                constant && seen.insert(constant.get()).second)
                bytes += static_cast<int64_t>(constant->bytes().size());
    return bytes;
}

bool growsLittle(int64_t bytes, int64_t from)
{
    constexpr int64_t kAnyway = int64_t{1} << 20;
    constexpr int64_t kTimes = 4;
    return bytes <= kAnyway || bytes <= kTimes * from;
}

int64_t foldedBytesAllowed(int64_t constantBytes)
{
    return kFoldedBytes + kFoldedGrowth * constantBytes;
}

Status checkConstantGrowth(const Module& module)
{
    const double allowed =
        static_cast<double>(std::max(kMostBytes, kMostGrowth * constantBytes(module)));
    double total = 0;
    for (const GraphFunction* function : openFunctions(module)) {
        std::unordered_set<NodeId> constants;
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            if (node.kind != NodeKind::Constant && !dependsOnConstantsOnly(node, constants))
                continue;
            constants.insert(id);
            if (node.kind == NodeKind::Constant) continue;
            total += resultBytes(node);
            if (total <= allowed) continue;
            Location location;
            location.node = nodeLabel(module, node);
            location.op = node.op;
            return makeError(DiagnosticCode::OutOfMemory,
                             "what the model computes from constants alone takes " +
                                 bytesText(static_cast<uint64_t>(std::min(total, 9e18))) +
                                 " up to here, but its constants have " +
                                 bytesText(static_cast<uint64_t>(constantBytes(module))) +
                                 "; at most " + bytesText(static_cast<uint64_t>(allowed)) +
                                 " are computed",
                             location);
        }
    }
    return kDone;
}

} // namespace tenon::compiler
