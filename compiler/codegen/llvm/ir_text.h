// SPDX-License-Identifier: Apache-2.0
// IrText: collects LLVM IR as text, with the constants that the functions refer to.
#pragma once

#include "core/tensor/dtype.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// "@name", quoted whatever the name holds.
std::string irSymbol(std::string_view name);

/// `%DType { ... }` of the DLPack triple.
std::string irDtype(core::DataType dtype);

/// Globals and functions in the order in which they were added.
class IrText
{
public:
    IrText& line(std::string_view text)
    {
        m_text += text;
        m_text += '\n';
        return *this;
    }
    /// A zero-terminated text; the result is its symbol.
    std::string addString(std::string_view text);
    /// A list of 64-bit numbers; "null" for none.
    std::string addNumbers(const std::vector<int64_t>& numbers);
    /// A private constant of this type and value; the result is its symbol.
    std::string addConstant(std::string_view type, std::string_view value);

    const std::string& text() const { return m_text; }

private:
    std::string m_text;
    int m_constants = 0;
};

} // namespace tenon::compiler
