// SPDX-License-Identifier: Apache-2.0
// Cursor over graph text: blanks, comments, words, numbers; remembers the first error.
#pragma once

#include "core/base/diagnostic.h"
#include "core/ir/attr.h"
#include "core/ir/type.h"

#include <optional>
#include <string>
#include <string_view>

namespace tenon::core {

/// After the first error every reader returns a default and `ok()` is false.
class GraphLexer
{
public:
    explicit GraphLexer(std::string_view text)
        : m_text(text)
    {
    }

    bool ok() const { return !m_error; }
    const Diagnostic& error() const { return *m_error; }
    void fail(std::string message);

    bool atEnd();
    char peek(); ///< next character behind blanks; 0 at the end
    bool accept(std::string_view token);
    void expect(std::string_view token);
    std::string word();      ///< letters, digits, '_' and '.', or a quoted string
    std::string valueName(); ///< the name behind '%', without an index
    std::string quotedString();
    int64_t integer();
    std::string numberToken(); ///< "-1.5", "nan", "3"; without the suffix f
    AttrValue attrValue();
    TensorType tensorType();
    std::string_view rawUntilLine(std::string_view line); ///< text up to a line equal to `line`
    size_t position();                                    ///< behind blanks; for rewind()
    void rewind(size_t position) { m_at = position; }

private:
    void skipBlanks();
    DataType dtype();

    std::string_view m_text;
    size_t m_at = 0;
    std::optional<Diagnostic> m_error;
};

} // namespace tenon::core
