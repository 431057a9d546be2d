// SPDX-License-Identifier: Apache-2.0
// One check of inputs for every kind of session.
#include "remote/session/tensor_specs.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;

Result<std::vector<TensorSpec>> specsOf(const std::vector<core::ManifestTensor>& tensors)
{
    std::vector<TensorSpec> out;
    for (const core::ManifestTensor& tensor : tensors) {
        const Result<core::DataType> dtype = core::parseDataType(tensor.dtype);
        if (!dtype) return dtype.error();
        out.push_back({tensor.name, *dtype, tensor.shape});
    }
    return out;
}

Result<size_t> placeOfInput(const std::string& name, const core::Tensor& tensor,
                            const std::vector<TensorSpec>& specs, const ShapeRule& fits)
{
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&](const TensorSpec& s) { return s.name == name; });
    if (spec == specs.end())
        return makeError(DiagnosticCode::UnknownName,
                         "the model has no input " + core::quoted(name));
    if (spec->dtype != tensor.dtype() || !fits(spec->shape, tensor.shape()))
        return makeError(DiagnosticCode::ShapeMismatch,
                         "input " + core::quoted(name) + " is " + tensor.typeText() +
                             ", but the model was compiled for " + spec->dtype.text() + "(" +
                             core::join(spec->shape, ", ") + ")");
    return static_cast<size_t>(spec - specs.begin());
}

Status placeInputs(const NamedTensors& inputs, const std::vector<TensorSpec>& specs,
                   std::vector<core::Tensor>& values)
{
    for (const auto& [name, tensor] : inputs) {
        const Result<size_t> place = placeOfInput(name, tensor, specs, std::equal_to<>());
        if (!place) return place.error();
        values[*place] = tensor;
    }
    return core::kDone;
}

} // namespace tenon::remote
