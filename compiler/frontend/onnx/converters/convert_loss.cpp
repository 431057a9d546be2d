// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

/// The loss of log-probabilities [N, C, d..] against the classes of input 1, written to output 0.
void lossOf(OnnxNode& node, ValueRef logProbability)
{
    Formula f(node);
    const std::string reduction = node.string("reduction", "mean");
    if (reduction != "none" && reduction != "sum" && reduction != "mean") {
        node.fail(DiagnosticCode::BadAttribute, "reduction is " + quoted(reduction), "reduction");
        return;
    }
    if (f.rank(logProbability) < 2 && !node.hasFailed()) {
        node.fail(DiagnosticCode::ShapeMismatch, "the input needs a class axis");
        return;
    }
    ValueRef target = f.cast(node.input(1), kInt64);
    ValueRef isCounted;
    if (node.hasAttr("ignore_index")) {
        const auto ignored = static_cast<double>(node.integer("ignore_index", 0));
        isCounted = f.compare("not_equal", target, ignored);
        target = f.where(isCounted, target, f.number(0, target));
    }
    const ValueRef chosen = f.squeeze(
        f.call("gather", {logProbability, f.expand(target, 1)}, {{"axis", int64_t{1}}}), {1});
    // Without weights every sample that counts weighs 1.
    ValueRef weights;
    if (node.has(2)) weights = f.take(node.input(2), target, 0);
    ValueRef loss = f.apply("negative", chosen);
    if (weights.node.isValid()) loss = f.multiply(loss, weights);
    if (isCounted.node.isValid()) {
        const ValueRef one = f.number(1, chosen), zero = f.number(0, chosen);
        loss = f.where(isCounted, loss, zero);
        weights = f.where(isCounted, weights.node.isValid() ? weights : one, zero);
    }
    if (reduction == "none") {
        node.output(0, loss);
        return;
    }
    const std::vector<int64_t> all = counted(0, f.rank(loss));
    if (reduction == "mean" && !weights.node.isValid()) {
        node.output(0, f.reduce("mean", loss, all, Formula::Keep::No));
        return;
    }
    const ValueRef sum = f.reduce("sum", loss, all, Formula::Keep::No);
    node.output(0, reduction == "sum"
                       ? sum
                       : f.divide(sum, f.reduce("sum", weights, all, Formula::Keep::No)));
}

} // namespace

void convertNegativeLogLikelihoodLoss(OnnxNode& node) { lossOf(node, node.input(0)); }

void convertSoftmaxCrossEntropyLoss(OnnxNode& node)
{
    const ValueRef logProbability =
        node.emit("nn.log_softmax", {node.input(0)}, {{"axis", int64_t{1}}});
    lossOf(node, logProbability);
    node.output(1, logProbability);
}

} // namespace tenon::compiler
