// SPDX-License-Identifier: Apache-2.0
// Later concatenations first, so that one whole may lie in another; then the kernels of all that
// touches a part.
#include "compiler/passes/fuse/within_wholes.h"

#include "compiler/passes/fuse/fusion_groups.h"
#include "compiler/passes/fuse/item_kernels.h"
#include "compiler/passes/use_index.h"
#include "core/ir/tir/visit.h"

#include <map>
#include <optional>

namespace tenon::compiler {
namespace {

/// How a tensor lies in a larger one: with that extent along the axis.
struct Within
{
    size_t axis;
    int64_t extent;
};

bool isKernelCall(const NodeRecord& node)
{
    return node.kind == NodeKind::CallTir && node.kernel != kNopKernel &&
           node.attrs.strings(kChunkKernelsAttr, {}).empty();
}

/// The axis of a call that does nothing but concatenate its operands, each once.
std::optional<size_t> axisOfJoin(const Module& lowered, const NodeRecord& call)
{
    if (!isKernelCall(call)) return std::nullopt;
    const GraphFunction& callee = lowered.function(call.callee);
    if (callee.order.size() != 1) return std::nullopt;
    const NodeRecord& join = lowered.node(callee.order[0]);
    const bool isEachOnce = std::equal(
        join.operands.begin(), join.operands.end(), callee.params.begin(), callee.params.end(),
        [](const ValueRef& operand, NodeId param) { return operand.node == param; });
    return isEachOnce ? joinedAxis(join) : std::nullopt;
}

/// Elements from one index of the axis to the next.
int64_t innerOf(const std::vector<int64_t>& shape, size_t axis)
{
    int64_t inner = 1;
    for (size_t dim = axis + 1; dim < shape.size(); ++dim) inner *= shape[dim];
    return inner;
}

tir::Buffer stridedBuffer(const tir::BufferNode& compact, const Within& within)
{
    tir::BufferNode node = compact;
    node.strides.assign(node.shape.size(), tir::Expr(1));
    int64_t stride = 1;
    for (size_t dim = node.shape.size(); dim-- > 0;) {
        node.strides[dim] = tir::Expr(stride);
        stride *= dim == within.axis ? within.extent : node.shape[dim]->integer;
    }
    return std::make_shared<const tir::BufferNode>(std::move(node));
}

class Wholes
{
public:
    explicit Wholes(const Module& lowered)
        : m_lowered(lowered)
        , m_uses(lowered, lowered.main())
    {
    }

    Module run()
    {
        const std::vector<NodeId>& order = m_lowered.main().order;
        for (auto id = order.rbegin(); id != order.rend(); ++id) tryJoin(m_lowered.node(*id));
        Module out = m_lowered;
        if (m_within.empty()) return out;
        for (const NodeId id : order) rewire(m_lowered.node(id), out);
        return out;
    }

private:
    void tryJoin(const NodeRecord& join)
    {
        const auto axis = axisOfJoin(m_lowered, join);
        if (!axis) return;
        const std::vector<int64_t> shape = *constantShape(join.types[0].shape);
        int64_t pieces = 1;
        for (size_t dim = 0; dim < *axis; ++dim) pieces *= shape[dim];
        if (pieces == 1) return; // one after another: views are enough
        Within within{*axis, shape[*axis]};
        if (const auto outer = m_within.find({join.id, 0}); outer != m_within.end()) {
            if (outer->second.axis != *axis) return;
            within = outer->second;
        }
        const int64_t step = innerOf(shape, *axis) * join.types[0].dtype.bytes();
        if (within.extent * step % kPartAlignment != 0) return;
        int64_t begin = 0;
        for (const ValueRef& part : join.operands) {
            if (begin * step % kPartAlignment != 0 || !canMove(part, join)) return;
            begin += (*constantShape(m_lowered.type(part).shape))[*axis];
        }
        for (const ValueRef& part : join.operands) m_within.emplace(part, within);
        m_pieces[join.id] = pieces;
    }

    /// Written by a kernel of one shape, read by such, and by this concatenation once.
    bool canMove(const ValueRef& part, const NodeRecord& join) const
    {
        if (!isKernelCall(m_lowered.node(part.node)) || m_uses.isResult(part.node) ||
            m_within.contains(part) ||
            std::count(join.operands.begin(), join.operands.end(), part) != 1 ||
            !constantShape(m_lowered.type(part).shape))
            return false;
        const auto users = m_uses.users(part.node);
        return std::all_of(users.begin(), users.end(),
                           [&](NodeId user) { return isKernelCall(m_lowered.node(user)); });
    }

    /// The call with a kernel for the places of what it reads and writes.
    void rewire(const NodeRecord& call, Module& out)
    {
        if (call.kind != NodeKind::CallTir) return;
        std::map<size_t, Within> parameters;
        const auto add = [&](size_t parameter, const ValueRef& value) {
            if (const auto found = m_within.find(value); found != m_within.end())
                parameters.emplace(parameter, found->second);
        };
        for (size_t i = 0; i < call.operands.size(); ++i) add(i, call.operands[i]);
        for (size_t i = 0; i < call.types.size(); ++i)
            add(call.operands.size() + i, {call.id, static_cast<uint32_t>(i)});
        const auto pieces = m_pieces.find(call.id);
        if (parameters.empty() && pieces == m_pieces.end()) return;
        NodeRecord changed = call;
        if (pieces != m_pieces.end())
            changed.attrs.set(kPiecesAttr, pieces->second); // dropped: its kernel matters to nobody
        else
            changed.kernel = addStrided(call.kernel, parameters, out);
        changed.attrs.set(kWithinWholeAttr, int64_t{1});
        out.setNode(std::move(changed));
    }

    /// Adds the kernel with strides for these parameters, whose name says them; gives the name.
    std::string addStrided(std::string name, const std::map<size_t, Within>& parameters,
                           Module& out) const
    {
        const tir::PrimFunc& kernel = *m_lowered.kernels().at(name);
        tir::PrimFunc made = kernel;
        tir::BufferMap buffers;
        for (const auto& [parameter, within] : parameters) {
            const tir::Buffer& before = kernel.params.at(parameter);
            made.params[parameter] = stridedBuffer(*before, within);
            buffers.emplace(before.get(), made.params[parameter]);
            name += "_p" + std::to_string(parameter) + "a" + std::to_string(within.axis) + "of" +
                    std::to_string(within.extent);
        }
        made.name = name;
        made.body = tir::substitute(kernel.body, {}, buffers);
        out.setKernel(name, std::make_shared<const tir::PrimFunc>(std::move(made)));
        return name;
    }

    const Module& m_lowered;
    const UseIndex m_uses;
    std::map<ValueRef, Within> m_within;
    std::map<NodeId, int64_t> m_pieces; ///< of concatenations that are placed
};

} // namespace

Module withinWholes(const Module& lowered) { return Wholes(lowered).run(); }

} // namespace tenon::compiler
