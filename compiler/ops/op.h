// SPDX-License-Identifier: Apache-2.0
// OpDef: everything there is to know about one operator, as plain data; ops.def lists them.
#pragma once

#include "compiler/te/te.h"
#include "core/base/result.h"
#include "core/ir/attr.h"
#include "core/ir/module.h"
#include "core/ir/type.h"

#include <span>
#include <string>
#include <string_view>

namespace tenon::compiler {

using namespace core;

/// Fusion category, with TVM's numbers (tvm FuseOps).
enum class Pattern : uint8_t
{
    Elementwise = 0,
    Broadcast = 1,
    Injective = 2,
    Reduction = 3,
    OutEwiseFusable = 4,
    Opaque = 8
};

/// How far two correct evaluations may differ.
enum class Accuracy : uint8_t
{
    Exact,
    Rounding,
    Random
};

/// For the operator manual and the inspector: colour family and grouping.
enum class Family : uint8_t
{
    Convolution,
    Dense,
    Elementwise,
    Normalization,
    Pooling,
    Reduction,
    Layout,
    Movement,
    Control
};

struct OperandSpec
{
    std::string_view name;
    std::string_view doc;
    enum Arity : uint8_t
    {
        Required,
        Optional,
        Variadic
    } arity = Required;
};

struct AttrSpec
{
    std::string_view name;
    /// "int", "float", "string", "dtype", "int[]", "float[]", "string[]"; a length as in "int[2]"
    /// or a choice of strings as in "constant|edge" is checked.
    std::string_view type;
    std::string_view doc;
    std::string_view fallback =
        ""; ///< default as text ("1", "[1, 1]", "\"NCHW\""); empty: required
};

/// What infer, lower and cost may look at: attributes and types, never the graph.
struct OpView
{
    std::string_view op;
    const Attrs& attrs;
    std::span<const TensorType>
        operands; ///< absent optional operands: rank 0 handle type (see isPresent)
    std::span<const TensorType> results; ///< empty during infer

    bool isPresent(size_t i) const { return i < operands.size() && operands[i].dtype != kHandle; }
};

struct Cost
{
    double flops = 0; ///< multiply-add counts as 2
    double bytes = 0; ///< read + written, each tensor once
};

struct OpDef
{
    std::string_view name;
    std::string_view doc; ///< formula notation
    Family family = Family::Elementwise;
    std::span<const OperandSpec> operands;
    std::span<const AttrSpec> attrs;
    Accuracy accuracy = Accuracy::Rounding;
    Pattern pattern = Pattern::Opaque;
    Result<Types> (*infer)(const OpView&) = nullptr;
    /// One te tensor per result; `in` has one entry per operand, null for absent ones.
    Result<te::Tensors> (*lower)(const OpView&, const te::Tensors& in) = nullptr;
    Cost (*cost)(const OpView&) = nullptr; ///< null: elementwise cost (one flop per output element)
    /// Operand types and one application for the manual and the tests:
    /// "%x: Tensor[(1, 4), float32] => nn.relu(%x)".
    std::string_view example;
};

std::span<const OpDef* const> allOps(); ///< alphabetical
const OpDef* findOp(std::string_view name);

/// Result types of a node from its operand types; errors carry node name and operator.
Result<Types> inferTypes(const Module& module, const NodeRecord& node);
/// The operator's compute declarations; DynamicShape unless every shape is constant.
Result<te::Tensors> lowerOp(const OpView& op, const te::Tensors& in);
/// Multiply-accumulates, parameters etc. of one node; zero for unknown operators.
Cost costOf(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
