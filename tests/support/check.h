// SPDX-License-Identifier: Apache-2.0
// Matcher for long output: CHECK, CHECK-NEXT, CHECK-SAME, CHECK-NOT and [[name:regex]] captures.
#pragma once

#include <string>
#include <string_view>

namespace tenon::test {

/// Matches `output` against the directive lines found in `directives`; other lines are ignored.
///
///   CHECK: text        text occurs at or after the end of the last match
///   CHECK-NEXT: text   text occurs in the line after the last match
///   CHECK-SAME: text   text occurs in the rest of the line of the last match
///   CHECK-NOT: text    text does not occur between the matches around this line
///
/// Text is literal except that a run of blanks matches any run of blanks, `[[name:regex]]` captures
/// and `[[name]]` repeats a capture. Returns "" when all hold, else what failed, for a human.
std::string checkFailure(std::string_view output, std::string_view directives);

} // namespace tenon::test
