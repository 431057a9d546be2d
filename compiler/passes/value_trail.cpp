// SPDX-License-Identifier: Apache-2.0
// Follows values through one round of patches after another.
//
// A value that a patch replaces goes on as the replacement. One whose node stays is still there,
// unless the patch that changed the node also put another value in its place (a scale that moved
// into a convolution) or its type changed to something that no known form explains. One whose node
// is gone is held by the operand of the node where that only moved elements.
#include "compiler/passes/value_trail.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::compiler {
namespace {

/// "NCHW8c" -> 8; 0 for any other layout.
int64_t blockOf(const std::string& layout)
{
    if (!layout.starts_with("NCHW") || layout.size() < 6 || layout.back() != 'c') return 0;
    return std::atoll(layout.c_str() + 4);
}

/// How the result of a node that only moves elements follows from operand 0.
std::optional<FormStep> movedBy(const Module& module, const NodeRecord& node)
{
    if (node.kind != NodeKind::Op || node.operands.empty() || node.types.size() != 1 ||
        !node.operands[0].node.isValid())
        return std::nullopt;
    const TensorType& from = module.type(node.operands[0]);
    if (isOp(node, reshapeOp)) {
        const auto before = constantShape(from.shape), shape = constantShape(node.types[0].shape);
        if (!before || !shape) return std::nullopt;
        return FormStep{.kind = FormStep::Kind::Reshape, .shape = *shape, .before = *before};
    }
    if (isOp(node, transposeOp)) {
        std::vector<int64_t> axes = node.attrs.integers("axes", {});
        const size_t rank = from.shape.size();
        for (size_t i = rank; axes.size() < rank;) axes.push_back(static_cast<int64_t>(--i));
        for (int64_t& axis : axes) axis = normalizedAxis(axis, rank);
        return FormStep{.kind = FormStep::Kind::Transpose, .axes = std::move(axes)};
    }
    if (isOp(node, castOp) && from.dtype.isFloat() && node.types[0].dtype.isFloat() &&
        node.types[0].dtype.bits < from.dtype.bits)
        return FormStep{
            .kind = FormStep::Kind::Cast, .dtype = node.types[0].dtype, .stored = from.dtype};
    if (isOp(node, layoutTransformOp) && node.attrs.string("dst_layout", "") == "NCHW")
        if (const int64_t block = blockOf(node.attrs.string("src_layout", "")); block > 0)
            return FormStep{.kind = FormStep::Kind::Unblock, .block = block};
    if (isOp(node, stridedSliceOp) && node.operands.size() == 1) {
        const auto axes = node.attrs.integers("axes", {}), begin = node.attrs.integers("begin", {});
        const auto whole = constantShape(from.shape), shape = constantShape(node.types[0].shape);
        const bool isLeading = axes.size() == 1 && begin == std::vector<int64_t>{0} &&
                               node.attrs.integers("strides", {1}) == std::vector<int64_t>{1};
        if (!isLeading || !whole || !shape) return std::nullopt;
        const auto axis = normalizedAxis(axes[0], whole->size());
        return FormStep{.kind = FormStep::Kind::Leading,
                        .axis = axis,
                        .count = shape->at(static_cast<size_t>(axis)),
                        .whole = whole->at(static_cast<size_t>(axis))};
    }
    return std::nullopt;
}

std::optional<FormStep> unblocked(const TensorType& model, const TensorType& held)
{
    if (model.dtype != held.dtype || model.shape.size() != 4 || held.shape.size() != 5)
        return std::nullopt;
    const auto channels = model.shape[1].constant(), blocks = held.shape[1].constant(),
               block = held.shape[4].constant();
    if (!channels || !blocks || !block || *blocks * *block != *channels ||
        !(model.shape[0] == held.shape[0]) || !(model.shape[2] == held.shape[2]) ||
        !(model.shape[3] == held.shape[3]))
        return std::nullopt;
    return FormStep{.kind = FormStep::Kind::Unblock, .block = *block};
}

/// The first of more channels.
std::optional<FormStep> cut(const TensorType& model, const TensorType& held)
{
    const auto few = constantShape(model.shape), many = constantShape(held.shape);
    if (model.dtype != held.dtype || !few || !many || few->size() != many->size())
        return std::nullopt;
    std::optional<FormStep> out;
    for (size_t i = 0; i < few->size(); ++i) {
        if ((*few)[i] == (*many)[i]) continue;
        if (out || (*few)[i] > (*many)[i]) return std::nullopt;
        out = FormStep{.kind = FormStep::Kind::Leading,
                       .axis = static_cast<int64_t>(i),
                       .count = (*few)[i],
                       .whole = (*many)[i]};
    }
    return out;
}

/// int8 as uint8 or the other way round: value and zero point moved by 128 together.
std::optional<FormStep> shifted(const TensorType& model, const TensorType& held)
{
    if (!(model.shape == held.shape)) return std::nullopt;
    const bool isFlip = (model.dtype == kInt8 && held.dtype == kUInt8) ||
                        (model.dtype == kUInt8 && held.dtype == kInt8);
    if (!isFlip) return std::nullopt;
    return FormStep{.kind = FormStep::Kind::Shift,
                    .shift = model.dtype == kInt8 ? -128 : 128,
                    .dtype = model.dtype,
                    .stored = held.dtype};
}

/// What `rule` made of a node that kept its id but not its type.
std::optional<FormStep> retyped(const std::string& rule, const TensorType& model,
                                const TensorType& held)
{
    if (rule == "pad-channels" || rule == "widen-channels") return cut(model, held);
    if (rule == "signed-activations" || rule == "unsigned-activations") return shifted(model, held);
    return unblocked(model, held);
}

/// The result of a cast between bytes of either sign, which keeps their bits.
std::optional<FormStep> sameBits(const Module& module, const NodeRecord& node)
{
    if (!isOp(node, castOp) || node.types.size() != 1) return std::nullopt;
    const DataType from = module.type(node.operands[0]).dtype, to = node.types[0].dtype;
    const auto isByte = [](DataType dtype) { return dtype == kInt8 || dtype == kUInt8; };
    if (from == to || !isByte(from) || !isByte(to)) return std::nullopt;
    return FormStep{.kind = FormStep::Kind::Bits, .dtype = from, .stored = to};
}

/// What one round of patches did, by value and node.
class Round
{
public:
    Round(const Module& before, std::span<const Patch> patches, const AppliedPatches& applied,
          const Module& after)
        : m_before(before)
        , m_after(after)
    {
        // Changes stand in the order of the patches that were accepted.
        size_t next = 0;
        for (const Patch& patch : patches) {
            if (next == applied.changes.size()) break;
            const Change& change = applied.changes[next];
            if (change.rule != patch.rule || change.from != patch.from ||
                change.reason != patch.reason)
                continue;
            ++next;
            add(patch);
        }
    }

    void advance(TrailedValue& trailed) const
    {
        if (!trailed.value.node.isValid()) return;
        const ValueRef old = trailed.value;
        ValueRef now = old;
        for (size_t hops = 0; hops <= m_replaced.size(); ++hops) {
            const auto found = m_replaced.find(now);
            if (found == m_replaced.end()) break;
            now = found->second;
        }
        if (stays(now) && (now != old || !m_overtaken.contains(old.node))) {
            trailed.value = now;
            return settleType(trailed, old);
        }
        retreat(trailed);
    }

private:
    void add(const Patch& patch)
    {
        std::vector<NodeId> changed;
        for (const NodeRecord& record : patch.nodes) {
            const NodePtr& had = m_before.findNode(record.id);
            if (!had) continue;
            m_ruleOf[record.id] = &patch;
            const bool isSame = had->op == record.op && had->operands == record.operands &&
                                had->attrs == record.attrs;
            if (!isSame && record.kind == NodeKind::Op) changed.push_back(record.id);
        }
        for (const NodeId id : patch.from) m_ruleOf.try_emplace(id, &patch);
        for (const NodeId id : patch.moved) m_moved[id] = patch.nodes.back().id;
        bool overtakes = false;
        for (const auto& [from, to] : patch.replace) {
            m_replaced[from] = to;
            if (const NodePtr& had = m_before.findNode(from.node); had && sameBits(m_before, *had))
                m_castOf[had->operands[0]] = from;
            overtakes |= std::find(changed.begin(), changed.end(), to.node) != changed.end();
        }
        if (overtakes) m_overtaken.insert(changed.begin(), changed.end());
    }

    bool stays(ValueRef value) const
    {
        const NodePtr& node = m_after.findNode(value.node);
        return node && value.index < node->types.size() && !m_moved.contains(value.node);
    }

    void settleType(TrailedValue& trailed, ValueRef old) const
    {
        const SharedTypes& types = m_before.node(old.node).types;
        if (old.index >= types.size()) return; // nothing was known of it yet
        const TensorType& was = types[old.index];
        const TensorType& is = m_after.type(trailed.value);
        // Of open sizes more may be known now.
        const bool isAlike = is.dtype == was.dtype && is.shape.size() == was.shape.size();
        if (is == was || (isAlike && !constantShape(was.shape))) return;
        const auto rule = m_ruleOf.find(trailed.value.node);
        const std::string name = rule == m_ruleOf.end() ? "" : rule->second->rule;
        if (const auto step = retyped(name, was, is))
            trailed.form.insert(trailed.form.begin(), *step);
        else
            lose(trailed, trailed.value.node);
    }

    /// Holds on to the bits of the gone node in what its kernel returns, or to what it moved, or
    /// gives up.
    void retreat(TrailedValue& trailed) const
    {
        if (const auto cast = m_castOf.find(trailed.value); cast != m_castOf.end())
            return advanceAs(trailed, cast->second,
                             *sameBits(m_before, m_before.node(cast->second.node)));
        const NodeId gone = trailed.value.node;
        const NodePtr& node = m_before.findNode(gone);
        const auto step = node ? movedBy(m_before, *node) : std::nullopt;
        if (!step || m_overtaken.contains(gone)) return lose(trailed, gone);
        advanceAs(trailed, node->operands[0], *step);
    }

    /// `value` holds the trailed one in another form.
    void advanceAs(TrailedValue& trailed, ValueRef value, const FormStep& step) const
    {
        const NodeId gone = trailed.value.node;
        TrailedValue holder = trailed;
        holder.value = value;
        holder.form.insert(holder.form.begin(), step);
        advance(holder);
        if (holder.value.node.isValid())
            trailed = std::move(holder);
        else
            lose(trailed, gone);
    }

    void lose(TrailedValue& trailed, NodeId node) const
    {
        if (const auto moved = m_moved.find(node); moved != m_moved.end())
            trailed.kernel = moved->second;
        const auto rule = m_ruleOf.find(node);
        trailed.rule = rule == m_ruleOf.end() ? "dead-code" : rule->second->rule;
        trailed.reason = rule == m_ruleOf.end() ? "nobody reads it" : rule->second->reason;
        trailed.value = {};
    }

    const Module& m_before;
    const Module& m_after;
    std::unordered_map<ValueRef, ValueRef> m_replaced;
    std::unordered_map<ValueRef, ValueRef> m_castOf;   ///< of bytes: the cast that was replaced
    std::unordered_map<NodeId, const Patch*> m_ruleOf; ///< that consumed or changed the node
    std::unordered_map<NodeId, NodeId> m_moved;        ///< into the function of that call
    std::unordered_set<NodeId> m_overtaken; ///< changed to give what another node gave before
};

} // namespace

void ValueTrail::start(const Module& imported)
{
    m_values.clear();
    const GraphFunction& main = imported.main();
    for (const std::vector<NodeId>* nodes : {&main.params, &main.order})
        for (const NodeId id : *nodes)
            for (uint32_t i = 0; i < imported.node(id).resultCount(); ++i)
                m_values[{id, i}] = {.value = {id, i}};
}

void ValueTrail::step(const Module& before, std::span<const Patch> patches,
                      const AppliedPatches& applied, const Module& after)
{
    if (applied.changes.empty()) return;
    const Round round(before, patches, applied, after);
    for (auto& [value, trailed] : m_values) round.advance(trailed);
}

} // namespace tenon::compiler
