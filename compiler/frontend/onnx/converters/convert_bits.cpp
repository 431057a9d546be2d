// SPDX-License-Identifier: Apache-2.0
// Operators on the bits of numbers: shifts and reinterpretation.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"

namespace tenon::compiler {

void convertBitShift(OnnxNode& node)
{
    const std::string direction = node.string("direction", "");
    const bool isLeft = direction == "LEFT";
    const DataType dtype = node.type(0).dtype;
    if (node.hasFailed()) return;
    if ((!isLeft && direction != "RIGHT") || !dtype.isInt() || dtype.isSigned()) {
        node.fail(DiagnosticCode::BadAttribute,
                  "direction is " + quoted(direction) + " and the input " + dtype.text() +
                      "; LEFT and RIGHT shift unsigned integers",
                  "direction");
        return;
    }
    // Shifting by all bits or more gives 0; the machine's shift would not.
    Formula f(node);
    const ValueRef x = node.input(0), count = node.input(1);
    const ValueRef width = node.scalar(dtype.bits, dtype);
    const ValueRef isInside = f.call("less", {count, width});
    const ValueRef shifted = f.call(isLeft ? "left_shift" : "right_shift",
                                    {x, f.where(isInside, count, node.scalar(0, dtype))});
    node.output(0, f.where(isInside, shifted, node.scalar(0, dtype)));
}

void convertBitCast(OnnxNode& node)
{
    const auto code = static_cast<int32_t>(node.integer("to", 0));
    const auto dtype = dataTypeOf(code);
    if (node.hasFailed()) return;
    if (!dtype) {
        node.fail(DiagnosticCode::UnsupportedDtype, onnxTypeName(code) + " cannot be computed with",
                  "to");
        return;
    }
    node.output(0, node.emit("reinterpret", {node.input(0)}, {{"dtype", *dtype}}));
}

} // namespace tenon::compiler
