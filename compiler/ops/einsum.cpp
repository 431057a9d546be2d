// SPDX-License-Identifier: Apache-2.0
// einsum: products of elements with equal letters, summed over the letters the result lacks.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

struct Equation
{
    std::vector<std::string> terms; ///< letters of each operand
    std::string result;
    std::string summed; ///< letters that the result lacks, in order of appearance
    std::map<char, Dim> extents;
};

bool isLetters(const std::string& term)
{
    return std::all_of(term.begin(), term.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

Diagnostic badEquation(const OpView& op, const std::string& why)
{
    return opError(op, DiagnosticCode::BadAttribute,
                   "has the equation " + quoted(stringAttr(op, "equation")) + ", " + why);
}

Result<Equation> equationOf(const OpView& op)
{
    const std::string text = stringAttr(op, "equation");
    const size_t arrow = text.find("->");
    if (arrow == std::string::npos) return badEquation(op, "which lacks \"->\"");
    Equation out;
    out.terms = split(text.substr(0, arrow), ',');
    out.result = text.substr(arrow + 2);
    if (out.terms.size() != op.operands.size())
        return badEquation(op, "which has " + std::to_string(out.terms.size()) + " terms for " +
                                   std::to_string(op.operands.size()) + " operands");
    for (size_t t = 0; t < out.terms.size(); ++t) {
        const std::string& term = out.terms[t];
        const Shape& shape = op.operands[t].shape;
        if (!isLetters(term) || term.size() != shape.size())
            return badEquation(op, "whose term " + quoted(term) + " does not fit " +
                                       op.operands[t].text());
        for (size_t i = 0; i < term.size(); ++i) {
            const auto [known, isNew] = out.extents.emplace(term[i], shape[i]);
            if (isNew && out.result.find(term[i]) == std::string::npos) out.summed += term[i];
            if (known->second == Dim(1)) known->second = shape[i];
            const auto agreed = agreedDim(known->second, shape[i]);
            if (agreed) known->second = *agreed;
            if (!agreed && !(shape[i] == Dim(1)))
                return opError(op, DiagnosticCode::ShapeMismatch,
                               "has the letter " + quoted(std::string(1, term[i])) + " stand for " +
                                   known->second.text() + " and " + shape[i].text());
        }
    }
    for (size_t i = 0; i < out.result.size(); ++i)
        if (!out.extents.contains(out.result[i]) || out.result.find(out.result[i]) != i)
            return badEquation(op, "whose result is no choice of the operands' letters");
    return out;
}

Result<Types> infer(const OpView& op)
{
    const auto equation = equationOf(op);
    if (!equation) return equation.error();
    for (size_t i = 1; i < op.operands.size(); ++i)
        if (const Status ok = needSameDtype(op, 0, i); !ok) return ok.error();
    if (op.operands[0].dtype.isBool())
        return opError(op, DiagnosticCode::UnsupportedDtype, "does not take bool; insert a cast");
    Shape shape;
    for (const char letter : equation->result) shape.push_back(equation->extents.at(letter));
    return Types{{op.operands[0].dtype, shape}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto equation = equationOf(op);
    if (!equation) return equation.error();
    const auto product = [&](const Exprs& i, const Exprs& k) {
        Expr out;
        for (size_t t = 0; t < in.size(); ++t) {
            Exprs at;
            for (const char letter : equation->terms[t]) {
                const size_t outer = equation->result.find(letter);
                const Expr index =
                    outer != std::string::npos ? i[outer] : k[equation->summed.find(letter)];
                at.push_back(in[t]->shape()[at.size()].isConstInt(1) ? Expr(0) : index);
            }
            const Expr factor = te::at(in[t], at);
            out = out ? out * factor : factor;
        }
        return out;
    };
    const Exprs shape = extents(op.results[0].shape);
    if (equation->summed.empty())
        return te::Tensors{te::compute(
            "einsum", shape, [&](const Exprs& i) { return product(i, {}); }, "elemwise")};
    Exprs summed;
    for (const char letter : equation->summed)
        summed.push_back(extentOf(equation->extents.at(letter)));
    return te::Tensors{te::reduce("einsum", shape, summed, te::Combiner::Sum, product, "reduce")};
}

Cost cost(const OpView& op)
{
    double steps = elements(op.results[0]);
    if (const auto equation = equationOf(op))
        for (const char letter : equation->summed)
            steps *= static_cast<double>(equation->extents.at(letter).constant().value_or(1));
    return {steps * static_cast<double>(op.operands.size()), bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"factors", "any shapes", OperandSpec::Variadic}};
constexpr AttrSpec kAttrs[] = {
    {"equation", "string", "a letter per dimension of each operand, then of the result"}};

} // namespace

extern constinit const OpDef einsumOp = {
    .name = "einsum",
    .doc = "y[result letters] = sum over the other letters of the product of all operands",
    .family = Family::Dense,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Reduction,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%a: Tensor[(2, 3, 4), float32], %b: Tensor[(4, 5), float32] "
               "=> einsum(%a, %b, equation=\"bij,jk->bik\")",
};

} // namespace tenon::compiler
