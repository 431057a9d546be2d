// SPDX-License-Identifier: Apache-2.0
// Typed reads of operator attributes; an absent one has the default that its AttrSpec states.
#pragma once

#include "compiler/ops/op.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

int64_t intAttr(const OpView& op, std::string_view name);
double floatAttr(const OpView& op, std::string_view name);
bool flagAttr(const OpView& op, std::string_view name);
std::string stringAttr(const OpView& op, std::string_view name);
DataType dtypeAttr(const OpView& op, std::string_view name);
std::vector<int64_t> intsAttr(const OpView& op, std::string_view name);
std::vector<double> floatsAttr(const OpView& op, std::string_view name);

/// Checks names, types, list lengths and enumerated values against the operator's AttrSpecs, so
/// that the reads above cannot fail. BadAttribute names the attribute and what it may be.
Status checkAttrs(const OpDef& def, const Attrs& attrs);
/// Checks the number of operands against the OperandSpecs; BadOperandCount.
Status checkOperands(const OpDef& def, std::span<const TensorType> operands);

/// An error that begins with the operator's name: "`nn.dense` ...".
Diagnostic opError(const OpView& op, DiagnosticCode code, const std::string& message);
Diagnostic opError(std::string_view op, DiagnosticCode code, const std::string& message);

} // namespace tenon::compiler
