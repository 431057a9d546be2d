// SPDX-License-Identifier: Apache-2.0
// LowerToTIR: writes every primitive function as a loop function through its operators' compute
// declarations; equal ones are shared by the hash of their text, which names no nodes. Needs
// FuseOps. Functions that only rename a shape become calls of "__nop".
#include "compiler/ops/ops.h"
#include "compiler/ops/symbols.h"
#include "compiler/passes/fuse/item_kernels.h"
#include "compiler/passes/fuse/kernel_sizes.h"
#include "compiler/passes/fuse/patch_grid.h"
#include "compiler/passes/fuse/scalar_inputs.h"
#include "compiler/passes/fuse/side_by_side.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "compiler/schedule/beyond_images.h"
#include "compiler/schedule/rules.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"
#include "core/ir/size_bounds.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace tenon::compiler {
namespace {

bool isOnePixel(const Shape& shape)
{
    return shape.size() >= 4 && shape[2] == Dim(1) && shape[3] == Dim(1);
}

/// True when the result has the operand's bytes: reshape, and layout moves that move nothing.
bool isAlias(const Module& module, const GraphFunction& function)
{
    if (function.order.size() != 1 || function.params.size() != 1) return false;
    const NodeRecord& node = module.node(function.order[0]);
    if (isOp(node, reshapeOp)) return true;
    if (!isOp(node, layoutTransformOp)) return false;
    const std::string from = node.attrs.string("src_layout", "");
    const std::string to = node.attrs.string("dst_layout", "");
    const bool isActivation = from.starts_with("NCHW") && to.starts_with("NCHW");
    if (from == "NCHW1c" || to == "NCHW1c") return isActivation && (from == "NCHW" || to == "NCHW");
    return isActivation && isOnePixel(node.types.at(0).shape);
}

Diagnostic withNode(Diagnostic error, const Module& module, const NodeRecord& node)
{
    if (error.location.node.empty()) error.location.node = nodeLabel(module, node);
    if (error.location.op.empty()) error.location.op = node.op;
    return error;
}

Status needKnownShapes(const NodeRecord& node, const Types& operands, const Types& results)
{
    for (const Types* types : {&operands, &results})
        for (const TensorType& type : *types)
            if (type.dtype != kHandle && !constantShape(type.shape))
                return makeError(DiagnosticCode::DynamicShape,
                                 "operator " + quoted(node.op) + " needs known shapes but got " +
                                     type.text() + "; bind the model's input shapes with --shape");
    return kDone;
}

using TypeMap = std::function<TensorType(const TensorType&)>;

enum class SumOrder : uint8_t
{
    Any,
    AsWritten
};

/// What lowering makes of a function's values, and what it may know of the target.
struct Lowering
{
    SumOrder order;
    const TargetFacts* facts;
    TypeMap typeOf = [](const TensorType& type) { return type; };
};

/// Declares what one node computes.
Result<te::Tensors> lowerNode(const Module& module, const NodeRecord& node, const Lowering& as,
                              const std::unordered_map<ValueRef, te::TensorRef>& tensors)
{
    const OpDef* op = findOp(node.op);
    if (!op || !op->lower)
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "operator " + quoted(node.op) + " has no loop form");
    te::Tensors in;
    Types operands, results;
    for (const ValueRef& operand : node.operands) {
        const bool isPresent = operand.node.isValid();
        in.push_back(isPresent ? tensors.at(operand) : nullptr);
        operands.push_back(isPresent ? as.typeOf(module.type(operand)) : TensorType{kHandle, {}});
    }
    for (const TensorType& type : node.types) results.push_back(as.typeOf(type));
    if (!takesSymbols(node.op))
        if (Status known = needKnownShapes(node, operands, results); !known) return known.error();
    return op->lower(
        {node.op, node.attrs, operands, results, as.order == SumOrder::AsWritten, as.facts}, in);
}

/// One operator after the other becomes one iteration each of a parallel loop.
tir::PrimFunc sideBySide(tir::PrimFunc function, size_t operators)
{
    const std::vector<tir::Stmt> parts = function.body->body->stmts;
    if (parts.size() != operators) return function;
    const tir::Var part = tir::makeVar("part");
    tir::Stmt chosen = parts.back();
    for (size_t i = parts.size() - 1; i-- > 0;)
        chosen = tir::ifThen(equal(tir::Expr(part), tir::Expr(static_cast<int64_t>(i))), parts[i],
                             chosen);
    tir::StmtNode root = *function.body;
    root.body = tir::forLoop({.var = part,
                              .extent = tir::Expr(static_cast<int64_t>(parts.size())),
                              .kind = tir::LoopKind::Parallel},
                             chosen);
    function.body = std::make_shared<const tir::StmtNode>(std::move(root));
    return function;
}

/// The loop function of one primitive function.
Result<tir::PrimFunc> lowerFunction(const Module& module, const GraphFunction& function,
                                    const Lowering& as)
{
    std::unordered_map<ValueRef, te::TensorRef> tensors;
    te::Tensors inputs;
    ScalarInputs scalars;
    for (const NodeId id : function.params) {
        const TensorType type = as.typeOf(module.type({id, 0}));
        inputs.push_back(
            te::placeholder("p" + std::to_string(inputs.size()), extents(type.shape), type.dtype));
        tensors[{id, 0}] = inputs.back();
    }
    for (const NodeId id : function.order) {
        const NodeRecord& node = module.node(id);
        if (node.kind == NodeKind::Constant) {
            tensors[{id, 0}] = scalars.add(*node.constant);
            continue;
        }
        Result<te::Tensors> out = lowerNode(module, node, as, tensors);
        if (!out) return withNode(out.error(), module, node);
        for (size_t i = 0; i < out->size(); ++i)
            tensors[{id, static_cast<uint32_t>(i)}] = (*out)[i];
    }
    te::Tensors outputs;
    for (const ValueRef& result : function.results) outputs.push_back(tensors.at(result));
    const size_t dataCount = inputs.size();
    inputs.insert(inputs.end(), scalars.tensors.begin(), scalars.tensors.end());
    Result<tir::PrimFunc> kernel = te::createPrimFunc("main", inputs, outputs);
    if (!kernel) return kernel;
    scalars.inlineInto(*kernel, dataCount);
    if (!function.attrs.has(kSideBySideAttr)) return kernel;
    const auto isOperator = [&](NodeId id) { return module.node(id).kind == NodeKind::Op; };
    const auto operators = std::count_if(function.order.begin(), function.order.end(), isOperator);
    return sideBySide(*std::move(kernel), static_cast<size_t>(operators));
}

/// Equal exactly when lowering gives the same loop function.
std::string structureKey(const Module& module, const GraphFunction& function)
{
    GraphFunction anonymous = function;
    anonymous.name = "f";
    return printFunction(module, anonymous);
}

/// A statement adds to what it overwrites.
bool hasSums(const tir::PrimFunc& function)
{
    bool found = false;
    tir::visitStmts(function.body, [&](const tir::Stmt& stmt) {
        if (stmt->kind == tir::StmtKind::Store && stmt->buffer->dtype.isFloat())
            tir::visitExprs(stmt->value, [&](const tir::Expr& expr) {
                found =
                    found || (expr->kind == tir::ExprKind::Load && expr->buffer == stmt->buffer);
                return !found;
            });
        return !found;
    });
    return found;
}

struct NamedKernel
{
    std::string name;
    PrimFuncPtr kernel;
    std::string text;

    void set(tir::PrimFunc function, SumOrder order)
    {
        if (order == SumOrder::AsWritten && hasSums(function))
            function.attrs.set(std::string(kOrderedSumsAttr), int64_t{1});
        text = tir::print(function);
        kernel = std::make_shared<const tir::PrimFunc>(std::move(function));
    }
};

struct Lowered
{
    const GraphFunction* function = nullptr; ///< the first of its structure
    std::optional<PatchGrid> grid;           ///< of the patches that it computes
    std::optional<Items> items;              ///< set: `whole` is of one item
    NamedKernel whole;
    std::vector<NamedKernel> chunks; ///< of several items

    std::vector<NamedKernel*> kernels()
    {
        std::vector<NamedKernel*> out{&whole};
        for (NamedKernel& chunk : chunks) out.push_back(&chunk);
        return out;
    }
};

constexpr int64_t kSeveral = 2;

/// How many patches the kernel's results are. An item may be more than one: of two images, whose
/// patches are 2 * n * m, those of n * m items are two each.
int64_t patchesOf(const tir::PrimFunc& kernel)
{
    const tir::Expr& count =
        kernel.params[kernel.params.size() - static_cast<size_t>(kernel.outputCount)]->shape.at(0);
    return count->kind == tir::ExprKind::IntImm ? count->integer : kSeveral;
}

/// Where the kernel computes patches, at least so many of them.
void markPatches(tir::PrimFunc& kernel, const Lowered& lowered, int64_t least)
{
    if (lowered.grid)
        setPatches(kernel, {.sides = lowered.grid->sides,
                            .steps = lowered.grid->steps,
                            .count = std::max(least, patchesOf(kernel))});
}

/// The kernel of so many items.
Result<tir::PrimFunc> lowerItems(const Module& module, const Lowered& lowered, int64_t count,
                                 Lowering as)
{
    const GraphFunction& function = *lowered.function;
    const Dim& items = lowered.items->count;
    as.typeOf = [&](const TensorType& type) { return itemType(type, items, count); };
    auto kernel = lowerFunction(module, function, as);
    if (kernel) markPatches(*kernel, lowered, count);
    return kernel;
}

Result<tir::PrimFunc> lowerWithSizes(const Module& module, const Lowered& lowered,
                                     const Lowering& as)
{
    const GraphFunction& function = *lowered.function;
    auto kernel = lowerFunction(module, function, as);
    if (!kernel) return kernel;
    kernel = withSizes(*std::move(kernel), kernelSizes(module, function));
    markPatches(*kernel, lowered, kSeveral);
    return kernel;
}

Status lowerOne(const Module& module, const SizeBounds& bounds, const Lowering& as,
                Lowered& lowered)
{
    const GraphFunction& function = *lowered.function;
    lowered.items = itemsOf(module, function, bounds);
    auto kernel =
        lowered.items ? lowerItems(module, lowered, 1, as) : lowerWithSizes(module, lowered, as);
    if (!kernel) return kernel.error();
    lowered.whole.set(std::move(*kernel), as.order);
    if (!lowered.items) return kDone;
    for (const int64_t count : lowered.items->chunks) {
        auto chunk = lowerItems(module, lowered, count, as);
        if (!chunk) return chunk.error();
        lowered.chunks.emplace_back().set(std::move(*chunk), as.order);
    }
    return kDone;
}

/// Lowers each distinct structure once, on all threads.
Status lowerAll(const Module& module, const PassContext& context, std::vector<Lowered*> pending)
{
    const SizeBounds bounds = boundsOf(module.main());
    const Lowering as{.order = context.optLevel == 0 ? SumOrder::AsWritten : SumOrder::Any,
                      .facts = &context.facts};
    return context.job->parallelFor(
        pending.size(), [&](size_t i) { return lowerOne(module, bounds, as, *pending[i]); });
}

/// k_<hash of the text>; more digits where eight are not enough to tell kernels apart.
void nameKernels(std::vector<Lowered*>& all)
{
    std::map<std::string, const std::string*> taken;
    for (Lowered* lowered : all)
        for (NamedKernel* kernel : lowered->kernels()) {
            if (!kernel->kernel) continue;
            const std::string hash = hashBytes(kernel->text).hex();
            for (size_t digits = 8; digits <= hash.size(); digits += 8) {
                kernel->name = "k_" + hash.substr(0, digits);
                const auto [found, isNew] = taken.emplace(kernel->name, &kernel->text);
                if (isNew || *found->second == kernel->text) break;
            }
        }
}

/// `lowered`: null for a function that only renames a shape.
NodeRecord kernelCall(const NodeRecord& call, const GraphFunction& callee, const Lowered* lowered,
                      const PatchGrid* grid)
{
    NodeRecord out = call;
    out.kind = NodeKind::CallTir;
    out.kernel = lowered ? lowered->whole.name : kNopKernel;
    out.name = "tvmgen_default_" + callee.name;
    if (lowered && grid) out.attrs.set(kImageSizesAttr, grid->images);
    if (!lowered || !lowered->items) return out;
    out.attrs.set(kItemsAttr, lowered->items->count.text());
    if (lowered->chunks.empty()) return out;
    out.attrs.set(kChunkItemsAttr, lowered->items->chunks);
    std::vector<std::string> names;
    for (const NamedKernel& chunk : lowered->chunks) names.push_back(chunk.name);
    out.attrs.set(kChunkKernelsAttr, std::move(names));
    return out;
}

/// Tells kernels apart that are alike but for the patches that they compute.
std::string gridKey(const PatchGrid* grid)
{
    return grid ? join(grid->sides, " ") + "/" + join(grid->steps, " ") : "";
}

/// What a call becomes: nothing was lowered where only the shape changes.
struct CallTarget
{
    Lowered* lowered;
    const PatchGrid* grid;
};

/// The call of a kernel in its place, with the kernels that no patch has given yet.
Patch callPatch(const Module& module, const GraphFunction& function, const NodeRecord& node,
                const CallTarget& target, std::set<std::string>& given)
{
    Lowered* lowered = target.lowered;
    PatchWriter writer(module, function.id, lowered ? "lower-to-tir" : "alias",
                       lowered ? lowered->whole.name : "only the shape changes", {node.id});
    writer.change(kernelCall(node, module.function(node.callee), lowered, target.grid));
    Patch patch = writer.take();
    if (!lowered) return patch;
    for (const NamedKernel* kernel : lowered->kernels())
        if (kernel->kernel && given.insert(kernel->name).second)
            patch.kernels.emplace_back(kernel->name, kernel->kernel);
    return patch;
}

} // namespace

Result<Patches> runLowerToTIR(const Module& module, const PassContext& context)
{
    std::map<std::string, Lowered> byStructure;
    std::unordered_map<FunctionId, Lowered*> byFunction;
    std::vector<Lowered*> pending;
    const std::map<FunctionId, PatchGrid> grids = patchGridsOf(module);
    const auto gridOf = [&](FunctionId id) {
        const auto found = grids.find(id);
        return found == grids.end() ? nullptr : &found->second;
    };
    for (const auto& [id, function] : module.functions()) {
        if (function->attrs.integer("primitive", 0) == 0 || isAlias(module, *function)) continue;
        const PatchGrid* grid = gridOf(id);
        Lowered& lowered = byStructure[structureKey(module, *function) + gridKey(grid)];
        if (grid) lowered.grid = *grid;
        if (!lowered.function) {
            pending.push_back(&lowered);
            lowered.function = function.get();
        }
        byFunction[id] = &lowered;
    }
    if (const Status done = lowerAll(module, context, pending); !done) return done.error();
    nameKernels(pending);

    Patches patches;
    std::set<std::string> given;
    for (const GraphFunction* function : openFunctions(module))
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            if (node.kind != NodeKind::Call) continue;
            if (module.function(node.callee).attrs.integer("primitive", 0) == 0) continue;
            const auto found = byFunction.find(node.callee);
            Lowered* lowered = found == byFunction.end() ? nullptr : found->second;
            patches.push_back(
                callPatch(module, *function, node, {lowered, gridOf(node.callee)}, given));
        }
    return patches;
}

} // namespace tenon::compiler
