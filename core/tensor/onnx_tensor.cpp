// SPDX-License-Identifier: Apache-2.0
// A walk over protobuf's wire format that knows the fields of TensorProto.
#include "core/tensor/onnx_tensor.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/varint.h"
#include "core/tensor/onnx_types.h"

#include <utility>

namespace tenon::core {
namespace {

enum Field : uint64_t
{
    kDims = 1,
    kDataType = 2,
    kFloatData = 4,
    kInt32Data = 5,
    kInt64Data = 7,
    kName = 8,
    kRawData = 9,
    kDoubleData = 10,
    kUint64Data = 11,
    kDataLocation = 14
};

enum WireType : uint64_t
{
    kVarint = 0,
    kFixed64 = 1,
    kBytes = 2,
    kFixed32 = 5
};

constexpr uint64_t kExternal = 1; ///< TensorProto.DataLocation

Diagnostic badTensor(const std::string& what)
{
    return makeError(DiagnosticCode::BadModel, "the file is no TensorProto" + what);
}

std::span<const std::byte> bytesOf(std::string_view text)
{
    return std::as_bytes(std::span(text.data(), text.size()));
}

class FieldReader
{
public:
    explicit FieldReader(std::string_view message)
        : m_message(message)
    {
    }
    bool atEnd() const { return m_at == m_message.size(); }

    std::optional<uint64_t> varint() { return readVarint(bytesOf(m_message), m_at); }

    /// What a field of that wire type holds, without its length.
    std::optional<std::string_view> content(uint64_t wireType)
    {
        const size_t start = m_at;
        std::optional<uint64_t> size;
        switch (wireType) {
        case kVarint:
            if (!varint()) return std::nullopt;
            return m_message.substr(start, m_at - start);
        case kFixed64: size = 8; break;
        case kBytes: size = varint(); break;
        case kFixed32: size = 4; break;
        default: break;
        }
        if (!size || *size > m_message.size() - m_at) return std::nullopt;
        m_at += *size;
        return m_message.substr(m_at - *size, *size);
    }

private:
    std::string_view m_message;
    size_t m_at = 0;
};

/// Packed numbers are one content, others come one by one.
bool addIntegers(std::string_view content, std::vector<uint64_t>& numbers)
{
    FieldReader reader(content);
    while (!reader.atEnd()) {
        const auto number = reader.varint();
        if (!number) return false;
        numbers.push_back(*number);
    }
    return true;
}

/// Lists of numbers may be packed whatever their type.
bool isWireTypeOf(uint64_t field, uint64_t wireType)
{
    switch (field) {
    case kFloatData: return wireType == kFixed32 || wireType == kBytes;
    case kDoubleData: return wireType == kFixed64 || wireType == kBytes;
    case kDims:
    case kInt32Data:
    case kInt64Data:
    case kUint64Data: return wireType == kVarint || wireType == kBytes;
    case kDataType:
    case kDataLocation: return wireType == kVarint;
    case kName:
    case kRawData: return wireType == kBytes;
    default: return true;
    }
}

class Parser
{
public:
    Result<OnnxTensor> parse(std::string_view bytes)
    {
        FieldReader reader(bytes);
        while (!reader.atEnd()) {
            const auto tag = reader.varint();
            const auto content = tag ? reader.content(*tag & 7) : std::nullopt;
            if (!content || !isWireTypeOf(*tag >> 3, *tag & 7) || !take(*tag >> 3, *content))
                return badTensor("");
        }
        if (m_tensor.elementType == 0) return badTensor("");
        if (m_isExternal) return badTensor(" with its data inside; external data is not read here");
        if (m_tensor.raw.empty()) writeIntegers();
        m_tensor.dims.assign(m_dims.begin(), m_dims.end());
        if (Status fits = checkSize(); !fits) return fits.error();
        return std::move(m_tensor);
    }

private:
    bool take(uint64_t field, std::string_view content)
    {
        switch (field) {
        case kDims: return addIntegers(content, m_dims);
        case kDataType: m_tensor.elementType = static_cast<int32_t>(number(content)); break;
        case kName: m_tensor.name = content; break;
        case kRawData:
        case kFloatData:
        case kDoubleData: m_tensor.raw += content; break; // IEEE numbers lie there as they are
        case kInt32Data:
        case kInt64Data:
        case kUint64Data: return addIntegers(content, m_integers);
        case kDataLocation: m_isExternal = number(content) == kExternal; break;
        default: break;
        }
        return true;
    }

    /// `content` is a whole number: it was found as one.
    static uint64_t number(std::string_view content)
    {
        return FieldReader(content).varint().value_or(0);
    }

    /// Integers, 16-bit floats and codes stand as numbers of at least 32 bits.
    void writeIntegers()
    {
        const auto dtype = dataTypeOf(m_tensor.elementType);
        const int64_t bytes = dtype ? dtype->bytes() : 1;
        for (const uint64_t number : m_integers)
            for (int64_t i = 0; i < bytes; ++i)
                m_tensor.raw += static_cast<char>(number >> (8 * i));
    }

    Status checkSize() const
    {
        const auto dtype = dataTypeOf(m_tensor.elementType);
        int64_t bytes = dtype ? dtype->bytes() : 1;
        for (const int64_t dim : m_tensor.dims)
            if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes))
                return badTensor(" of a possible shape: (" + join(m_tensor.dims, ", ") + ")");
        if (!dtype || static_cast<uint64_t>(bytes) == m_tensor.raw.size()) return kDone;
        return badTensor(": it has " + std::to_string(m_tensor.raw.size()) +
                         " bytes of data but its type and shape need " + std::to_string(bytes));
    }

    OnnxTensor m_tensor;
    std::vector<uint64_t> m_dims, m_integers;
    bool m_isExternal = false;
};

void appendNumber(std::string& out, Field field, uint64_t value)
{
    appendVarint(out, field << 3 | kVarint);
    appendVarint(out, value);
}

void appendBytes(std::string& out, Field field, std::string_view bytes)
{
    appendVarint(out, field << 3 | kBytes);
    appendVarint(out, bytes.size());
    out += bytes;
}

} // namespace

Result<OnnxTensor> parseOnnxTensor(std::string_view bytes) { return Parser().parse(bytes); }

Result<OnnxTensor> readOnnxTensor(const std::string& path)
{
    const auto bytes = readFile(path);
    if (!bytes) return bytes.error();
    auto tensor = parseOnnxTensor(*bytes);
    if (tensor) return tensor;
    Diagnostic error = tensor.error();
    error.location.file = path;
    return error;
}

std::string onnxTensorBytes(const OnnxTensor& tensor)
{
    std::string out;
    for (const int64_t dim : tensor.dims) appendNumber(out, kDims, static_cast<uint64_t>(dim));
    appendNumber(out, kDataType, static_cast<uint64_t>(tensor.elementType));
    if (!tensor.name.empty()) appendBytes(out, kName, tensor.name);
    appendBytes(out, kRawData, tensor.raw);
    return out;
}

OnnxTensor onnxTensorOf(const Tensor& tensor, const std::string& name)
{
    const auto bytes = tensor.bytes();
    return {tensor.shape(),
            onnxTypeOf(tensor.dtype()),
            name,
            {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
}

} // namespace tenon::core
