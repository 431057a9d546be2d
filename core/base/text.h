// SPDX-License-Identifier: Apache-2.0
// The few text helpers we need in place of std::format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string join(const std::vector<int64_t>& numbers, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trimmed(std::string_view text);
/// Every `what`, from left to right, becomes `by`.
std::string replaced(std::string text, std::string_view what, std::string_view by);

/// `value` with `digits` decimals, always with a point ("3.50").
std::string fixed(double value, int digits);
/// Shortest decimal that reads back to exactly the same double ("0.1", "1e-05", "nan", "inf").
std::string exact(double value);
/// 1234567 -> "1,234,567".
std::string thousands(int64_t value);
/// 1536 -> "1.50 KiB"; below 1 KiB "17 B".
std::string bytesText(uint64_t bytes);

/// `name` quoted in backticks for messages.
std::string quoted(std::string_view name);

/// The `count` candidates nearest to `name` by edit distance, for "did you mean".
std::vector<std::string> nearestNames(std::string_view name,
                                      const std::vector<std::string>& candidates, size_t count);

} // namespace tenon::core
