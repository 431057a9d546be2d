// SPDX-License-Identifier: Apache-2.0
// Dimensions as expressions of marked variables, and who takes them.
#include "compiler/ops/symbols.h"

#include "core/tensor/dim_products.h"

#include <algorithm>
#include <iterator>

namespace tenon::compiler {
namespace {

/// Stands before the symbol in the name of its variables; no name of a loop has a space.
constexpr std::string_view kSymbolMark = "size ";

/// Sorted. The lower() of these reads extents as expressions only.
constexpr std::string_view kTakeSymbols[] = {
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "bind_dims",
    "broadcast_to",
    "cast",
    "clip",
    "concatenate",
    "cumprod",
    "cumsum",
    "det",
    "dynamic_pad",
    "dynamic_reduce",
    "dynamic_slice",
    "einsum",
    "expand_dims",
    "full",
    "gather",
    "gather_nd",
    "image.resize2d",
    "max",
    "mean",
    "min",
    "nn.avg_pool2d",
    "nn.batch_norm",
    "nn.bias_add",
    "nn.contrib_dense_pack",
    "nn.conv",
    "nn.conv2d",
    "nn.conv2d_transpose",
    "nn.dense",
    "nn.dilate",
    "nn.global_avg_pool2d",
    "nn.global_max_pool2d",
    "nn.gru",
    "nn.leaky_relu",
    "nn.linear_attention",
    "nn.log_softmax",
    "nn.lstm",
    "nn.matmul",
    "nn.max_pool2d",
    "nn.pad",
    "nn.prelu",
    "nn.rnn",
    "nn.softmax",
    "nonzero",
    "prod",
    "qnn.conv2d",
    "qnn.dense",
    "qnn.dequantize",
    "qnn.quantize",
    "qnn.requantize",
    "reinterpret",
    "reshape",
    "scatter_elements",
    "scatter_nd",
    "shape_of",
    "sizes",
    "sliding_window",
    "split",
    "squeeze",
    "strided_slice",
    "sum",
    "take",
    "tile",
    "topk",
    "transpose",
    "unique",
    "vision.non_max_suppression",
    "where",
};

} // namespace

bool takesSymbols(std::string_view op)
{
    if (std::binary_search(std::begin(kTakeSymbols), std::end(kTakeSymbols), op)) return true;
    const OpDef* def = findOp(op);
    return def && def->family == Family::Elementwise && def->pattern <= Pattern::Broadcast;
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
