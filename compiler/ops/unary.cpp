// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of one operand: one row of unary.def each, one body for all.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

enum class Domain : uint8_t
{
    Number,
    Float,
    Integer,
    Bool,
    FloatToBool
};

tir::Expr signOf(const tir::Expr& x)
{
    const tir::Expr zero = tir::zeroOf(x->dtype), one = tir::oneOf(x->dtype);
    return tir::select(x > zero, one, tir::select(x < zero, zero - one, zero));
}

/// The negative of 0 is -0, which 0 - x is not.
tir::Expr negated(const tir::Expr& x)
{
    return x->dtype.isFloat() ? x * tir::floatImm(-1, x->dtype) : tir::zeroOf(x->dtype) - x;
}

/// Whether a float's result jumps.
enum class Curve : uint8_t
{
    Smooth,
    Step
};

struct Row
{
    std::string_view name;
    Domain domain;
    tir::Expr (*formula)(const tir::Expr& x);
};

constexpr Row kRows[] = {
#define UNARY(id, name, doc, accuracy, domain, curve, formula)                                     \
    {name, Domain::domain, [](const tir::Expr& x) -> tir::Expr { return formula; }},
#include "compiler/ops/unary.def"
#undef UNARY
};

const Row& rowOf(std::string_view name)
{
    for (const Row& row : kRows)
        if (row.name == name) return row;
    CHECK(false) << name;
    return kRows[0];
}

bool accepts(Domain domain, DataType dtype)
{
    switch (domain) {
    case Domain::Number: return dtype.isFloat() || (dtype.isInt() && !dtype.isBool());
    case Domain::Float:
    case Domain::FloatToBool: return dtype.isFloat();
    case Domain::Integer: return dtype.isInt() && !dtype.isBool();
    case Domain::Bool: return dtype.isBool();
    }
    return false;
}

const char* domainText(Domain domain)
{
    switch (domain) {
    case Domain::Number: return "numbers";
    case Domain::Float:
    case Domain::FloatToBool: return "floats";
    case Domain::Integer: return "integers";
    case Domain::Bool: return "bool";
    }
    return "";
}

Result<Types> infer(const OpView& op)
{
    const Domain domain = rowOf(op.op).domain;
    TensorType type = op.operands[0];
    if (!accepts(domain, type.dtype))
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       std::string("takes ") + domainText(domain) + " but the operand is " +
                           type.text());
    if (domain == Domain::FloatToBool) type.dtype = kBool;
    return Types{type};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Row& row = rowOf(op.op);
    std::string name(row.name.substr(row.name.rfind('.') + 1));
    return te::Tensors{te::compute(
        std::move(name), in[0]->shape(),
        [&](const Exprs& i) { return row.formula(te::at(in[0], i)); }, "elemwise")};
}

constexpr OperandSpec kOperands[] = {{"x", "any shape"}};

} // namespace

#define UNARY(id, opName, opDoc, opAccuracy, domain, curve, formula)                               \
    extern constinit const OpDef id##Op = {                                                        \
        .name = opName,                                                                            \
        .doc = opDoc,                                                                              \
        .family = Family::Elementwise,                                                             \
        .operands = kOperands,                                                                     \
        .accuracy = Accuracy::opAccuracy,                                                          \
        .pattern = Pattern::Elementwise,                                                           \
        .isStep = Curve::curve == Curve::Step,                                                     \
        .infer = infer,                                                                            \
        .lower = lower,                                                                            \
        .example = Domain::domain == Domain::Bool ? "%x: Tensor[(2, 8), bool] => " opName "(%x)"   \
                   : Domain::domain == Domain::Integer                                             \
                       ? "%x: Tensor[(2, 8), int32] => " opName "(%x)"                             \
                       : "%x: Tensor[(2, 8), float32] => " opName "(%x)",                          \
    };
#include "compiler/ops/unary.def"
#undef UNARY

} // namespace tenon::compiler
