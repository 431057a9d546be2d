// SPDX-License-Identifier: Apache-2.0
// Dimensions as expressions of marked variables, and who takes them.
#include "compiler/ops/symbols.h"

#include "core/tensor/dim_products.h"

namespace tenon::compiler {
namespace {

/// Stands before the symbol in the name of its variables; no name of a loop has a space.
constexpr std::string_view kSymbolMark = "size ";

} // namespace

bool takesSymbols(std::string_view op)
{
    const OpDef* def = findOp(op);
    return def && (def->takesSymbols ||
                   (def->family == Family::Elementwise && def->pattern <= Pattern::Broadcast));
}

tir::Expr extentOf(const Dim& dim)
{
    tir::Expr sum(0);
    for (const DimProduct& product : productsOf(dim)) {
        tir::Expr term(product.coefficient);
        for (const std::string& symbol : product.symbols)
            term = term * tir::Expr(tir::makeVar(std::string(kSymbolMark) + symbol));
        sum = sum + term;
    }
    return sum;
}

std::optional<std::string> symbolOf(const tir::VarNode& var)
{
    if (!var.name.starts_with(kSymbolMark)) return std::nullopt;
    return var.name.substr(kSymbolMark.size());
}

std::optional<Shape> sizesAttr(const OpView& op)
{
    Shape out;
    for (const std::string& text : op.attrs.strings("sizes", {})) {
        const auto dim = parseDim(text);
        if (!dim) return std::nullopt;
        out.push_back(*dim);
    }
    if (out.empty()) return std::nullopt;
    return out;
}

tir::Expr productOf(const Exprs& extents)
{
    tir::Expr product(1);
    for (const tir::Expr& extent : extents) product = product * extent;
    return product;
}

} // namespace tenon::compiler
