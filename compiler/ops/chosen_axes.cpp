// SPDX-License-Identifier: Apache-2.0
// For operators that choose values: along which axes they choose, and from how many.
#include "compiler/ops/chosen_axes.h"

#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

/// Operators whose indices are tuples along the last axis.
bool takesTuples(std::string_view op) { return op == "gather_nd" || op == "scatter_nd"; }

} // namespace

std::vector<size_t> chosenAxes(std::string_view op, const Attrs& attrs, const Shape& data,
                               const Shape& indices)
{
    std::vector<size_t> out;
    if (takesTuples(op) && !indices.empty() && indices.back().isConst()) {
        const auto first = static_cast<size_t>(attrs.integer("batch_dims", 0));
        const auto depth = static_cast<size_t>(indices.back().value());
        for (size_t axis = first; axis < first + depth && axis < data.size(); ++axis)
            out.push_back(axis);
    } else if (op == "take" || op == "gather" || op == "scatter_elements") {
        const int64_t axis = attrs.integer("axis", 0);
        const auto rank = static_cast<int64_t>(data.size());
        if (axis >= -rank && axis < rank)
            out.push_back(static_cast<size_t>(axis < 0 ? axis + rank : axis));
    }
    return out;
}

Dim choiceCount(std::string_view op, const Shape& indices)
{
    Dim out(1);
    for (size_t i = 0; i < indices.size() - (takesTuples(op) ? 1 : 0); ++i) out = out * indices[i];
    return out;
}

Status needChoices(const OpView& op)
{
    const Shape &data = op.operands[0].shape, &indices = op.operands[1].shape;
    const Dim count = choiceCount(op.op, indices);
    if (!count.isConst() || count.value() == 0) return kDone;
    for (const size_t axis : chosenAxes(op.op, op.attrs, data, indices))
        if (data[axis] == Dim(0))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "chooses from axis " + std::to_string(axis) + " of " +
                               op.operands[0].text() + ", which has no elements");
    return kDone;
}

} // namespace tenon::compiler
