// SPDX-License-Identifier: Apache-2.0
// The error that the form of a layer is expected to have, times the root of the sum of the squares
// of its terms: the largest input, and weights of their root mean square.
#include "compiler/compare/expected_rounding.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/error/error_budget.h"
#include "compiler/passes/error/error_gain.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Operators that enlarge an error of what they read: by its exponential, or without bound.
bool enlargesErrors(const NodeRecord& node)
{
    return isOneOf(node, expOp, powerOp, divideOp, logOp, sqrtOp, rsqrtOp, tanOp, sinhOp, coshOp,
                   softmaxOp, logSoftmaxOp);
}

/// Without the zeros that fill up blocks of channels.
double meanRootOf(const Tensor& tensor)
{
    double squares = 0;
    int64_t count = 0;
    for (const double value : tensor.numbers()) {
        if (value == 0 || !std::isfinite(value)) continue;
        squares += value * value;
        ++count;
    }
    return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

/// The weights, which are its largest constant, and the largest magnitudes of what else it reads.
struct Reads
{
    Tensor weights;
    double data = 0;   ///< of floats that are no constants
    double factor = 1; ///< of other constants, which may be factors
};

/// Products in the sum of each of its results.
int64_t termsOf(const KernelCall& call, const NodeRecord& node)
{
    const TensorType& type = node.types[0];
    const int64_t results = std::max<int64_t>(type.bytes() / type.dtype.bytes(), 1);
    return std::max<int64_t>(call.macs / results, 1);
}

Result<Reads> readsOf(const Module& module, const NodeRecord& node, HeldValues& held,
                      const JobContext& job)
{
    Reads out;
    std::vector<Tensor> constants;
    for (const ValueRef& operand : node.operands) {
        if (!operand.node.isValid()) continue;
        const auto tensor = held.of(operand, job);
        if (!tensor) return tensor.error();
        if (module.node(operand.node).kind == NodeKind::Constant)
            constants.push_back(*tensor);
        else
            out.data = std::max(out.data, largestOf(*tensor));
    }
    const auto weights =
        std::max_element(constants.begin(), constants.end(),
                         [](const Tensor& a, const Tensor& b) { return a.size() < b.size(); });
    for (auto constant = constants.begin(); constant != constants.end(); ++constant)
        if (constant != weights) out.factor = std::max(out.factor, largestOf(*constant));
    if (weights != constants.end()) out.weights = *weights;
    return out;
}

} // namespace

ExpectedRounding::ExpectedRounding(const CompileResult& built)
    : m_built(built)
    , m_error(expectedError(built.passes))
{
}

std::optional<double> ExpectedRounding::errorOf(const KernelCall& call) const
{
    const Module& lowered = m_built.passes.last();
    const NodeRecord& node = lowered.node(call.node);
    if (!node.callee.isValid() || call.macs <= 0 || node.types.size() != 1) return std::nullopt;
    const std::vector<NodeId>& members = lowered.function(node.callee).order;
    if (std::any_of(members.begin(), members.end(),
                    [&](NodeId member) { return enlargesErrors(lowered.node(member)); }))
        return std::nullopt;
    if (!constantShape(node.types[0].shape)) return std::nullopt;
    const double reference = sumError(termsOf(call, node));
    const DataType dtype = node.types[0].dtype;
    const auto layer = errorOfCall(m_error, lowered, call.node);
    if (dtype.isFloat() && !layer) return std::nullopt;
    return std::hypot(reference, layer ? layer->own : reference);
}

std::optional<core::SumRounding> ExpectedRounding::of(const KernelCall& call, HeldValues& held,
                                                      const JobContext& job) const
{
    const auto error = errorOf(call);
    if (!error) return std::nullopt;
    const NodeRecord& node = m_built.passes.last().node(call.node);
    if (!node.types[0].dtype.isFloat()) return core::SumRounding{.share = *error, .terms = 0};
    const auto reads = readsOf(m_built.passes.last(), node, held, job);
    if (!reads || reads->weights.isNull()) return std::nullopt;
    const double root = std::sqrt(static_cast<double>(termsOf(call, node)));
    return core::SumRounding{.share = *error,
                             .terms = *error * root * reads->data * meanRootOf(reads->weights) *
                                      reads->factor};
}

} // namespace tenon::compiler
