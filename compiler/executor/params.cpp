// SPDX-License-Identifier: Apache-2.0
// Params blob: writer and bounds-checked reader.
#include "compiler/executor/params.h"

#include <cstring>
#include <optional>

namespace tenon::compiler {
namespace {

constexpr uint64_t kArrayMagic = 0xDD5E40F096B4A13Full;
constexpr uint64_t kParamsMagic = 0xF7E58D4F05049CB7ull;
constexpr int32_t kCpu = 1;
constexpr int32_t kMaxRank = 64;

/// Takes numbers off a byte string; after the first short read everything yields zero.
class Reader
{
public:
    explicit Reader(std::string_view bytes)
        : m_bytes(bytes)
    {
    }

    template <class T>
    T number()
    {
        uint64_t value = 0;
        const std::string_view bytes = take(sizeof(T));
        for (size_t i = 0; i < bytes.size(); ++i)
            value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
        return static_cast<T>(value);
    }
    std::string_view take(uint64_t count)
    {
        if (m_failed || count > m_bytes.size() - m_at) {
            m_failed = true;
            return {};
        }
        m_at += count;
        return m_bytes.substr(m_at - count, count);
    }
    bool failed() const { return m_failed; }
    size_t left() const { return m_bytes.size() - m_at; }
    core::Diagnostic error(const std::string& what) const
    {
        return core::makeError(core::DiagnosticCode::BadArtifact,
                               "params blob: " + what + " at byte " + std::to_string(m_at));
    }

private:
    std::string_view m_bytes;
    size_t m_at = 0;
    bool m_failed = false;
};

core::Result<core::Tensor> readNdArray(Reader& in)
{
    if (in.number<uint64_t>() != kArrayMagic) return in.error("no array starts");
    in.number<uint64_t>(); // reserved
    in.number<int32_t>();  // device type
    in.number<int32_t>();  // device number
    const int32_t rank = in.number<int32_t>();
    core::DataType dtype;
    dtype.kind = static_cast<core::DtypeKind>(in.number<uint8_t>());
    dtype.bits = in.number<uint8_t>();
    dtype.lanes = in.number<uint16_t>();
    if (rank < 0 || rank > kMaxRank) return in.error("bad rank " + std::to_string(rank));
    std::vector<int64_t> shape;
    uint64_t count = 1;
    for (int32_t i = 0; i < rank && !in.failed(); ++i) {
        shape.push_back(in.number<int64_t>());
        if (shape.back() < 0 ||
            __builtin_mul_overflow(count, static_cast<uint64_t>(shape.back()), &count))
            return in.error("bad dimension");
    }
    const uint64_t size = in.number<uint64_t>();
    uint64_t wanted = 0;
    const bool isTooLarge =
        __builtin_mul_overflow(count, static_cast<uint64_t>((dtype.bits + 7) / 8), &wanted);
    if (in.failed() || isTooLarge || size != wanted || dtype.lanes != 1)
        return in.error("dtype, shape and size disagree");
    const std::string_view data = in.take(size);
    if (in.failed()) return in.error("the data ends early");
    return core::Tensor::make(dtype, std::move(shape), [&](std::span<std::byte> out) {
        if (!data.empty()) std::memcpy(out.data(), data.data(), data.size());
    });
}

} // namespace

void writeNdArray(ByteStream& out, const core::Tensor& tensor)
{
    const core::DataType dtype = tensor.dtype();
    out.number(kArrayMagic).number(uint64_t{0});
    out.number(kCpu).number(int32_t{0});
    out.number(static_cast<int32_t>(tensor.shape().size()));
    out.number(static_cast<uint8_t>(dtype.kind)).number(dtype.bits).number(dtype.lanes);
    for (const int64_t dim : tensor.shape()) out.number(dim);
    out.number(static_cast<int64_t>(tensor.bytes().size()));
    out.raw(tensor.bytes());
}

std::string paramsBlob(const NamedTensors& params)
{
    ByteStream out;
    out.number(kParamsMagic).number(uint64_t{0});
    std::vector<std::string> names;
    for (const auto& [name, tensor] : params) names.push_back(name);
    out.strings(names);
    out.number(static_cast<uint64_t>(params.size()));
    for (const auto& [name, tensor] : params) writeNdArray(out, tensor);
    return out.bytes();
}

core::Result<NamedTensors> readParamsBlob(std::string_view bytes)
{
    Reader in(bytes);
    if (in.number<uint64_t>() != kParamsMagic) return in.error("this is no params blob");
    in.number<uint64_t>();
    const uint64_t nameCount = in.number<uint64_t>();
    if (in.failed() || nameCount > in.left() / 8) return in.error("bad number of names");
    NamedTensors params(nameCount);
    for (auto& [name, tensor] : params) name = in.take(in.number<uint64_t>());
    if (in.number<uint64_t>() != nameCount || in.failed())
        return in.error("names and arrays differ in number");
    for (auto& [name, tensor] : params) {
        core::Result<core::Tensor> read = readNdArray(in);
        if (!read) return read.error();
        tensor = std::move(*read);
    }
    return params;
}

} // namespace tenon::compiler
