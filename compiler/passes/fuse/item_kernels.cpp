// SPDX-License-Identifier: Apache-2.0
// Items are independent when every compute declaration reads and writes them at its own leading
// indices and never looks at these indices or at a size.
#include "compiler/passes/fuse/item_kernels.h"

#include "compiler/ops/op.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/symbols.h"
#include "compiler/passes/patch_chunks.h"
#include "compiler/passes/rewrite.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"
#include "core/tensor/dim_bounds.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::compiler {
namespace {

/// Elements of an item from which a call of its own costs nothing.
constexpr int64_t kLargeItem = 4096;
/// Rows that a matrix product wants to share one pass over its weights, and those of smaller chunks
/// beside it: a pass for two rows takes hardly longer than for one.
constexpr int64_t kProductRows[] = {16, 4, 2};
constexpr int64_t kMostChunk = 64;

/// The dimensions up to the last one that is open.
Shape leadOf(const Shape& shape)
{
    size_t axes = shape.size();
    while (axes > 0 && shape[axes - 1].isConst()) --axes;
    return {shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axes)};
}

std::vector<TensorType> openTypes(const Module& module, const GraphFunction& function)
{
    std::vector<TensorType> out;
    for (const std::vector<NodeId>& nodes : {function.params, function.order})
        for (const NodeId id : nodes)
            for (const TensorType& type : module.node(id).types)
                if (!constantShape(type.shape)) out.push_back(type);
    return out;
}

/// The number of items, of which every open value of the function has as many rows each as its lead
/// says: N of [N, 64, 8] and [64*N, 8].
std::optional<Dim> sharedCount(const std::vector<TensorType>& types)
{
    if (types.empty()) return std::nullopt;
    const Dim first = product(leadOf(types[0].shape));
    const int64_t factor = factorOf(first);
    for (const Dim& count : {floorDiv(first, Dim(std::max<int64_t>(1, factor))), first})
        if (std::all_of(types.begin(), types.end(), [&](const TensorType& type) {
                return rowsPerItem(type, count).has_value();
            }))
            return count;
    return std::nullopt;
}

/// The dimensions that every open value of a node begins with.
std::optional<Shape> sharedLead(const Module& module, const NodeRecord& node)
{
    std::optional<Shape> lead;
    bool isShared = true;
    const auto take = [&](const TensorType& type) {
        if (constantShape(type.shape)) return;
        const Shape own = leadOf(type.shape);
        isShared = isShared && (!lead || *lead == own);
        lead = own;
    };
    for (const ValueRef& operand : node.operands)
        if (operand.node.isValid()) take(module.type(operand));
    for (const TensorType& type : node.types) take(type);
    return isShared ? lead.value_or(Shape()) : std::optional<Shape>();
}

/// Reads the compute declarations of one operator.
class ItemCheck
{
public:
    explicit ItemCheck(const Shape& lead)
    {
        for (const tir::Expr& extent : extents(lead)) m_lead.push_back(tir::print(extent));
    }

    bool areIndependent(const te::Tensors& outputs)
    {
        return std::all_of(outputs.begin(), outputs.end(),
                           [&](const te::TensorRef& tensor) { return visit(tensor); });
    }

private:
    bool hasItems(const std::vector<tir::Expr>& shape) const
    {
        if (shape.size() < m_lead.size()) return false;
        for (size_t i = 0; i < m_lead.size(); ++i)
            if (tir::print(shape[i]) != m_lead[i]) return false;
        return true;
    }

    bool visit(const te::TensorRef& tensor)
    {
        if (!m_seen.insert(tensor.get()).second || tensor->kind == te::TensorKind::Placeholder)
            return true;
        for (const te::TensorRef& input : tensor->inputs)
            if (!visit(input)) return false;
        if (tensor->kind == te::TensorKind::Extern) return false;
        for (const te::ReduceAxis& axis : tensor->reduce)
            if (axis.extent->kind != tir::ExprKind::IntImm) return false;
        m_axes.clear();
        if (hasItems(tensor->shape()))
            m_axes.assign(tensor->axes.begin(),
                          tensor->axes.begin() + static_cast<std::ptrdiff_t>(m_lead.size()));
        return isFine(tensor->body) && (!tensor->init.get() || isFine(tensor->init));
    }

    /// True when the expression reads items at the indices of its own item only.
    bool isFine(const tir::Expr& root) const
    {
        bool fine = true;
        tir::visitExprs(root, [&](const tir::Expr& expr) {
            if (expr->kind == tir::ExprKind::VarRef)
                fine = fine && !symbolOf(*expr->var) &&
                       std::find(m_axes.begin(), m_axes.end(), expr->var) == m_axes.end();
            if (expr->kind != tir::ExprKind::Load || !hasItems(expr->buffer->shape)) return fine;
            fine = fine && readsOwnItem(expr->args);
            return false;
        });
        return fine;
    }

    bool readsOwnItem(const std::vector<tir::Expr>& indices) const
    {
        if (m_axes.empty()) return false;
        for (size_t i = 0; i < indices.size(); ++i) {
            const tir::Expr& index = indices[i];
            const bool isOwn =
                i < m_axes.size() &&
                ((index->kind == tir::ExprKind::VarRef && index->var == m_axes[i]) ||
                 (m_lead[i] == "1" && index.isConstInt(0))); // broadcasting writes it so
            if (i < m_axes.size() ? !isOwn : !isFine(index)) return false;
        }
        return true;
    }

    std::vector<std::string> m_lead; ///< extents as text
    std::vector<tir::Var> m_axes;    ///< of the declaration that is read: those that count items
    std::unordered_set<const te::TensorNode*> m_seen;
};

/// Convolutions and the like: the first operand has the batch, weights are the same for all.
bool isBatched(const Module& module, const NodeRecord& node, size_t axes)
{
    if (axes != 1 || !factsOf(node).isBatched) return false;
    for (size_t i = 1; i < node.operands.size(); ++i)
        if (node.operands[i].node.isValid() && !constantShape(module.type(node.operands[i]).shape))
            return false;
    return true;
}

bool isItemwise(const Module& module, const NodeRecord& node)
{
    if (node.kind == NodeKind::Constant) return true;
    // Every item keeps its row-major values.
    if (factsOf(node).onlyReshapes) return true;
    const auto lead = sharedLead(module, node);
    if (!lead) return false;
    if (isBatched(module, node, lead->size())) return true;
    const OpDef* op = findOp(node.op);
    if (!op || !op->lower || !takesSymbols(node.op)) return false;
    if (!node.attrs.strings("sizes", {}).empty()) return false;
    te::Tensors in;
    Types types;
    for (const ValueRef& operand : node.operands) {
        const bool isPresent = operand.node.isValid();
        types.push_back(isPresent ? module.type(operand) : TensorType{kHandle, {}});
        in.push_back(isPresent ? te::placeholder("p" + std::to_string(in.size()),
                                                 extents(types.back().shape), types.back().dtype)
                               : nullptr);
    }
    const auto out = op->lower({node.op, node.attrs, types, node.types}, in);
    return out && ItemCheck(*lead).areIndependent(*out);
}

/// Elements of one item of the largest value.
int64_t itemElements(const Module& module, const GraphFunction& function, const Dim& items)
{
    int64_t most = 1;
    for (const NodeId id : function.order)
        for (const TensorType& type : module.node(id).types) {
            if (constantShape(type.shape)) continue;
            most = std::max(most, *mostElements(itemType(type, items, 1).shape, {}));
        }
    return most;
}

/// Rows that the products of an item share; 0 without a product.
int64_t productRows(const Module& module, const GraphFunction& function, const Dim& items)
{
    int64_t rows = 0;
    for (const NodeId id : function.order) {
        const NodeRecord& node = module.node(id);
        if (!factsOf(node).isRowProduct) continue;
        const Shape item = itemType(node.types[0], items, 1).shape;
        rows = std::max(rows, elementCount(*constantShape({item.begin(), item.end() - 1})));
    }
    return rows;
}

/// Results of an item for each channel where their filters are wanted by more of them than one item
/// has: those of transformed convolutions; 0 without one.
int64_t tiledResults(const Module& module, const GraphFunction& function, const Dim& items)
{
    for (const NodeId id : function.order) {
        const NodeRecord& node = module.node(id);
        if (!isOp(node, winogradConv2dNchwcOp)) continue;
        const Shape item = itemType(node.types[0], items, 1).shape;
        return elementCount(*constantShape({item[2], item[3]}));
    }
    return 0;
}

std::vector<int64_t> chunksOf(const Module& module, const GraphFunction& function, const Dim& items,
                              const std::optional<DimBounds>& count)
{
    std::vector<int64_t> chunks;
    const auto add = [&](int64_t chunk) {
        if (count) chunk = std::clamp<int64_t>(count->high, 1, chunk);
        if (chunk > 1 && (chunks.empty() || chunk < chunks.back())) chunks.push_back(chunk);
    };
    if (const int64_t results = tiledResults(module, function, items); results > 0) {
        for (const int64_t most : kResultsAtOnce)
            if (arePatches(items)) add(most / results);
        return chunks;
    }
    const int64_t rows = productRows(module, function, items);
    if (rows == 0)
        add(std::min(kLargeItem / itemElements(module, function, items), kMostChunk));
    else
        for (const int64_t most : kProductRows) add((most + rows - 1) / rows);
    return chunks;
}

} // namespace

std::optional<int64_t> rowsPerItem(const TensorType& type, const Dim& items)
{
    const Dim rows = product(leadOf(type.shape));
    const int64_t factor = factorOf(items);
    const int64_t each = factor > 0 ? factorOf(rows) / factor : 1;
    return each > 0 && Dim(each) * items == rows ? std::optional(each) : std::nullopt;
}

TensorType itemType(const TensorType& type, const Dim& items, int64_t count)
{
    if (constantShape(type.shape)) return type;
    TensorType out = type;
    const size_t axes = leadOf(type.shape).size();
    std::fill_n(out.shape.begin(), axes, Dim(1));
    out.shape[axes - 1] = Dim(*rowsPerItem(type, items) * count);
    return out;
}

std::optional<Items> itemsOf(const Module& module, const GraphFunction& function,
                             const SizeBounds& bounds)
{
    const auto count = sharedCount(openTypes(module, function));
    if (!count) return std::nullopt;
    bool isSimple = true;
    for (const NodeId id : function.order) {
        const NodeRecord& node = module.node(id);
        if (!isItemwise(module, node)) return std::nullopt;
        const OpDef* op = findOp(node.op);
        isSimple =
            isSimple && (!op || (op->pattern <= Pattern::Injective && takesSymbols(node.op)));
    }
    // A kernel with sizes walks over elements as fast as one without.
    if (isSimple && itemElements(module, function, *count) < kLargeItem) return std::nullopt;
    return Items{*count, chunksOf(module, function, *count, rangeOf(*count, bounds))};
}

} // namespace tenon::compiler
