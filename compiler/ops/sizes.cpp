// SPDX-License-Identifier: Apache-2.0
// sizes: symbolic dimensions as data.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const auto sizes = sizesAttr(op);
    const bool isScalar = flagAttr(op, "scalar");
    if (!sizes || (isScalar && sizes->size() != 1))
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs dimensions in sizes, as a scalar exactly one");
    const auto count = static_cast<int64_t>(sizes->size());
    return Types{{kInt64, isScalar ? Shape{} : Shape{Dim(count)}}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors&)
{
    const Exprs sizes = extents(*sizesAttr(op));
    const auto element = [&](const Exprs& i) {
        tir::Expr out = sizes.back();
        for (size_t k = sizes.size() - 1; k-- > 0 && !i.empty();)
            out = tir::select(equal(i[0], tir::Expr(static_cast<int64_t>(k))), sizes[k], out);
        return out;
    };
    return te::Tensors{te::compute("sizes", extents(op.results[0].shape), element, "injective")};
}

Cost cost(const OpView&) { return {}; }

constexpr AttrSpec kAttrs[] = {{"sizes", "string[]", "dimensions as text, such as \"2*batch\""},
                               {"scalar", "int", "1: the only dimension as a scalar", "0"}};

} // namespace

extern constinit const OpDef sizesOp = {
    .name = "sizes",
    .doc = "y[i] = dimension i of `sizes`",
    .family = Family::Movement,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "=> sizes(sizes=s[\"2\", \"3\"])",
};

} // namespace tenon::compiler
