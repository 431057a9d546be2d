// SPDX-License-Identifier: Apache-2.0
// A wire-format walk over the few fields that benchmark inputs have.
#include "remote/peer/tensor_file.h"

#include "core/base/file.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tenon::remote {
namespace {

class WireReader
{
public:
    explicit WireReader(std::string_view bytes)
        : m_bytes(bytes)
    {
    }
    bool atEnd() const { return m_bytes.empty() || m_failed; }
    bool hasFailed() const { return m_failed; }

    uint64_t varint()
    {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (m_bytes.empty()) break;
            const auto byte = static_cast<uint8_t>(m_bytes.front());
            m_bytes.remove_prefix(1);
            value |= static_cast<uint64_t>(byte & 127) << shift;
            if (byte < 128) return value;
        }
        m_failed = true;
        return 0;
    }

    std::string_view take(uint64_t size)
    {
        if (size > m_bytes.size()) {
            m_failed = true;
            return {};
        }
        const std::string_view part = m_bytes.substr(0, size);
        m_bytes.remove_prefix(size);
        return part;
    }

    void skip(uint64_t wireType)
    {
        if (wireType == 0)
            varint();
        else if (wireType == 1)
            take(8);
        else if (wireType == 2)
            take(varint());
        else if (wireType == 5)
            take(4);
        else
            m_failed = true;
    }

private:
    std::string_view m_bytes;
    bool m_failed = false;
};

void readDims(WireReader& reader, uint64_t wireType, std::vector<int64_t>& dims)
{
    if (wireType == 0) {
        dims.push_back(static_cast<int64_t>(reader.varint()));
        return;
    }
    WireReader packed(reader.take(reader.varint()));
    while (!packed.atEnd()) dims.push_back(static_cast<int64_t>(packed.varint()));
}

/// Numbers of TensorProto.DataType.
constexpr std::array<std::pair<std::string_view, int>, 12> kElementTypes = {{{"float32", 1},
                                                                             {"uint8", 2},
                                                                             {"int8", 3},
                                                                             {"uint16", 4},
                                                                             {"int16", 5},
                                                                             {"int32", 6},
                                                                             {"int64", 7},
                                                                             {"bool", 9},
                                                                             {"float16", 10},
                                                                             {"float64", 11},
                                                                             {"uint32", 12},
                                                                             {"uint64", 13}}};

void appendVarint(std::string& out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

void appendBytes(std::string& out, char tag, std::string_view bytes)
{
    out += tag;
    appendVarint(out, bytes.size());
    out += bytes;
}

} // namespace

core::Result<TensorFile> readTensorFile(const std::string& path)
{
    const auto bytes = core::readFile(path);
    if (!bytes) return bytes.error();
    TensorFile tensor;
    WireReader reader(*bytes);
    while (!reader.atEnd()) {
        const uint64_t tag = reader.varint();
        const uint64_t wireType = tag & 7;
        switch (tag >> 3) {
        case 1: readDims(reader, wireType, tensor.dims); break;
        case 2: tensor.elementType = static_cast<int32_t>(reader.varint()); break;
        case 8: tensor.name = reader.take(reader.varint()); break;
        case 9: tensor.raw = reader.take(reader.varint()); break;
        default: reader.skip(wireType);
        }
    }
    if (reader.hasFailed() || tensor.raw.empty())
        return core::makeError(core::DiagnosticCode::BadModel,
                               "is not a tensor with raw data; write inputs as raw_data",
                               {.file = path});
    return tensor;
}

std::string tensorBytes(const std::vector<int64_t>& dims, int elementType, std::string_view raw,
                        const std::string& name)
{
    std::string out;
    for (const int64_t dim : dims) {
        out += '\x08';
        appendVarint(out, static_cast<uint64_t>(dim));
    }
    out += '\x10';
    appendVarint(out, static_cast<uint64_t>(elementType));
    if (!name.empty()) appendBytes(out, '\x42', name);
    appendBytes(out, '\x4a', raw);
    return out;
}

core::Status writeTensorFile(const std::string& path, const std::string& name,
                             const core::Tensor& tensor)
{
    const std::string dtype = tensor.dtype().text();
    const auto type = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                   [&](const auto& each) { return each.first == dtype; });
    if (type == kElementTypes.end())
        return core::makeError(core::DiagnosticCode::UnsupportedFeature,
                               "ONNX has no tensors of " + dtype);
    const auto bytes = tensor.bytes();
    return core::writeFileAtomically(
        path, tensorBytes(tensor.shape(), type->second,
                          {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name));
}

} // namespace tenon::remote
