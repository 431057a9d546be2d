// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of two operands: one row of binary.def each, one body for all.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

enum class Domain : uint8_t
{
    Number,
    Compare,
    Integer,
    Bool
};

Expr bits(tir::Intrinsic intrinsic, const Expr& a, const Expr& b)
{
    return tir::call(intrinsic, a->dtype, {a, b});
}

Expr floorQuotient(const Expr& a, const Expr& b)
{
    return a->dtype.isFloat() ? tir::call(tir::Intrinsic::Floor, a / b) : tir::floorDiv(a, b);
}

Expr floorRemainder(const Expr& a, const Expr& b)
{
    if (a->dtype.isInt()) return tir::floorMod(a, b);
    // The C remainder is exact; it only has to take the sign of b.
    const Expr rest = tir::binary(tir::ExprKind::Mod, a, b);
    const Expr zero = tir::zeroOf(a->dtype);
    const Expr isOpposite = notEqual(rest, zero) && notEqual(rest < zero, b < zero);
    return tir::select(isOpposite, rest + b, rest);
}

/// Integer powers go through double, which holds every result below 2^53; one that is a hair too
/// small there must not lose its last step.
Expr powerOf(const Expr& a, const Expr& b)
{
    if (a->dtype.isFloat()) return tir::call(tir::Intrinsic::Pow, a->dtype, {a, b});
    const Expr power =
        tir::call(tir::Intrinsic::Pow, kFloat64, {tir::cast(kFloat64, a), tir::cast(kFloat64, b)});
    return tir::cast(a->dtype, tir::call(tir::Intrinsic::Round, power));
}

/// Whether b divides, and whether the result jumps.
enum class Curve : uint8_t
{
    Plain,
    Quotient,
    StepQuotient
};

struct Row
{
    std::string_view name;
    Domain domain;
    Expr (*formula)(const Expr& a, const Expr& b);
};

constexpr Row kRows[] = {
#define BINARY(id, name, doc, accuracy, domain, curve, formula)                                    \
    {name, Domain::domain, [](const Expr& a, const Expr& b) -> Expr { return formula; }},
#include "compiler/ops/binary.def"
#undef BINARY
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
    const bool isNumber = dtype.isFloat() || (dtype.isInt() && !dtype.isBool());
    switch (domain) {
    case Domain::Number: return isNumber;
    case Domain::Compare: return isNumber || dtype.isBool();
    case Domain::Integer: return isNumber && dtype.isInt();
    case Domain::Bool: return dtype.isBool();
    }
    return false;
}

Result<Types> infer(const OpView& op)
{
    const Domain domain = rowOf(op.op).domain;
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    const DataType dtype = op.operands[0].dtype;
    if (!accepts(domain, dtype))
        return opError(op, DiagnosticCode::UnsupportedDtype, "does not take " + dtype.text());
    auto shape = broadcastShapes(op, op.operands[0].shape, op.operands[1].shape);
    if (!shape) return shape.error();
    return Types{{domain == Domain::Compare ? kBool : dtype, *std::move(shape)}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Row& row = rowOf(op.op);
    const Exprs shape = extents(op.results[0].shape);
    return te::Tensors{te::compute(
        std::string(row.name), shape,
        [&](const Exprs& i) {
            return row.formula(te::at(in[0], broadcastIndices(in[0]->shape(), i, shape)),
                               te::at(in[1], broadcastIndices(in[1]->shape(), i, shape)));
        },
        "elemwise")};
}

constexpr OperandSpec kOperands[] = {{"a", "any shape"}, {"b", "a shape that broadcasts with a"}};

#define OPERANDS(dtype) "%a: Tensor[(2, 3, 4), " dtype "], %b: Tensor[(3, 1), " dtype "] => "

} // namespace

#define BINARY(id, opName, opDoc, opAccuracy, domain, curve, formula)                              \
    extern constinit const OpDef id##Op = {                                                        \
        .name = opName,                                                                            \
        .doc = opDoc,                                                                              \
        .family = Family::Elementwise,                                                             \
        .operands = kOperands,                                                                     \
        .accuracy = Accuracy::opAccuracy,                                                          \
        .pattern = Pattern::Broadcast,                                                             \
        .divides = Curve::curve != Curve::Plain,                                                   \
        .isStep = Curve::curve == Curve::StepQuotient,                                             \
        .infer = infer,                                                                            \
        .lower = lower,                                                                            \
        .example = Domain::domain == Domain::Bool      ? OPERANDS("bool") opName "(%a, %b)"        \
                   : Domain::domain == Domain::Integer ? OPERANDS("int32") opName "(%a, %b)"       \
                                                       : OPERANDS("float32") opName "(%a, %b)",    \
    };
#include "compiler/ops/binary.def"
#undef BINARY

} // namespace tenon::compiler
