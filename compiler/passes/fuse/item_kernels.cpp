// SPDX-License-Identifier: Apache-2.0
// Items are independent when every compute declaration reads and writes them at its own leading
// indices and never looks at these indices or at a size.
#include "compiler/passes/fuse/item_kernels.h"

#include "compiler/ops/op.h"
#include "compiler/ops/symbols.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::compiler {
namespace {

/// Elements of an item from which a call of its own costs nothing.
constexpr int64_t kLargeItem = 4096;
/// Rows that a matrix product wants to share one pass over its weights.
constexpr int64_t kProductRows = 16;
constexpr int64_t kMostChunk = 64;

/// The dimensions that every symbolic value of the function begins with.
std::optional<Shape> sharedLead(const Module& module, const GraphFunction& function)
{
    std::vector<const Shape*> shapes;
    size_t axes = 0;
    for (const std::vector<NodeId>& nodes : {function.params, function.order})
        for (const NodeId id : nodes)
            for (const TensorType& type : module.node(id).types) {
                if (constantShape(type.shape)) continue;
                shapes.push_back(&type.shape);
                for (size_t i = 0; i < type.shape.size(); ++i)
                    if (!type.shape[i].isConst()) axes = std::max(axes, i + 1);
            }
    if (shapes.empty()) return std::nullopt;
    const auto hasLead = [&](const Shape* shape) {
        return shape->size() >= axes &&
               std::equal(shape->begin(), shape->begin() + static_cast<std::ptrdiff_t>(axes),
                          shapes[0]->begin());
    };
    if (!std::all_of(shapes.begin(), shapes.end(), hasLead)) return std::nullopt;
    return Shape(shapes[0]->begin(), shapes[0]->begin() + static_cast<std::ptrdiff_t>(axes));
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

bool isItemwise(const Module& module, const NodeRecord& node, const Shape& lead)
{
    if (node.kind == NodeKind::Constant || isBatched(module, node, lead.size())) return true;
    // The leading dimensions stay, so every item keeps its row-major values.
    if (factsOf(node).onlyReshapes) return true;
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
    return out && ItemCheck(lead).areIndependent(*out);
}

/// Elements of one item of the largest value.
int64_t itemElements(const Module& module, const GraphFunction& function, size_t axes)
{
    int64_t most = 1;
    for (const NodeId id : function.order)
        for (const TensorType& type : module.node(id).types) {
            if (constantShape(type.shape)) continue;
            most = std::max(most, *mostElements(itemType(type, axes, 1).shape, {}));
        }
    return most;
}

int64_t chunkOf(const Module& module, const GraphFunction& function, int64_t elements,
                const std::optional<DimBounds>& count)
{
    const bool hasProduct =
        std::any_of(function.order.begin(), function.order.end(),
                    [&](NodeId id) { return factsOf(module.node(id)).isRowProduct; });
    int64_t chunk = std::clamp<int64_t>(kLargeItem / elements, 1, kMostChunk);
    if (hasProduct) chunk = kProductRows;
    return count ? std::clamp<int64_t>(count->high, 1, chunk) : chunk;
}

} // namespace

TensorType itemType(const TensorType& type, size_t axes, int64_t count)
{
    if (constantShape(type.shape)) return type;
    TensorType out = type;
    std::fill_n(out.shape.begin(), axes, Dim(1));
    out.shape[axes - 1] = Dim(count);
    return out;
}

std::optional<Items> itemsOf(const Module& module, const GraphFunction& function,
                             const SizeBounds& bounds)
{
    const auto lead = sharedLead(module, function);
    if (!lead) return std::nullopt;
    bool isSimple = true;
    for (const NodeId id : function.order) {
        const NodeRecord& node = module.node(id);
        if (!isItemwise(module, node, *lead)) return std::nullopt;
        const OpDef* op = findOp(node.op);
        isSimple =
            isSimple && (!op || (op->pattern <= Pattern::Injective && takesSymbols(node.op)));
    }
    const int64_t elements = itemElements(module, function, lead->size());
    // A kernel with sizes walks over elements as fast as one without.
    if (isSimple && elements < kLargeItem) return std::nullopt;
    Dim count(1);
    for (const Dim& dim : *lead) count = count * dim;
    return Items{lead->size(), chunkOf(module, function, elements, rangeOf(count, bounds))};
}

} // namespace tenon::compiler
