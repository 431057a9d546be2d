// SPDX-License-Identifier: Apache-2.0
// Legalize: quantized activations get the signedness that the target's dot product multiplies with
// signed weights. A value and its zero point move by 128 together, so every real value stays what
// it was, bit for bit. Needs types and folded constants; stands before AlterOpLayout. All patches
// belong together: a reader relies on the type its producer got.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/quantize/quantized_values.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/use_index.h"
#include "core/base/text.h"
#include "core/ir/tir/byte_table.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {
namespace {

constexpr int64_t kHalf = 128;

/// int8 values of one function become uint8, or the other way round, where every reader can follow.
class Legalizer
{
public:
    Legalizer(const Module& module, const GraphFunction& function, DataType to)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
        , m_to(to)
        , m_from(to == kUInt8 ? kInt8 : kUInt8)
        , m_shift(to == kUInt8 ? kHalf : -kHalf)
    {
    }

    Patches run()
    {
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            if (node.kind != NodeKind::Op) continue;
            PatchWriter patch(m_module, m_function.id,
                              m_to == kUInt8 ? "unsigned-activations" : "signed-activations",
                              nodeLabel(m_module, node) + " reads or writes " + m_to.text() +
                                  ", the zero point moved by " + std::to_string(m_shift),
                              {id});
            m_patch = &patch;
            m_isTouched = false;
            NodeRecord record = node;
            rewrite(record);
            if (!m_isTouched) continue;
            record.types.clear();
            patch.change(std::move(record));
            m_patches.push_back(patch.take());
        }
        return std::move(m_patches);
    }

private:
    DataType typeOf(ValueRef value) const { return m_module.type(value).dtype; }
    bool isOther(ValueRef value) const { return value.node.isValid() && typeOf(value) == m_from; }
    bool isMoved(ValueRef value) const { return m_moved.count(value) > 0; }
    /// The result may change its type: the function does not return it.
    bool mayMove(const NodeRecord& node) const
    {
        return node.types.size() == 1 && node.types[0].dtype == m_from && !m_uses.isResult(node.id);
    }
    void move(const NodeRecord& node)
    {
        m_moved.insert({node.id, 0});
        m_isTouched = true;
    }

    ValueRef scalar(DataType dtype, int64_t value)
    {
        return m_patch->constant(Tensor::make(
            dtype, {}, [&](std::span<std::byte> bytes) { storeInteger(dtype, bytes, 0, value); }));
    }

    /// The zero point operand of a value that moved; absent means zero. Nothing when unknown.
    ValueRef movedZero(ValueRef zero)
    {
        const int64_t value =
            zero.node.isValid() ? static_cast<int64_t>(scalarOf(m_module, zero).value_or(0)) : 0;
        return scalar(m_to, value + m_shift);
    }
    bool isKnownZero(const NodeRecord& node, size_t operand) const
    {
        return node.operands.size() <= operand || !node.operands[operand].node.isValid() ||
               scalarOf(m_module, node.operands[operand]).has_value();
    }

    ValueRef converted(ValueRef value, DataType to)
    {
        m_isTouched = true;
        const ValueRef mask = to == kUInt8 ? scalar(kInt8, -kHalf) : scalar(kUInt8, kHalf);
        return m_patch->op(castOp, {m_patch->op(bitwiseXorOp, {value, mask})}, {{"dtype", to}});
    }

    /// What `node` reads is as it was before.
    void convertBack(NodeRecord& node)
    {
        for (ValueRef& operand : node.operands) {
            if (const auto flipped = m_flipped.find(operand); flipped != m_flipped.end()) {
                operand = m_patch->op(bitwiseXorOp, {flipped->second, scalar(kUInt8, kHalf)});
                m_isTouched = true;
            } else if (isMoved(operand)) {
                operand = converted(operand, m_from);
            }
        }
    }

    ValueRef asMoved(ValueRef value) { return isMoved(value) ? value : converted(value, m_to); }

    void addTo(NodeRecord& node, const char* attr, int64_t fallback)
    {
        node.attrs.set(attr, node.attrs.integer(attr, fallback) + m_shift);
        m_isTouched = true;
    }

    void rewrite(NodeRecord& node)
    {
        if (passesBits(node)) return;
        if (isOp(node, takeOp)) return lookUp(node);
        if (std::any_of(node.operands.begin(), node.operands.end(),
                        [&](ValueRef v) { return m_flipped.contains(v); }))
            return convertBack(node);
        if (isOp(node, qnnQuantizeOp)) return quantize(node);
        if (isOp(node, qnnRequantizeOp)) return requantize(node);
        if (isOp(node, qnnAddOp) || isOp(node, qnnMulOp)) return binary(node);
        if (isOp(node, qnnConv2dOp) || isOp(node, qnnDenseOp)) return layer(node);
        if (isOp(node, qnnDequantizeOp) && isKnownZero(node, 2) && isMoved(node.operands[0])) {
            node.operands.resize(3);
            node.operands[2] = movedZero(node.operands[2]);
            m_isTouched = true;
            return;
        }
        if (isOp(node, splitOp) && isMoved(node.operands[0]) && !m_uses.isResult(node.id))
            return parts(node);
        if (movesValues(node)) return movement(node);
        convertBack(node);
    }

    /// All results of a split.
    void parts(const NodeRecord& node)
    {
        for (uint32_t i = 0; i < node.resultCount(); ++i) m_moved.insert({node.id, i});
        m_isTouched = true;
    }

    void quantize(NodeRecord& node)
    {
        if (!mayMove(node) || !isKnownZero(node, 2) || !constantOf(m_module, node.operands[1]) ||
            constantOf(m_module, node.operands[1])->size() != 1)
            return;
        node.operands.resize(3);
        node.operands[2] = movedZero(node.operands[2]);
        node.attrs.set("out_dtype", m_to);
        move(node);
    }

    void requantize(NodeRecord& node)
    {
        if (isMoved(node.operands[0])) addTo(node, "input_zero_point", 0);
        if (!mayMove(node) || !isKnownZero(node, 2)) return;
        node.operands.resize(std::max<size_t>(node.operands.size(), 3));
        node.operands[2] = movedZero(node.operands[2]);
        moveLimits(node);
    }

    void moveLimits(NodeRecord& node)
    {
        for (const char* limit : {"a_min", "a_max"})
            if (node.attrs.has(limit)) addTo(node, limit, 0);
        node.attrs.set("out_dtype", m_to);
        move(node);
    }

    void binary(NodeRecord& node)
    {
        const char* zeros[] = {"lhs_zero_point", "rhs_zero_point"};
        for (size_t i = 0; i < 2; ++i)
            if (isMoved(node.operands[i])) addTo(node, zeros[i], 0);
        if (!mayMove(node)) return;
        addTo(node, "output_zero_point", 0);
        moveLimits(node);
    }

    /// Only the data changes; weights stay signed.
    void layer(NodeRecord& node)
    {
        node.operands.resize(std::max<size_t>(node.operands.size(), 3));
        if (!isOther(node.operands[0])) return;
        if (!isKnownZero(node, 2) || !constantOf(m_module, node.operands[1])) {
            convertBack(node);
            return;
        }
        node.operands[0] = asMoved(node.operands[0]);
        node.operands[2] = movedZero(node.operands[2]);
        m_isTouched = true;
    }

    /// A table of results: its integers move. Where the bits that it is looked up with are those of
    /// a value that moved, it has their order.
    void lookUp(NodeRecord& node)
    {
        const Tensor* known = constantOf(m_module, node.operands[0]);
        const bool isFlipped = known &&
                               known->shape() == std::vector<int64_t>{tir::kByteTableEntries} &&
                               followIndex(node.operands[1]);
        if (!isFlipped) convertBack(node);
        if (!known || (!isFlipped && !mayMove(node))) return;
        Tensor table = isFlipped ? withSignBitFlipped(*known) : *known;
        if (mayMove(node)) {
            table = shifted(table);
            move(node);
        }
        node.operands[0] = m_patch->constant(std::move(table));
        m_isTouched = true;
    }

    /// An index that is the bits of a moved value, as it is from now on.
    bool followIndex(ValueRef& index)
    {
        if (const auto flipped = m_flipped.find(index); flipped != m_flipped.end())
            index = flipped->second;
        else if (isMoved(index) && m_to == kInt8)
            index = m_patch->op(castOp, {index}, {{"dtype", kUInt8}});
        else
            return false;
        return true;
    }

    /// Bits of a moved value on their way to a table of bytes: the table follows, which costs
    /// nothing, where converting back would take two operations for each element.
    bool passesBits(NodeRecord& node)
    {
        if (node.types.size() != 1 || node.types[0].dtype != kUInt8 || m_uses.isResult(node.id))
            return false;
        const ValueRef result{node.id, 0};
        const ValueRef operand = node.operands.empty() ? ValueRef() : node.operands[0];
        if (isOp(node, castOp) && isMoved(operand)) {
            m_isTouched = true;
            m_flipped[result] = m_to == kUInt8 ? operand : result;
            return true;
        }
        const auto flipped = m_flipped.find(operand);
        const bool movesOne = isOneOf(node, reshapeOp, transposeOp) ||
                              (isOp(node, stridedSliceOp) && node.operands.size() == 1);
        if (flipped == m_flipped.end() || !movesOne) return false;
        m_isTouched = true;
        node.operands[0] = flipped->second;
        m_flipped[result] = result;
        return true;
    }

    Tensor shifted(const Tensor& table) const
    {
        return Tensor::make(m_to, table.shape(), [&](std::span<std::byte> bytes) {
            for (int64_t i = 0; i < table.size(); ++i)
                storeInteger(m_to, bytes, i, table.integer(i) + m_shift);
        });
    }

    static bool movesValues(const NodeRecord& node)
    {
        return factsOf(node).choosesValues ||
               isOneOf(node, concatenateOp, clipOp, cutPatchesOp, joinPatchesOp, stackFramesOp,
                       maximumOp, minimumOp) ||
               (isOp(node, padOp) && node.operands.size() == 1) ||
               (isOp(node, resize2dOp) && node.attrs.string("method", "linear") == "nearest");
    }

    void movement(NodeRecord& node)
    {
        const bool any = std::any_of(node.operands.begin(), node.operands.end(),
                                     [&](ValueRef v) { return isMoved(v); });
        if (!any) return;
        if (!mayMove(node)) {
            convertBack(node);
            return;
        }
        for (ValueRef& operand : node.operands) operand = asMoved(operand);
        const auto add = [&](const char* attr) {
            node.attrs.set(attr, node.attrs.number(attr, 0) + static_cast<double>(m_shift));
        };
        if (isOneOf(node, padOp, cutPatchesOp)) add("pad_value");
        if (isOp(node, stackFramesOp)) addTo(node, "pad_value", 0);
        if (isOp(node, clipOp)) {
            add("a_min");
            add("a_max");
        }
        move(node);
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
    DataType m_to;
    DataType m_from;
    int64_t m_shift;                      ///< from zero points of the old type to those of the new
    std::unordered_set<ValueRef> m_moved; ///< of the old type in `m_module`, of the new from now on
    /// Bytes with the highest bit the other way from now on, and who holds them.
    std::unordered_map<ValueRef, ValueRef> m_flipped;
    PatchWriter* m_patch = nullptr;
    bool m_isTouched = false;
    Patches m_patches;
};

} // namespace

Result<Patches> runQnnLegalize(const Module& module, const PassContext& context)
{
    const auto to = context.code.byteProducts;
    if (!to) return Patches();
    return rewriteFunctions<Legalizer>(module, *to);
}

} // namespace tenon::compiler
