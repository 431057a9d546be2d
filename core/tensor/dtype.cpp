// SPDX-License-Identifier: Apache-2.0
// Text forms of data types.
#include "core/tensor/dtype.h"

#include "core/base/text.h"

#include <charconv>

namespace tenon::core {

std::string DataType::text() const
{
    std::string out;
    if (isBool()) {
        out = "bool";
    } else if (kind == DtypeKind::Handle) {
        out = "handle";
    } else {
        static constexpr const char* kNames[] = {"int", "uint", "float", "handle", "bfloat"};
        out = kNames[static_cast<int>(kind)] + std::to_string(bits);
    }
    if (lanes > 1) out += "x" + std::to_string(lanes);
    return out;
}

namespace {

/// Widths that exist, so that a typo is not taken for a type.
bool isWidth(DtypeKind kind, int bits)
{
    switch (kind) {
    case DtypeKind::Float: return bits == 16 || bits == 32 || bits == 64;
    case DtypeKind::Bfloat: return bits == 16;
    default: return bits >= 1 && bits <= 64 && (bits & (bits - 1)) == 0;
    }
}

} // namespace

Result<DataType> parseDataType(std::string_view text)
{
    const auto bad = [&] {
        return makeError(DiagnosticCode::BadText,
                         quoted(text) + " is not a data type; use for example float32, int8, bool");
    };
    std::string_view rest = text;
    DataType type;
    struct Prefix
    {
        std::string_view name;
        DtypeKind kind;
        uint8_t fixedBits;
    };
    static constexpr Prefix kPrefixes[] = {
        {"bfloat", DtypeKind::Bfloat, 0}, {"bool", DtypeKind::UInt, 1},
        {"float", DtypeKind::Float, 0},   {"handle", DtypeKind::Handle, 64},
        {"int", DtypeKind::Int, 0},       {"uint", DtypeKind::UInt, 0}};
    const Prefix* found = nullptr;
    for (const Prefix& p : kPrefixes)
        if (rest.starts_with(p.name)) found = &p;
    if (!found) return bad();
    rest.remove_prefix(found->name.size());
    type.kind = found->kind;
    type.bits = found->fixedBits;
    if (found->fixedBits == 0) {
        int bits = 0;
        const auto [end, ec] = std::from_chars(rest.data(), rest.data() + rest.size(), bits);
        if (ec != std::errc() || !isWidth(type.kind, bits)) return bad();
        type.bits = static_cast<uint8_t>(bits);
        rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    }
    if (rest.starts_with("x")) {
        int lanes = 0;
        const auto [end, ec] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), lanes);
        if (ec != std::errc() || lanes < 1 || lanes > 4096) return bad();
        type.lanes = static_cast<uint16_t>(lanes);
        rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    }
    if (!rest.empty()) return bad();
    return type;
}

} // namespace tenon::core
