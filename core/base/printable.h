// SPDX-License-Identifier: Apache-2.0
// Text out of files that may be hostile, as a terminal may show it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::core {

enum class LineBreaks : uint8_t
{
    Keep,
    Escape
};

/// Control codes, bytes that are no UTF-8 and marks that turn the reading direction become escapes
/// such as `\x1b` and `\u202e`; everything else stays.
std::string printable(std::string_view text, LineBreaks lineBreaks = LineBreaks::Keep);

/// The beginning and the end of a name of more than a KiB, with its length between them.
std::string elided(std::string_view name);

/// A message whose words and names in backticks are elided, and which ends after 32 KiB.
std::string elidedWords(std::string_view message);

} // namespace tenon::core
