// SPDX-License-Identifier: Apache-2.0
// A wire-format walk over the few fields that benchmark inputs have.
#include "tests/benchmarks/tensor_file.h"

#include "core/base/file.h"

namespace tenon::bench {
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

} // namespace tenon::bench
