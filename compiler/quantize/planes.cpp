// SPDX-License-Identifier: Apache-2.0
// Copies of floats, element by element.
#include "compiler/quantize/planes.h"

namespace tenon::compiler {

Tensor planesOf(const Tensor& tensor)
{
    const std::vector<int64_t>& shape = tensor.shape();
    if (shape.size() != 4 || tensor.dtype() != kFloat32) return tensor;
    const auto values = tensor.as<float>();
    std::vector<float> out;
    out.reserve(values.size());
    for (int64_t n = 0; n < shape[0]; ++n)
        for (int64_t c = 0; c < shape[3]; ++c)
            for (int64_t place = 0; place < shape[1] * shape[2]; ++place)
                out.push_back(
                    values[static_cast<size_t>((n * shape[1] * shape[2] + place) * shape[3] + c)]);
    return Tensor::of<float>(kFloat32, {shape[0], shape[3], shape[1], shape[2]}, out);
}

Tensor frontSwapped(const Tensor& tensor)
{
    const std::vector<int64_t>& shape = tensor.shape();
    const auto values = tensor.as<float>();
    const auto each = static_cast<size_t>(shape[2] * shape[3]);
    std::vector<float> out;
    out.reserve(values.size());
    for (int64_t b = 0; b < shape[1]; ++b)
        for (int64_t a = 0; a < shape[0]; ++a) {
            const auto from = values.begin() +
                              static_cast<ptrdiff_t>(static_cast<size_t>(a * shape[1] + b) * each);
            out.insert(out.end(), from, from + static_cast<ptrdiff_t>(each));
        }
    return Tensor::of<float>(kFloat32, {shape[1], shape[0], shape[2], shape[3]}, out);
}

Tensor filtersOf(const Tensor& tensor)
{
    const Tensor planes = planesOf(tensor);
    const std::vector<int64_t>& shape = planes.shape();
    if (shape.size() != 4 || shape[0] != 1) return planes;
    const auto values = planes.as<float>();
    return Tensor::of<float>(kFloat32, {shape[1], 1, shape[2], shape[3]},
                             std::vector<float>(values.begin(), values.end()));
}

} // namespace tenon::compiler
