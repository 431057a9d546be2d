// SPDX-License-Identifier: Apache-2.0
// NodeRecord: what a node of the graph IR is in one module version; identity (NodeId) is apart from
// the record.
#pragma once

#include "core/base/id.h"
#include "core/ir/attr.h"
#include "core/ir/type.h"
#include "core/tensor/tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon::core {

using NodeId = Id<struct NodeTag>;
using FunctionId = Id<struct FunctionTag>;
using SourceId = Id<struct SourceTag>; ///< index into Module::sources()

/// One result of a node: the only kind of value there is.
struct ValueRef
{
    NodeId node;
    uint32_t index = 0;
    friend constexpr auto operator<=>(ValueRef, ValueRef) = default;
};

enum class NodeKind : uint8_t
{
    Parameter, ///< of a function
    Constant,  ///< `constant` holds the value
    Op,        ///< application of the operator `op`
    Call,      ///< application of graph function `callee` (a primitive function after FuseOps)
    CallTir,   ///< application of the loop function `kernel` (after LowerToTIR)
};

/// Kernel name of a CallTir that computes nothing: its result is its first operand under another
/// shape, and executors let both share storage.
inline constexpr const char* kNopKernel = "__nop";

/// Immutable once stored. Absent optional operands are ValueRefs with an invalid node.
struct NodeRecord
{
    NodeId id;
    NodeKind kind = NodeKind::Op;
    std::string op;     ///< operator name, e.g. "nn.conv2d"; empty for other kinds
    FunctionId callee;  ///< Call; CallTir: the primitive function it was lowered from
    std::string kernel; ///< CallTir: name of the PrimFunc in the module
    std::vector<ValueRef> operands;
    Attrs attrs;
    SharedTypes types; ///< one per result; empty before InferType
    std::shared_ptr<const Tensor> constant;
    std::vector<FunctionId> bodies; ///< nested functions of If/Loop/Scan
    std::vector<SourceId> origin;   ///< sorted, unique: the source nodes this one came from
    std::string name;               ///< readable name hint, need not be unique

    size_t resultCount() const { return types.empty() ? 1 : types.size(); }
};

using NodePtr = std::shared_ptr<const NodeRecord>;

/// The operator as people know it: an operator of the user's goes by the name in its definition.
std::string shownOperator(const NodeRecord& node);

/// Sorted union of two origin sets.
std::vector<SourceId> mergedOrigin(const std::vector<SourceId>& a, const std::vector<SourceId>& b);

} // namespace tenon::core

template <>
struct std::hash<tenon::core::ValueRef>
{
    size_t operator()(tenon::core::ValueRef v) const noexcept
    {
        return (uint64_t{v.node.value} << 8 ^ v.index) * 0x9e3779b97f4a7c15ull;
    }
};
