// SPDX-License-Identifier: Apache-2.0
// What a definition means for the operands and attributes of one node: result types, and compute
// declarations.
#pragma once

#include "compiler/ops/defined/definition.h"
#include "compiler/ops/op.h"

#include <map>

namespace tenon::compiler {

/// The names of a definition bound to a node's types.
struct DefinedBindings
{
    std::map<std::string, DataType> types;
    std::map<std::string, Dim> dims;
    std::map<std::string, Shape> packs;
    std::map<std::string, AttrValue> attrs;
};

/// Errors name the operand and what it should be: BadOperandCount, ShapeMismatch, UnsupportedDtype,
/// BadAttribute.
Result<DefinedBindings> bindDefinition(const Definition& definition, const OpView& op);

/// Type of a declared tensor. Errors: BadText for a type or a pack that no operand tells,
/// ShapeMismatch for a size below 0.
Result<TensorType> definedType(const Definition& definition, const DefinedBindings& bindings,
                               const DeclaredTensor& tensor);

/// Error BadAttribute, with the definition's own words, where the sizes at hand break it.
Status checkRequirement(const Definition& definition, const DefinedBindings& bindings,
                        const Term& requirement);

/// Types of the results. Errors: a size below 0, ShapeMismatch; a requirement that does not hold,
/// BadAttribute; where all shapes are constant, an access that is not proven to be inside, BadText.
Result<Types> definedTypes(const Definition& definition, const OpView& op);

/// One tensor for each result. Types that do not fit are BadText with the line in the definition.
Result<te::Tensors> declareDefined(const Definition& definition, const DefinedBindings& bindings,
                                   const te::Tensors& in);

} // namespace tenon::compiler
