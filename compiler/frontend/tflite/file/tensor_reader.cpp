// SPDX-License-Identifier: Apache-2.0
// Buffers as tensors.
#include "compiler/frontend/tflite/file/tensor_reader.h"

#include "compiler/frontend/tflite/file/element_types.h"
#include "core/base/text.h"

#include <algorithm>

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

} // namespace

Result<Tensor> readTfliteTensor(const TfliteModel& model, const TfliteTensor& tensor)
{
    const auto dtype = tfliteDataType(tensor.type);
    if (!dtype)
        return unsupported(tensor, "has the element type " + tfliteTypeName(tensor.type) +
                                       ", which cannot be computed with");
    if (tensor.isSparse)
        return unsupported(tensor, "is stored sparsely, which is not supported; convert the model "
                                   "without sparse weights");
    const auto count = elementsOf(tensor);
    if (!count) return count.error();
    const std::span<const std::byte> bytes = model.buffers[tensor.buffer];
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
