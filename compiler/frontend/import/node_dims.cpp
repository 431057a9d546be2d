// SPDX-License-Identifier: Apache-2.0
// Dimensions out of data and data out of dimensions.
#include "compiler/frontend/import/node_import.h"
#include "core/base/text.h"

namespace tenon::compiler {

bool NodeImport::isRuntime(size_t input) const
{
    return has(input) && !m_inputs[input]->constant && !m_inputs[input]->dims;
}

std::vector<Dim> NodeImport::boundDims(size_t input)
{
    if (hasFailed()) return {};
    if (has(input) && m_inputs[input]->dims) return **dims(input);
    if (const Tensor* value = constant(input)) {
        const std::vector<int64_t> known = value->integers();
        return {known.begin(), known.end()};
    }
    return boundDims(this->input(input));
}

std::vector<Dim> NodeImport::boundDims(ValueRef value)
{
    if (hasFailed()) return {};
    const TensorType type = typeOf(value);
    const auto shape = constantShape(type.shape);
    if (!shape || shape->size() > 1 || !type.dtype.isInt()) {
        fail(DiagnosticCode::DynamicShape,
             "sizes are computed as " + type.text() +
                 "; only a known number of integers can become a shape");
        return {};
    }
    std::vector<std::string> names;
    std::vector<Dim> out;
    for (int64_t i = 0; i < elementCount(*shape); ++i) {
        names.push_back(m_state.newSize());
        out.push_back(Dim::symbol(names.back()));
    }
    if (!names.empty()) emit("bind_dims", {value}, {{"names", names}});
    return out;
}

ValueRef NodeImport::sizesOf(const Shape& shape)
{
    if (const auto known = constantShape(shape))
        return constantNode(
            Tensor::of<int64_t>(kInt64, {static_cast<int64_t>(known->size())}, *known));
    std::vector<std::string> sizes;
    for (const Dim& dim : shape) sizes.push_back(dim.text());
    return emit("sizes", {}, {{"sizes", sizes}});
}

ValueRef NodeImport::sizeOf(const Dim& dim)
{
    if (dim.isConst())
        return constantNode(Tensor::of<int64_t>(kInt64, {}, std::vector<int64_t>{dim.value()}));
    return emit("sizes", {},
                {{"sizes", std::vector<std::string>{dim.text()}}, {"scalar", int64_t{1}}});
}

} // namespace tenon::compiler
