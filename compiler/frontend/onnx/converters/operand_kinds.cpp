// SPDX-License-Identifier: Apache-2.0
// Finds the row of operand_kinds.def and refuses other elements.
#include "compiler/frontend/onnx/converters/operand_kinds.h"

namespace tenon::compiler {
namespace {

enum class Kind : uint8_t
{
    Numbers,
    Floats
};

struct Row
{
    std::string_view op;
    Kind kind;
};

constexpr Row kRows[] = {
#define KIND(op, kind) {op, Kind::kind},
#include "compiler/frontend/onnx/converters/operand_kinds.def"
#undef KIND
};

} // namespace

void checkOperandKind(OnnxNode& node, std::string_view key)
{
    if (node.inputCount() == 0 || !node.isTyped(0)) return;
    const DataType dtype = node.type(0).dtype;
    for (const Row& row : kRows) {
        if (row.op != key) continue;
        if (row.kind == Kind::Floats && !dtype.isFloat())
            node.fail(DiagnosticCode::DtypeMismatch,
                      "the standard wants floats but input 0 is " + dtype.text());
        if (row.kind == Kind::Numbers && dtype.isBool())
            node.fail(DiagnosticCode::DtypeMismatch,
                      "the standard wants numbers but input 0 is bool");
    }
}

} // namespace tenon::compiler
