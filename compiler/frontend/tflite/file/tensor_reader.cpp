// SPDX-License-Identifier: Apache-2.0
// Buffers as tensors.
#include "compiler/frontend/tflite/file/tensor_reader.h"

#include "compiler/frontend/tflite/file/element_types.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstring>

namespace tenon::compiler {
namespace {

Diagnostic badTensor(const TfliteTensor& tensor, const std::string& what)
{
    return makeError(DiagnosticCode::BadModel, "tensor " + quoted(tensor.name) + " " + what,
                     {.detail = tensor.name});
}

Diagnostic unsupported(const TfliteTensor& tensor, const std::string& what)
{
    return makeError(DiagnosticCode::UnsupportedDtype, "tensor " + quoted(tensor.name) + " " + what,
                     {.detail = tensor.name});
}

Result<int64_t> elementsOf(const TfliteTensor& tensor)
{
    int64_t count = 1;
    for (const int64_t dim : tensor.shape)
        if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > (int64_t{1} << 40))
            return badTensor(tensor, "has the impossible shape (" + join(tensor.shape, ", ") + ")");
    return count;
}

Diagnostic wrongSize(const TfliteTensor& tensor, size_t has, size_t needs)
{
    return badTensor(tensor, "has " + std::to_string(has) +
                                 " bytes of data but its type and shape need " +
                                 std::to_string(needs));
}

/// A small file must not fill the memory with zeros: what a sparse tensor may take when dense, in
/// bytes and in times of what is stored.
constexpr size_t kDenseBytes = size_t{64} << 20, kDenseTimes = 256;

/// The dense tensor of one whose zeros are left out.
Result<Tensor> spreadOut(const TfliteTensor& tensor, DataType dtype, int64_t count,
                         std::span<const std::byte> stored)
{
    if (tfliteNarrowType(tensor.type))
        return unsupported(tensor, "stores elements of less than a byte sparsely");
    const auto width = static_cast<size_t>(dtype.bytes());
    const size_t dense = static_cast<size_t>(count) * width;
    if (dense > std::max(kDenseBytes, kDenseTimes * stored.size()))
        return badTensor(tensor, "of shape (" + join(tensor.shape, ", ") + ") stores only " +
                                     std::to_string(stored.size()) + " bytes");
    const auto places = sparsePlaces(*tensor.sparsity, tensor.shape);
    if (!places) return badTensor(tensor, "has " + places.error().message);
    if (stored.size() != places->size() * width)
        return wrongSize(tensor, stored.size(), places->size() * width);
    return Tensor::make(dtype, tensor.shape, [&](std::span<std::byte> out) {
        std::fill(out.begin(), out.end(), std::byte{0});
        for (size_t i = 0; i < places->size(); ++i)
            std::memcpy(out.data() + static_cast<size_t>((*places)[i]) * width,
                        stored.data() + i * width, width);
    });
}

} // namespace

Result<Tensor> readTfliteTensor(const TfliteModel& model, const TfliteTensor& tensor)
{
    const auto dtype = tfliteDataType(tensor.type);
    if (!dtype)
        return unsupported(tensor, "has the element type " + tfliteTypeName(tensor.type) +
                                       ", which cannot be computed with");
    const auto count = elementsOf(tensor);
    if (!count) return count.error();
    const std::span<const std::byte> bytes = model.buffers[tensor.buffer];
    if (tensor.sparsity) return spreadOut(tensor, *dtype, *count, bytes);
    if (const NarrowType* narrow = tfliteNarrowType(tensor.type)) {
        const auto perByte = 8 / narrow->bits;
        const auto size = static_cast<size_t>((*count + perByte - 1) / perByte);
        if (bytes.size() != size) return wrongSize(tensor, bytes.size(), size);
        return Tensor::of<uint8_t>(narrow->held, tensor.shape,
                                   unpackedCodes(*narrow, bytes, *count));
    }
    const auto size = static_cast<size_t>(*count * dtype->bytes());
    if (bytes.size() != size) return wrongSize(tensor, bytes.size(), size);
    const auto address = reinterpret_cast<uintptr_t>(bytes.data());
    if (model.owner && address % static_cast<uintptr_t>(dtype->bytes()) == 0)
        return Tensor(*dtype, tensor.shape, model.owner, bytes);
    return Tensor::make(*dtype, tensor.shape, [&](std::span<std::byte> out) {
        std::copy(bytes.begin(), bytes.end(), out.begin());
    });
}

} // namespace tenon::compiler
