// SPDX-License-Identifier: Apache-2.0
// A walk over the protobuf wire format that knows only where tensors can be.
#include "compiler/frontend/onnx/file/wire_scan.h"

#include "compiler/frontend/onnx/file/foreign_file.h"
#include "compiler/frontend/onnx/file/text_file.h"
#include "core/base/text.h"
#include "core/base/varint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace tenon::compiler {

using namespace core;

namespace {

constexpr int kMaxDepth = 90; // protobuf itself stops at 100 nested messages
constexpr uint64_t kMinMappedBytes = 64;
constexpr uint32_t kRawData = 9;
constexpr uint32_t kMappedOffset = 100001;
constexpr uint32_t kMappedLength = 100002;
constexpr uint32_t kNodeOpset = 100003;
constexpr uint32_t kOpType = 4;

enum class Kind : uint8_t
{
    Model,
    Graph,
    Function,
    Node,
    Attribute,
    Sparse,
    Tensor
};

/// Bytes of a parsed message besides its fields, about.
constexpr std::array<uint64_t, 7> kMessageBytes = {300, 250, 250, 200, 320, 100, 300};
constexpr uint64_t kStringBytes = 48;
constexpr uint64_t kItemBytes = 96; ///< of a message that the walk does not enter
/// A parsed message may take this and so many times the file. Exporters' graphs take 3 to 14 times
/// their bytes and hold a few MB at most; bombs of empty messages take a hundred times theirs.
constexpr uint64_t kFreeBytes = uint64_t{40} << 20;
constexpr uint64_t kBytesPerByte = 12;

/// Messages that are copied whole.
bool holdsMessage(Kind kind, uint32_t field)
{
    switch (kind) {
    case Kind::Model: return field == 8 || field == 14;
    case Kind::Graph: return (field >= 11 && field <= 14) || field == 16;
    case Kind::Function: return field == 9 || field == 12 || field == 14;
    case Kind::Node: return field == 9;
    case Kind::Attribute: return field == 14 || field == 15;
    case Kind::Tensor: return field == 13 || field == 16;
    case Kind::Sparse: break;
    }
    return false;
}

/// Of one element of a list while the list grows; 0: the field holds no integers.
uint64_t bytesOfInteger(Kind kind, uint32_t field)
{
    const bool isShort = (kind == Kind::Attribute && field == 8) || // never long lists
                         (kind == Kind::Tensor && field == 1) ||
                         (kind == Kind::Sparse && field == 3);
    if (isShort) return 24;
    if (kind == Kind::Tensor && field == 5) return 8; // 32 bits, also weights of 8 bits
    return kind == Kind::Tensor && (field == 7 || field == 11) ? 16 : 0;
}

std::optional<Kind> childKind(Kind parent, uint32_t field)
{
    switch (parent) {
    case Kind::Model:
        if (field == 7) return Kind::Graph;
        if (field == 25) return Kind::Function;
        break;
    case Kind::Graph:
        if (field == 1) return Kind::Node;
        if (field == 5) return Kind::Tensor;
        if (field == 15) return Kind::Sparse;
        break;
    case Kind::Function:
        if (field == 7) return Kind::Node;
        if (field == 11) return Kind::Attribute;
        break;
    case Kind::Node:
        if (field == 5) return Kind::Attribute;
        break;
    case Kind::Attribute:
        if (field == 5 || field == 10) return Kind::Tensor;
        if (field == 6 || field == 11) return Kind::Graph;
        if (field == 22 || field == 23) return Kind::Sparse;
        break;
    case Kind::Sparse:
        if (field == 1 || field == 2) return Kind::Tensor;
        break;
    case Kind::Tensor: break;
    }
    return std::nullopt;
}

void appendVarintField(std::string& out, uint32_t field, uint64_t value)
{
    appendVarint(out, uint64_t{field} << 3);
    appendVarint(out, value);
}

class Scanner
{
public:
    Scanner(std::span<const std::byte> file, const std::string& name)
        : m_file(file)
        , m_name(name)
    {
    }

    /// Appends the thin form of the message in [at, end).
    Status scan(Kind kind, size_t at, size_t end, int depth, std::string& out);

private:
    Diagnostic error(size_t at, const std::string& what) const
    {
        return makeError(DiagnosticCode::BadModel, what + " at byte " + std::to_string(at),
                         {.file = m_name});
    }
    std::optional<uint64_t> varint(size_t& at, size_t end) const
    {
        return readVarint(m_file.first(end), at);
    }
    /// What parsing a copied field takes.
    uint64_t costOf(Kind kind, uint32_t field, size_t at, size_t end) const;
    uint64_t costOfItems(size_t at, size_t end, int depth) const;
    Status spend(uint64_t bytes, size_t at);
    Status scanField(Kind kind, size_t start, size_t& at, size_t end, int depth, std::string& out,
                     uint32_t field);
    void copy(size_t from, size_t to, std::string& out) const
    {
        out.append(reinterpret_cast<const char*>(m_file.data()) + from, to - from);
    }

    std::span<const std::byte> m_file;
    const std::string& m_name;
    size_t m_nodes = 0;
    uint64_t m_cost = 0; ///< bytes that the parsed message will take, about
};

Status Scanner::spend(uint64_t bytes, size_t at)
{
    m_cost += bytes;
    if (m_cost <= kFreeBytes + kBytesPerByte * m_file.size()) return kDone;
    return error(at, "the file holds so many small messages that reading it would take over " +
                         std::to_string(m_cost >> 20) + " MiB, " +
                         std::to_string(m_cost / m_file.size()) +
                         " times its size; it is damaged or made to fill the memory");
}

/// Fields of fields, without knowing what they mean: enough to count them.
uint64_t Scanner::costOfItems(size_t at, size_t end, int depth) const
{
    constexpr int kDeepest = 6; // a dimension's name in a value's type
    uint64_t cost = kItemBytes;
    while (at < end) {
        const auto key = varint(at, end);
        if (!key) return cost;
        uint64_t skipped = 0;
        switch (*key & 7) {
        case 0:
            if (!varint(at, end)) return cost;
            break;
        case 1: skipped = 8; break;
        case 2: skipped = varint(at, end).value_or(end); break;
        case 5: skipped = 4; break;
        default: return cost;
        }
        if (skipped > end - at) return cost;
        if ((*key & 7) == 2)
            cost += depth < kDeepest ? costOfItems(at, at + skipped, depth + 1) : kItemBytes;
        at += skipped;
    }
    return cost;
}

uint64_t Scanner::costOf(Kind kind, uint32_t field, size_t at, size_t end) const
{
    if (holdsMessage(kind, field)) return costOfItems(at, end, 0);
    const uint64_t integer = bytesOfInteger(kind, field);
    if (integer == 0) return kStringBytes + (end - at);
    const auto isLast = [](std::byte byte) { return static_cast<uint8_t>(byte) < 0x80; };
    const auto bytes = m_file.subspan(at, end - at);
    return integer * static_cast<uint64_t>(std::count_if(bytes.begin(), bytes.end(), isLast));
}

Status Scanner::scan(Kind kind, size_t at, size_t end, int depth, std::string& out)
{
    if (depth > kMaxDepth) return error(at, "subgraphs are nested too deeply");
    if (const Status s = spend(kMessageBytes[static_cast<size_t>(kind)], at); !s) return s;
    bool hasOperator = false;
    const size_t begin = at;
    while (at < end) {
        const size_t start = at;
        const auto key = varint(at, end);
        if (!key || (*key >> 3) == 0 || (*key >> 3) > 0x1fffffff)
            return error(start, "the file is cut off or no ONNX model: no field key");
        const auto field = static_cast<uint32_t>(*key >> 3);
        if ((*key & 7) == 2) {
            if (const Status s = scanField(kind, start, at, end, depth, out, field); !s) return s;
            hasOperator = hasOperator || field == kOpType;
            continue;
        }
        bool isWhole = true;
        switch (*key & 7) {
        case 0: isWhole = varint(at, end).has_value(); break;
        case 1: isWhole = end - at >= 8, at += 8; break;
        case 5: isWhole = end - at >= 4, at += 4; break;
        default: return error(start, "the file is damaged or no ONNX model: wrong wire type");
        }
        if (!isWhole) return error(start, "the file is cut off");
        if (const Status s = spend(bytesOfInteger(kind, field), start); !s) return s;
        const bool isOurs =
            (kind == Kind::Tensor && (field == kMappedOffset || field == kMappedLength)) ||
            (kind == Kind::Node && field == kNodeOpset);
        if (!isOurs) copy(start, at, out);
    }
    if (kind == Kind::Node) {
        // Also keeps a bomb of empty nodes from being parsed into gigabytes.
        if (!hasOperator)
            return error(begin, "node " + std::to_string(m_nodes) + " names no operator");
        ++m_nodes;
    }
    return kDone;
}

Status Scanner::scanField(Kind kind, size_t start, size_t& at, size_t end, int depth,
                          std::string& out, uint32_t field)
{
    const auto length = varint(at, end);
    if (!length || *length > end - at)
        return error(start, "the file is cut off: field " + std::to_string(field) + " needs " +
                                (length ? std::to_string(*length) : "more") + " bytes and " +
                                std::to_string(end - at) + " are left");
    const size_t content = at;
    at += *length;
    if (kind == Kind::Tensor && field == kRawData && *length >= kMinMappedBytes) {
        appendVarintField(out, kMappedOffset, content);
        appendVarintField(out, kMappedLength, *length);
        return kDone;
    }
    const auto child = childKind(kind, field);
    if (!child) {
        copy(start, at, out);
        return spend(costOf(kind, field, content, at), start);
    }
    std::string thin;
    if (const Status s = scan(*child, content, at, depth + 1, thin); !s) return s;
    appendVarint(out, uint64_t{field} << 3 | 2);
    appendVarint(out, thin.size());
    out += thin;
    return kDone;
}

} // namespace

Result<std::string> thinModel(std::span<const std::byte> file, const std::string& name)
{
    constexpr size_t kLimit = size_t{1} << 31;
    if (file.size() >= kLimit)
        return makeError(DiagnosticCode::BadModel,
                         "the file has " + thousands(static_cast<int64_t>(file.size())) +
                             " bytes, but an ONNX message ends below 2 GiB; save the weights as "
                             "external data",
                         {.file = name});
    std::string thin;
    Scanner scanner(file, name);
    const Status scanned = scanner.scan(Kind::Model, 0, file.size(), 0, thin);
    if (scanned) return thin;
    std::string known = textFileMessage(file);
    if (known.empty()) known = foreignFileMessage(file);
    return known.empty() ? scanned.error()
                         : makeError(DiagnosticCode::BadModel, known, {.file = name});
}

} // namespace tenon::compiler
