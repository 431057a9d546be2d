// SPDX-License-Identifier: Apache-2.0
// FakeQuantizationToInteger: what stands between dequantization and quantization computes with the
// integers. Dequantization first moves behind operators that only move values. Needs types; stands
// before folding, which would turn quantized weights into floats. Results differ from the real
// arithmetic by at most one step, where a value lies within rounding error of a half.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/quantize/quantization_rules.h"

namespace tenon::compiler {
namespace {

constexpr QuantizeRule kRules[] = {requantize,   quantizeLayer,  quantizeBinary, quantizeMean,
                                   quantizePool, quantizeConcat, quantizeSlopes, quantizeByTable};

/// Moves values without computing: integers move alike.
bool movesValues(const NodeRecord& node)
{
    if (factsOf(node).choosesValues || isOneOf(node, maxOp, minOp, stackFramesOp)) return true;
    if (isOp(node, resize2dOp)) return node.attrs.string("method", "linear") == "nearest";
    return isOp(node, padOp) &&
           (node.attrs.string("pad_mode", "constant") != "constant" ||
            (node.operands.size() == 1 && node.attrs.number("pad_value", 0) == 0));
}

/// Where the axis of several scales stands behind the operator; nothing when it goes away.
std::optional<int64_t> movedAxis(const QuantizationSite& site, const NodeRecord& node,
                                 const Quantized& data)
{
    if (data.isPerTensor()) return 0;
    if (isOp(node, transposeOp)) {
        const size_t rank = site.module.type(data.integers).shape.size();
        std::vector<int64_t> axes = node.attrs.integers("axes", {});
        if (axes.empty())
            for (size_t i = rank; i-- > 0;) axes.push_back(static_cast<int64_t>(i));
        for (size_t i = 0; i < axes.size(); ++i)
            if (normalizedAxis(axes[i], rank) == data.axis) return static_cast<int64_t>(i);
    }
    if (isOp(node, expandDimsOp)) {
        const size_t rank = node.types.at(0).shape.size();
        const int64_t at = normalizedAxis(node.attrs.integer("axis", 0), rank);
        return data.axis < at ? data.axis : data.axis + node.attrs.integer("num_newaxis", 1);
    }
    return std::nullopt;
}

/// A limit inside of a longer function of one 8-bit tensor, which becomes a table as a whole or two
/// slopes: softplus has one beside an exponential, PReLU beside a product.
bool isPartOfFunction(const QuantizationSite& site, const NodeRecord& node)
{
    NodeId at = node.id;
    for (size_t step = 0; step < kLongestFunction; ++step) {
        const std::span<const NodeId> users = site.uses.users(at);
        if (users.size() != 1 || site.uses.isResult(at)) return false;
        const NodeRecord& next = site.module.node(users[0]);
        if (isOp(next, qnnQuantizeOp)) {
            const auto target = readQuantize(site, next);
            return step > 0 && target &&
                   (quantizeSlopes(site, *target) || quantizeByTable(site, *target));
        }
        const OpDef* op = next.kind == NodeKind::Op ? findOp(next.op) : nullptr;
        if (!op || op->pattern > Pattern::Broadcast) return false;
        at = next.id;
    }
    return false;
}

/// move(dequantize(x)) = dequantize(move(x)).
std::optional<Patch> moveFirst(const QuantizationSite& site, const NodeRecord& node)
{
    if (node.kind != NodeKind::Op || node.operands.empty() || node.types.size() != 1 ||
        !node.operands[0].node.isValid())
        return std::nullopt;
    const bool isRelu = isOp(node, reluOp);
    if (!isRelu && !movesValues(node)) return std::nullopt;
    const auto data = readDequantized(site, node.operands[0]);
    if (!data || (data->dtype != kInt8 && data->dtype != kUInt8)) return std::nullopt;
    if (isRelu && (!data->isPerTensor() || isPartOfFunction(site, node))) return std::nullopt;
    const auto axis = movedAxis(site, node, *data);
    if (!axis) return std::nullopt;
    const NodeRecord& dequantize = site.module.node(node.operands[0].node);
    PatchWriter patch(site.module, site.function.id, "move-integers",
                      nodeLabel(site.module, node) +
                          (isRelu ? " is a limit of the integers" : " moves integers as well"),
                      {node.id});
    NodeRecord moved = newOpNode(site.module, node.op, node.operands, node.attrs);
    moved.operands[0] = data->integers;
    if (isOp(node, padOp)) moved.attrs.set("pad_value", static_cast<double>(data->zeros[0]));
    if (isOp(node, stackFramesOp)) moved.attrs.set("pad_value", data->zeros[0]);
    if (isRelu) {
        moved.op = clipOp.name;
        moved.attrs = {{"a_min", static_cast<double>(data->zeros[0])}, {"a_max", 1000.0}};
    }
    moved.name = node.name;
    const ValueRef integers{moved.id, 0};
    // Constants move now: weights are then integers for the rules to read.
    patch.change(std::move(moved));
    NodeRecord real = newOpNode(site.module, std::string(qnnDequantizeOp.name), dequantize.operands,
                                dequantize.attrs);
    real.operands[0] = integers;
    real.attrs.set("axis", *axis);
    const ValueRef out{real.id, 0};
    patch.change(std::move(real));
    if (site.uses.isResult(node.id)) return std::nullopt;
    patch.replaceAndErase(node.id, out);
    return patch.take();
}

/// max(dequantize(x), dequantize(y)) = dequantize(max(x, y)) under one scale.
std::optional<Patch> chooseFirst(const QuantizationSite& site, const NodeRecord& node)
{
    if (node.kind != NodeKind::Op || !isOneOf(node, maximumOp, minimumOp) ||
        site.uses.isResult(node.id))
        return std::nullopt;
    const auto a = readDequantized(site, node.operands[0]);
    const auto b = readDequantized(site, node.operands[1]);
    if (!a || !b || a->dtype != b->dtype || a->dtype.bits != 8 || !a->isPerTensor() ||
        a->scales != b->scales || a->zeros != b->zeros)
        return std::nullopt;
    PatchWriter patch(site.module, site.function.id, "move-integers",
                      nodeLabel(site.module, node) + " chooses integers as well", {node.id});
    const ValueRef chosen = patch.op(factsOf(node), {a->integers, b->integers});
    patch.replaceAndErase(node.id, patch.opOn(site.module.node(node.operands[0].node), chosen));
    return patch.take();
}

std::optional<Patch> rewrite(const QuantizationSite& site, const NodeRecord& node)
{
    if (auto patch = moveFirst(site, node)) return patch;
    if (auto patch = chooseFirst(site, node)) return patch;
    if (auto patch = splitIntegers(site, node)) return patch;
    if (auto patch = matmulAsDense(site, node)) return patch;
    if (auto patch = quantizeBeforeReshape(site, node)) return patch;
    if (auto patch = quantizeBehindPool(site, node)) return patch;
    const auto target = readQuantize(site, node);
    if (!target || !target->input.node.isValid()) return std::nullopt;
    for (const QuantizeRule rule : kRules)
        if (auto patch = rule(site, *target)) return patch;
    return std::nullopt;
}

} // namespace

Result<Patches> runFakeQuantizationToInteger(const Module& module, const PassContext& context)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        const UseIndex uses(module, *function);
        const IntegerCosts costs(module, *function, context);
        for (const NodeId id : function->order) {
            if (const Status go = context.job->checkStop(); !go) return go.error();
            if (auto patch =
                    rewrite({module, *function, uses, *context.job, costs}, module.node(id)))
                patches.push_back(std::move(*patch));
        }
    }
    return patches;
}

} // namespace tenon::compiler
