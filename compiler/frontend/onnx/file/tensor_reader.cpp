// SPDX-License-Identifier: Apache-2.0
// Reading one tensor of an ONNX file.
#include "compiler/frontend/onnx/file/tensor_reader.h"

#include "compiler/frontend/onnx/file/element_types.h"
#include "core/base/text.h"
#include "core/jobs/job.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace tenon::compiler {
namespace {

using tenon_onnx::TensorProto;

Diagnostic badTensor(const TensorProto& proto, const std::string& what)
{
    return makeError(DiagnosticCode::BadModel, "tensor " + quoted(proto.name()) + " " + what,
                     {.detail = proto.name()});
}

/// Element count and byte size, checked against 63-bit overflow.
Result<uint64_t> byteSize(const TensorProto& proto, DataType dtype)
{
    int64_t bytes = dtype.bytes();
    for (const int64_t dim : proto.dims()) {
        if (dim < 0) return badTensor(proto, "has the dimension " + std::to_string(dim));
        if (__builtin_mul_overflow(bytes, dim, &bytes))
            return badTensor(proto, "has a shape whose size overflows 64 bits");
    }
    return static_cast<uint64_t>(bytes);
}

/// Copies the typed field of the message; its size was compared with `count`.
template <class Element, class Field>
Tensor fromField(const Field& field, DataType dtype, std::vector<int64_t> shape)
{
    return Tensor::make(dtype, std::move(shape), [&](std::span<std::byte> out) {
        size_t at = 0;
        for (const auto value : field) {
            const auto element = static_cast<Element>(value);
            std::memcpy(out.data() + at, &element, sizeof(Element));
            at += sizeof(Element);
        }
    });
}

Result<Tensor> readTyped(const TensorProto& proto, DataType dtype, std::vector<int64_t> shape,
                         uint64_t count)
{
    const auto sized = [&](const auto& field) {
        return static_cast<uint64_t>(field.size()) == count;
    };
    const auto wrong = [&](const auto& field) {
        return badTensor(proto, "holds " + std::to_string(field.size()) +
                                    " values but its shape has " + std::to_string(count));
    };
    if (dtype == kFloat32) {
        if (!sized(proto.float_data())) return wrong(proto.float_data());
        return fromField<float>(proto.float_data(), dtype, std::move(shape));
    }
    if (dtype == kFloat64) {
        if (!sized(proto.double_data())) return wrong(proto.double_data());
        return fromField<double>(proto.double_data(), dtype, std::move(shape));
    }
    if (dtype == kInt64) {
        if (!sized(proto.int64_data())) return wrong(proto.int64_data());
        return fromField<int64_t>(proto.int64_data(), dtype, std::move(shape));
    }
    if (dtype == kUInt64 || dtype == kUInt32) {
        if (!sized(proto.uint64_data())) return wrong(proto.uint64_data());
        if (dtype == kUInt64)
            return fromField<uint64_t>(proto.uint64_data(), dtype, std::move(shape));
        return fromField<uint32_t>(proto.uint64_data(), dtype, std::move(shape));
    }
    if (!sized(proto.int32_data())) return wrong(proto.int32_data());
    if (dtype.bytes() == 4) return fromField<int32_t>(proto.int32_data(), dtype, std::move(shape));
    if (dtype.bytes() == 2) return fromField<uint16_t>(proto.int32_data(), dtype, std::move(shape));
    return fromField<uint8_t>(proto.int32_data(), dtype, std::move(shape));
}

/// Weights are most of a model, and few of them lie where their elements want to.
void copyLarge(std::span<const std::byte> from, std::span<std::byte> to)
{
    constexpr size_t kPiece = size_t{2} << 20;
    const size_t pieces = (from.size() + kPiece - 1) / kPiece;
    const unsigned threads = pieces < 2 ? 1 : std::thread::hardware_concurrency();
    static_cast<void>(JobContext(threads).parallelFor(pieces, [&](size_t i) {
        const auto piece = from.subspan(i * kPiece, std::min(kPiece, from.size() - i * kPiece));
        std::copy(piece.begin(), piece.end(), to.begin() + static_cast<ptrdiff_t>(i * kPiece));
        return Status(kDone);
    }));
}

Tensor shareOrCopy(DataType dtype, std::vector<int64_t> shape, std::shared_ptr<const void> owner,
                   std::span<const std::byte> bytes)
{
    const auto address = reinterpret_cast<uintptr_t>(bytes.data());
    if (owner && address % static_cast<uintptr_t>(dtype.bytes()) == 0)
        return Tensor(dtype, std::move(shape), std::move(owner), bytes);
    return Tensor::make(dtype, std::move(shape),
                        [&](std::span<std::byte> out) { copyLarge(bytes, out); });
}

Result<std::span<const std::byte>> rawBytes(const TensorProto& proto, const TensorStorage& storage)
{
    if (!proto.has_mapped_length()) return std::as_bytes(std::span(proto.raw_data()));
    const uint64_t offset = proto.mapped_offset();
    const uint64_t length = proto.mapped_length();
    CHECK(offset <= storage.file.size() && length <= storage.file.size() - offset);
    return storage.file.subspan(offset, length);
}

/// Codes of a narrow type; those under 8 bits are packed, several to a byte.
Result<Tensor> readNarrow(const TensorProto& proto, const NarrowType& type,
                          const TensorStorage& storage, std::vector<Diagnostic>& notes)
{
    const auto count = byteSize(proto, type.held);
    if (!count) return count.error();
    const uint64_t perByte = static_cast<uint64_t>(8 / type.bits);
    const uint64_t size = (*count + perByte - 1) / perByte;
    std::vector<std::byte> packed;
    if (proto.data_location() == TensorProto::EXTERNAL) {
        if (!storage.external) return badTensor(proto, "has external data, which is not read here");
        auto piece = storage.external->read(proto, size, notes);
        if (!piece) return piece.error();
        packed.assign(piece->bytes.begin(), piece->bytes.end());
    } else if (proto.has_raw_data() || proto.has_mapped_length()) {
        const auto bytes = rawBytes(proto, storage);
        packed.assign(bytes->begin(), bytes->end());
    } else { // a packed byte, or a whole 8-bit code, per entry
        for (const int32_t value : proto.int32_data())
            packed.push_back(static_cast<std::byte>(value));
    }
    if (packed.size() != size)
        return badTensor(proto, "has " + std::to_string(packed.size()) +
                                    " bytes of data but its type and shape need " +
                                    std::to_string(size));
    return Tensor::of<uint8_t>(type.held, {proto.dims().begin(), proto.dims().end()},
                               unpackedCodes(type, packed, static_cast<int64_t>(*count)));
}

} // namespace

Result<Tensor> readTensor(const TensorProto& proto, const TensorStorage& storage,
                          std::vector<Diagnostic>& notes)
{
    if (const NarrowType* narrow = narrowTypeOf(proto.data_type()))
        return readNarrow(proto, *narrow, storage, notes);
    const auto dtype = dataTypeOf(proto.data_type());
    if (!dtype)
        return makeError(DiagnosticCode::UnsupportedDtype,
                         "tensor " + quoted(proto.name()) + " has the element type " +
                             onnxTypeName(proto.data_type()) +
                             ", which cannot be computed with; prepare such data before the model",
                         {.detail = proto.name()});
    const auto size = byteSize(proto, *dtype);
    if (!size) return size.error();
    std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());

    if (proto.data_location() == TensorProto::EXTERNAL) {
        if (!storage.external) return badTensor(proto, "has external data, which is not read here");
        auto piece = storage.external->read(proto, *size, notes);
        if (!piece) {
            Diagnostic error = piece.error();
            error.message = "tensor " + quoted(proto.name()) + ": " + error.message;
            error.location.detail = proto.name();
            return error;
        }
        return shareOrCopy(*dtype, std::move(shape), piece->file, piece->bytes);
    }
    if (proto.has_raw_data() || proto.has_mapped_length()) {
        const auto bytes = rawBytes(proto, storage);
        if (bytes->size() != *size)
            return badTensor(proto, "has " + std::to_string(bytes->size()) +
                                        " bytes of data but its type and shape need " +
                                        std::to_string(*size));
        return shareOrCopy(*dtype, std::move(shape),
                           proto.has_mapped_length() ? storage.owner : nullptr, *bytes);
    }
    return readTyped(proto, *dtype, std::move(shape),
                     *size / static_cast<uint64_t>(dtype->bytes()));
}

} // namespace tenon::compiler
