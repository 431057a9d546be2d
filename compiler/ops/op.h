// SPDX-License-Identifier: Apache-2.0
// OpDef: everything there is to know about one operator, as plain data; ops.def lists them.
#pragma once

#include "compiler/ops/op_kinds.h"
#include "compiler/te/te.h"
#include "core/artifact/call_method.h"
#include "core/base/result.h"
#include "core/ir/attr.h"
#include "core/ir/module.h"
#include "core/ir/type.h"
#include "core/target/target_facts.h"

#include <span>
#include <string>
#include <string_view>

namespace tenon::compiler {

using namespace core;

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
    /// Its sums are added in the order of the definition, as at opt level 0.
    bool hasOrderedSums = false;
    const core::TargetFacts* facts = nullptr; ///< of the target; null: none is chosen

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
    BlockedForm blockedForm = BlockedForm::None;
    /// Its first operand has a batch as its first axis and nothing else reads it.
    bool isBatched = false;
    /// A product of rows, which want to share one pass over the weights.
    bool isRowProduct = false;
    bool isRecurrent = false;
    /// Fuses with nothing, whatever its pattern says.
    bool standsAlone = false;
    /// Reads no more of its operands than it writes.
    bool readsPart = false;
    /// The operand's values in row-major order under another shape.
    bool onlyReshapes = false;
    /// Each value of the result is one of the operand's: integers that stand for it go the same
    /// way.
    bool choosesValues = false;
    /// Integers by operand 1, which may be 0.
    bool divides = false;
    /// A function of floats that jumps.
    bool isStep = false;
    /// Its lower() reads extents as expressions only; elementwise operators need not say it.
    bool takesSymbols = false;
    /// How it is computed, where an operator can be done in more than one way; `variant` where that
    /// depends on the node.
    CallMethod method = {};
    CallMethod (*variant)(const OpView&) = nullptr;
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
/// The facts of the node's operator; those of a definition that says nothing where it has none.
const OpDef& factsOf(const NodeRecord& node);

/// Of a node, as an OpView takes them: absent operands have handle type.
Types operandTypes(const Module& module, const NodeRecord& node);

/// Result types of a node from its operand types; errors carry node name and operator.
Result<Types> inferTypes(const Module& module, const NodeRecord& node);
/// The operator's compute declarations; DynamicShape unless every shape is constant.
Result<te::Tensors> lowerOp(const OpView& op, const te::Tensors& in);
/// Multiply-accumulates, parameters etc. of one node; zero for unknown operators.
Cost costOf(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
