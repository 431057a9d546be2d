// SPDX-License-Identifier: Apache-2.0
// C's types, literals and identifiers.
#include "compiler/codegen/c/c_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tenon::compiler {

using core::DataType;
using core::DtypeKind;

namespace {

constexpr std::string_view kKeywords[] = {
    "auto",    "break",  "case",     "char",   "const",    "continue", "default",
    "do",      "double", "else",     "enum",   "extern",   "float",    "for",
    "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
    "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
    "typedef", "union",  "unsigned", "void",   "volatile", "while",    "scratch",
    "main",    "y0",     "y1",       "yn",     "j0",       "j1",       "jn",
};

/// What <math.h> declares, in float with an f behind it.
constexpr std::string_view kMathNames[] = {
    "acos",  "acosh", "asin", "asinh", "atan", "atanh", "ceil",  "cos",   "cosh",
    "erf",   "exp",   "fabs", "floor", "fma",  "fmod",  "log",   "pow",   "rint",
    "round", "sin",   "sinh", "sqrt",  "tan",  "tanh",  "trunc", "isinf", "isnan",
};

constexpr size_t kLineWidth = 96;

template <class T>
std::string shortest(T value)
{
    std::array<char, 64> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    std::string text(digits.data(), end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

} // namespace

std::string cType(DataType dtype)
{
    if (dtype.isBool()) return "uint8_t";
    if (dtype.kind == DtypeKind::Float)
        return dtype.bits == 32 ? "float" : dtype.bits == 64 ? "double" : "";
    const bool hasWidth =
        dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
    if (!dtype.isInt() || !hasWidth) return "";
    return (dtype.isSigned() ? "int" : "uint") + std::to_string(dtype.bits) + "_t";
}

std::string cSuffix(DataType dtype)
{
    if (dtype.isFloat()) return "f" + std::to_string(dtype.bits);
    const bool isWide = dtype.bits > 32;
    return (dtype.isSigned() || dtype.bits < 32 ? "i" : "u") + std::string(isWide ? "64" : "32");
}

std::string cFloat(double value, DataType dtype)
{
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
    return dtype.bits == 64 ? shortest(value) : shortest(static_cast<float>(value)) + "f";
}

std::string cInteger(int64_t value, DataType dtype)
{
    if (!dtype.isSigned() && dtype.bits == 64)
        return "UINT64_C(" + std::to_string(static_cast<uint64_t>(value)) + ")";
    if (!dtype.isSigned() && dtype.bits == 32)
        return std::to_string(static_cast<uint32_t>(value)) + "u";
    if (value == INT64_MIN) return "INT64_MIN";
    if (value == INT32_MIN) return "INT32_MIN";
    if (value < INT32_MIN || value > INT32_MAX) return "INT64_C(" + std::to_string(value) + ")";
    return std::to_string(value);
}

std::string cString(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        // '?' begins what old compilers take for a trigraph.
        if (byte >= ' ' && byte < 0x7f && c != '"' && c != '\\' && c != '?') {
            out += c;
            continue;
        }
        const auto digit = [&](int shift) { return static_cast<char>('0' + (byte >> shift & 7)); };
        out += {'\\', digit(6), digit(3), digit(0)};
    }
    return out + "\"";
}

std::string cName(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        const bool isPlain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out += isPlain ? c : '_';
    }
    return out;
}

std::string cMacro(std::string_view name)
{
    std::string out = cName(name);
    for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return out;
}

std::string cIdentifier(std::string_view name)
{
    std::string out = cName(name);
    if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out.insert(out.begin(), 'v');
    for (const std::string_view keyword : kKeywords)
        if (out == keyword) return out + "_";
    for (const std::string_view function : kMathNames)
        if (out == function ||
            (out.size() == function.size() + 1 && out.back() == 'f' && out.starts_with(function)))
            return out + "_";
    return out;
}

std::string uniqueIdentifier(std::string_view name, std::set<std::string>& taken)
{
    const std::string plain = cIdentifier(name);
    std::string out = plain;
    for (int i = 1; !taken.insert(out).second; ++i) out = plain + "_" + std::to_string(i);
    return out;
}

std::string cInitializer(const core::Tensor& tensor)
{
    const DataType dtype = tensor.dtype();
    std::string out = "{\n   ";
    size_t column = 3;
    for (int64_t i = 0; i < tensor.size(); ++i) {
        const std::string item = (dtype.isFloat() ? cFloat(tensor.number(i), dtype)
                                                  : cInteger(tensor.integer(i), dtype)) +
                                 ",";
        if (column + 1 + item.size() > kLineWidth) {
            out += "\n   ";
            column = 3;
        }
        out += " " + item;
        column += 1 + item.size();
    }
    if (tensor.size() == 0) out += " 0";
    return out + "\n}";
}

} // namespace tenon::compiler
