// SPDX-License-Identifier: Apache-2.0
// bind_dims: gives the integers of a tensor names as dimensions of shapes.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const auto shape = constantShape(data.shape);
    const std::vector<std::string> names = op.attrs.strings("names", {});
    if (!data.dtype.isInt() || !shape || shape->size() > 1 ||
        elementCount(*shape) != static_cast<int64_t>(names.size()))
        return opError(op, DiagnosticCode::BadAttribute,
                       "names " + std::to_string(names.size()) + " dimensions but its operand is " +
                           data.text());
    return Types{data};
}

Result<te::Tensors> lower(const OpView&, const te::Tensors& in)
{
    return te::Tensors{te::compute(
        "bind_dims", in[0]->shape(), [&](const Exprs& i) { return te::at(in[0], i); },
        "injective")};
}

Cost cost(const OpView&) { return {}; }

constexpr OperandSpec kOperands[] = {{"data", "integers, a scalar or of rank 1"}};
constexpr AttrSpec kAttrs[] = {{"names", "string[]", "one name per element"}};

} // namespace

extern constinit const OpDef bindDimsOp = {
    .name = "bind_dims",
    .doc = "y = data; from here on the names stand for its elements in shapes",
    .family = Family::Control,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2,), int64] => bind_dims(%x, names=s[\"n\", \"m\"])",
};

} // namespace tenon::compiler
