// SPDX-License-Identifier: Apache-2.0
// What rules share: reading constants and shapes, and writing patches.
#pragma once

#include "compiler/ops/ops.h"
#include "compiler/passes/use_index.h"
#include "core/ir/change_set.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// A patch under construction; new nodes go behind the last of `from`.
class PatchWriter
{
public:
    PatchWriter(const Module& module, FunctionId function, std::string rule, std::string reason,
                std::vector<NodeId> from);

    ValueRef op(const OpDef& op, std::vector<ValueRef> operands, Attrs attrs = {});
    /// The operator of `node` on `first` in place of its first operand.
    ValueRef opOn(const NodeRecord& node, ValueRef first);
    ValueRef constant(Tensor value, std::string name = {});
    /// One number everywhere, as binary32; dimensions may be open.
    ValueRef filled(float value, const Shape& shape);
    /// `value` with its constant reshaped: in place when it has one reader (it then joins
    /// `from`), else a new constant of the same bytes.
    ValueRef reshapedConstant(ValueRef value, std::vector<int64_t> shape, const UseIndex& uses);
    /// A new record under the existing id; its types are inferred again when `types` is empty.
    void change(NodeRecord record);
    void replace(ValueRef from, ValueRef to) { m_patch.replace.emplace_back(from, to); }
    void erase(NodeId id) { m_patch.erase.push_back(id); }
    /// All uses of the single result of `id` become `to`, and `id` disappears.
    void replaceAndErase(NodeId id, ValueRef to);
    Patch take() { return std::move(m_patch); }

private:
    const Module& m_module;
    Patch m_patch;
};

/// The node behind `value` when it applies `op`, `readers` nodes read it and nothing else needs it.
const NodeRecord* operatorBehind(const Module& module, const UseIndex& uses, ValueRef value,
                                 const OpDef& op, size_t readers = 1);
/// The value of a Constant node, or null.
const Tensor* constantOf(const Module& module, ValueRef value);
/// Its only element as a double, when `value` is a constant of one element.
std::optional<double> scalarOf(const Module& module, ValueRef value);
/// Operators of equal elements, which do the same in any order of axes.
bool isElementwise(const OpDef& op);
/// qnn.quantize or qnn.dequantize with one scale and zero point for all elements.
bool convertsByOneScale(const Module& module, const NodeRecord& node);
/// Type of a value whose dimensions are all known.
std::optional<std::vector<int64_t>> knownShape(const Module& module, ValueRef value);
/// Node text for reasons: its name, or its operator and where that comes from. Without the id: the
/// next run of the passes hands out others, and a reason is the same every time.
std::string nodeLabel(const Module& module, const NodeRecord& node);
/// `axis` counted from the end when negative.
int64_t normalizedAxis(int64_t axis, size_t rank);

} // namespace tenon::compiler
