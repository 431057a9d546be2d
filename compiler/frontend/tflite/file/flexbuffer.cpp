// SPDX-License-Identifier: Apache-2.0
// Maps of flexbuffers: values are reached backwards from the end by offsets of 1 to 8 bytes.
#include "compiler/frontend/tflite/file/flexbuffer.h"

#include <cstdint>
#include <cstring>

namespace tenon::compiler {
namespace {

constexpr size_t kLongest = 256;     ///< name of an option
constexpr size_t kMostBytes = 65536; ///< of all options

enum FlexType : uint8_t
{
    Int = 1,
    UInt = 2,
    Float = 3,
    IndirectInt = 6,
    IndirectUInt = 7,
    IndirectFloat = 8,
    Map = 9,
    List = 10,    ///< of elements that each say their type
    IntList = 11, ///< then of unsigned numbers, of floats
    FloatList = 13,
    IntPair = 16, ///< pairs, triples and quadruples of the three kinds, whose count is not stored
    FloatFour = 24,
    Bool = 26,
    BoolList = 36
};

class Flex
{
public:
    explicit Flex(std::span<const std::byte> bytes)
        : m_bytes(bytes)
    {
    }

    bool isBroken() const { return m_isBroken; }

    uint64_t unsignedAt(uint64_t at, uint64_t width)
    {
        uint64_t value = 0;
        if (at > m_bytes.size() || width > m_bytes.size() - at || width > 8) {
            m_isBroken = true;
            return 0;
        }
        std::memcpy(&value, m_bytes.data() + at, width);
        return value;
    }

    /// Where the offset at `at` leads, which is before it.
    uint64_t behind(uint64_t at, uint64_t width)
    {
        const uint64_t offset = unsignedAt(at, width);
        if (offset > at) m_isBroken = true;
        return m_isBroken ? 0 : at - offset;
    }

    double number(uint64_t at, uint64_t width, uint8_t type)
    {
        if (type == Float && width == 4) return as<float>(at);
        if (type == Float) return as<double>(at);
        if (type != Int) return static_cast<double>(unsignedAt(at, width));
        const uint64_t raw = unsignedAt(at, width);
        const int unused = 64 - 8 * static_cast<int>(width);
        return static_cast<double>(static_cast<int64_t>(raw << unused) >> unused);
    }

    std::string text(uint64_t at) const
    {
        std::string out;
        for (; at < m_bytes.size() && m_bytes[at] != std::byte{0} && out.size() < kLongest; ++at)
            out += static_cast<char>(m_bytes[at]);
        return out;
    }

private:
    template <class T>
    double as(uint64_t at)
    {
        const uint64_t raw = unsignedAt(at, sizeof(T));
        T value;
        std::memcpy(&value, &raw, sizeof(T));
        return static_cast<double>(value);
    }

    std::span<const std::byte> m_bytes;
    bool m_isBroken = false;
};

uint64_t widthOf(uint8_t packed) { return uint64_t{1} << (packed & 3); }

/// The value of one entry; nothing for what is no number.
std::optional<double> entry(Flex& flex, uint64_t at, uint64_t width, uint8_t packed)
{
    const auto type = static_cast<uint8_t>(packed >> 2);
    if (type == Int || type == UInt || type == Float || type == Bool)
        return flex.number(at, width, type);
    if (type < IndirectInt || type > IndirectFloat) return std::nullopt;
    const auto direct = static_cast<uint8_t>(type - IndirectInt + Int);
    return flex.number(flex.behind(at, width), widthOf(packed), direct);
}

/// A list of numbers; nothing for what is none.
std::optional<std::vector<double>> list(Flex& flex, uint64_t at, uint64_t width, uint8_t packed)
{
    const auto type = static_cast<uint8_t>(packed >> 2);
    const bool isTuple = type >= IntPair && type <= FloatFour;
    if (!isTuple && type != BoolList && (type < List || type > FloatList)) return std::nullopt;
    const uint64_t start = flex.behind(at, width), size = widthOf(packed);
    const auto kinds = static_cast<uint8_t>(FloatList - IntList + 1);
    const uint64_t count = isTuple        ? uint64_t{2} + (type - IntPair) / kinds
                           : start < size ? 0
                                          : flex.unsignedAt(start - size, size);
    if (count > kMostBytes) return std::nullopt;
    std::vector<double> out;
    for (uint64_t i = 0; i < count && !flex.isBroken(); ++i) {
        const uint64_t element = start + i * size;
        std::optional<double> value;
        if (type == List)
            value = entry(flex, element, size,
                          static_cast<uint8_t>(flex.unsignedAt(start + count * size + i, 1)));
        else if (type == BoolList)
            value = flex.number(element, size, Bool);
        else
            value = flex.number(
                element, size,
                static_cast<uint8_t>(Int + (isTuple ? (type - IntPair) % kinds : type - IntList)));
        if (!value) return std::nullopt;
        out.push_back(*value);
    }
    return out;
}

/// What `read` makes of the entries of the root map, by name; nothing when the bytes are no map, or
/// damaged.
template <class Value, class Read>
std::optional<std::map<std::string, Value>> mapOf(std::span<const std::byte> bytes, Read read)
{
    if (bytes.size() < 3 || bytes.size() > kMostBytes) return std::nullopt;
    Flex flex(bytes);
    const uint64_t rootWidth = flex.unsignedAt(bytes.size() - 1, 1);
    const auto rootType = static_cast<uint8_t>(flex.unsignedAt(bytes.size() - 2, 1));
    if (rootType >> 2 != Map || rootWidth > 8 || rootWidth + 2 > bytes.size()) return std::nullopt;
    const uint64_t map = flex.behind(bytes.size() - 2 - rootWidth, rootWidth);
    const uint64_t width = widthOf(rootType);
    if (flex.isBroken() || map < 3 * width) return std::nullopt;
    const uint64_t count = flex.unsignedAt(map - width, width);
    const uint64_t keys = flex.behind(map - 3 * width, width);
    const uint64_t keyWidth = flex.unsignedAt(map - 2 * width, width);
    if (flex.isBroken() || count > bytes.size() || keyWidth > 8) return std::nullopt;
    std::map<std::string, Value> out;
    for (uint64_t i = 0; i < count && !flex.isBroken(); ++i) {
        const auto packed = static_cast<uint8_t>(flex.unsignedAt(map + count * width + i, 1));
        const std::string key = flex.text(flex.behind(keys + i * keyWidth, keyWidth));
        if (auto value = read(flex, map + i * width, width, packed)) out[key] = *std::move(value);
    }
    if (flex.isBroken()) return std::nullopt;
    return out;
}

} // namespace

std::optional<std::map<std::string, double>> flexNumbers(std::span<const std::byte> bytes)
{
    return mapOf<double>(bytes, entry);
}

std::optional<std::map<std::string, std::vector<double>>>
flexLists(std::span<const std::byte> bytes)
{
    return mapOf<std::vector<double>>(bytes, list);
}

} // namespace tenon::compiler
