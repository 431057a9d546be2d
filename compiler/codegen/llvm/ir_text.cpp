// SPDX-License-Identifier: Apache-2.0
// Quoting and constants of LLVM IR text.
#include "compiler/codegen/llvm/ir_text.h"

#include "core/base/text.h"

namespace tenon::compiler {
namespace {

/// Printable characters as they are, everything else as \XX.
std::string escaped(std::string_view text)
{
    static constexpr char kDigits[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
            out += c;
        } else {
            out += '\\';
            out += kDigits[byte >> 4];
            out += kDigits[byte & 15];
        }
    }
    return out;
}

} // namespace

std::string irSymbol(std::string_view name) { return "@\"" + escaped(name) + "\""; }

std::string irDtype(core::DataType dtype)
{
    return "%DType { i8 " + std::to_string(static_cast<int>(dtype.kind)) + ", i8 " +
           std::to_string(dtype.bits) + ", i16 " + std::to_string(dtype.lanes) + " }";
}

std::string IrText::addConstant(std::string_view type, std::string_view value)
{
    const std::string symbol = "@tenon.constant." + std::to_string(m_constants++);
    m_text += symbol + " = private unnamed_addr constant " + std::string(type) + " " +
              std::string(value) + "\n";
    return symbol;
}

std::string IrText::addString(std::string_view text)
{
    return addConstant("[" + std::to_string(text.size() + 1) + " x i8]",
                       "c\"" + escaped(text) + "\\00\"");
}

std::string IrText::addNumbers(const std::vector<int64_t>& numbers)
{
    if (numbers.empty()) return "null";
    std::vector<std::string> items;
    for (const int64_t number : numbers) items.push_back("i64 " + std::to_string(number));
    return addConstant("[" + std::to_string(numbers.size()) + " x i64]",
                       "[" + core::join(items, ", ") + "]");
}

} // namespace tenon::compiler
