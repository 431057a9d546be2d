// SPDX-License-Identifier: Apache-2.0
// Sparse tensors; every index is checked before it is used.
#include "compiler/frontend/onnx/file/sparse_tensor.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstring>

namespace tenon::compiler {
namespace {

constexpr int64_t kMaxBytes = int64_t{64} << 20;

Diagnostic badSparse(const tenon_onnx::SparseTensorProto& proto, const std::string& what)
{
    return makeError(DiagnosticCode::BadModel,
                     "sparse tensor " + quoted(proto.values().name()) + " " + what,
                     {.detail = proto.values().name()});
}

/// Row-major position of the value `i`, or nothing when it is outside.
std::optional<int64_t> positionOf(const Tensor& indices, int64_t i,
                                  const std::vector<int64_t>& shape)
{
    if (indices.shape().size() == 1) {
        const int64_t at = indices.integer(i);
        return at >= 0 && at < elementCount(shape) ? std::optional<int64_t>(at) : std::nullopt;
    }
    int64_t flat = 0;
    const auto rank = static_cast<int64_t>(shape.size());
    for (int64_t d = 0; d < rank; ++d) {
        const int64_t at = indices.integer(i * rank + d), extent = shape[static_cast<size_t>(d)];
        if (at < 0 || at >= extent) return std::nullopt;
        flat = flat * extent + at;
    }
    return flat;
}

bool namesTwice(std::vector<int64_t> positions)
{
    std::sort(positions.begin(), positions.end());
    return std::adjacent_find(positions.begin(), positions.end()) != positions.end();
}

} // namespace

Result<Tensor> readSparseTensor(const tenon_onnx::SparseTensorProto& proto,
                                const TensorStorage& storage, std::vector<Diagnostic>& notes)
{
    auto values = readTensor(proto.values(), storage, notes);
    if (!values) return values.error();
    auto indices = readTensor(proto.indices(), storage, notes);
    if (!indices) return indices.error();
    const std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
    const int64_t size = values->dtype().bytes();
    int64_t bytes = size;
    for (const int64_t dim : shape)
        if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes) || bytes > kMaxBytes)
            return badSparse(proto, "would be too large written out; store it densely");
    const int64_t count = values->size();
    const bool isLinear = indices->shape() == std::vector<int64_t>{count};
    const bool isTuples =
        indices->shape() == std::vector<int64_t>{count, static_cast<int64_t>(shape.size())};
    if (values->shape().size() != 1 || indices->dtype() != kInt64 || (!isLinear && !isTuples))
        return badSparse(proto,
                         "has values " + values->typeText() + " at indices " + indices->typeText());
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < count; ++i) {
        const auto at = positionOf(*indices, i, shape);
        if (!at) return badSparse(proto, "has an index outside its shape");
        positions.push_back(*at);
    }
    if (namesTwice(positions)) return badSparse(proto, "names one place twice");
    return Tensor::make(values->dtype(), shape, [&](std::span<std::byte> out) {
        for (size_t i = 0; i < positions.size(); ++i)
            std::memcpy(out.data() + positions[i] * size,
                        values->bytes().data() + static_cast<int64_t>(i) * size,
                        static_cast<size_t>(size));
    });
}

} // namespace tenon::compiler
