// SPDX-License-Identifier: Apache-2.0
// Options of custom operators that are checked as they are read.
#include "compiler/frontend/tflite/converters/custom_options.h"

#include "compiler/frontend/tflite/file/flexbuffer.h"

#include <cmath>
#include <cstring>

namespace tenon::compiler {
namespace {

std::optional<double> numberAt(TfliteNode& node, const char* name)
{
    const auto numbers = flexNumbers(node.file().customOptions);
    if (!numbers || !numbers->contains(name)) return std::nullopt;
    return numbers->at(name);
}

void failOption(TfliteNode& node, const char* name, const std::string& needed)
{
    node.fail(DiagnosticCode::BadAttribute,
              "its option `" + std::string(name) + "` is to be " + needed);
}

bool isWhole(double value, int64_t low, int64_t high)
{
    return value >= static_cast<double>(low) && value <= static_cast<double>(high) &&
           value == std::floor(value);
}

} // namespace

int64_t wholeOption(TfliteNode& node, const char* name, int64_t low, int64_t high)
{
    if (node.hasFailed()) return low;
    const auto value = numberAt(node, name);
    if (value && isWhole(*value, low, high)) return static_cast<int64_t>(*value);
    failOption(node, name,
               "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return low;
}

double positiveOption(TfliteNode& node, const char* name)
{
    if (node.hasFailed()) return 1;
    const auto value = numberAt(node, name);
    if (value && *value > 0 && std::isfinite(*value)) return *value;
    failOption(node, name, "a number above 0");
    return 1;
}

double realOption(TfliteNode& node, const char* name, double fallback)
{
    if (node.hasFailed()) return fallback;
    const double value = numberAt(node, name).value_or(fallback);
    if (!std::isfinite(value)) failOption(node, name, "a finite number");
    return value;
}

std::vector<int64_t> indicesOption(TfliteNode& node, const char* name, int64_t limit)
{
    if (node.hasFailed()) return {};
    const auto lists = flexLists(node.file().customOptions);
    std::vector<int64_t> out;
    if (lists && lists->contains(name))
        for (const double value : lists->at(name)) {
            if (!isWhole(value, 0, limit - 1)) {
                out.clear();
                break;
            }
            out.push_back(static_cast<int64_t>(value));
        }
    if (out.empty())
        failOption(node, name, "a list of whole numbers from 0 to " + std::to_string(limit - 1));
    return out;
}

std::vector<int64_t> structOptions(TfliteNode& node, size_t count)
{
    const std::span<const std::byte> bytes = node.file().customOptions;
    std::vector<int64_t> out(count, 0);
    if (bytes.size() < count * sizeof(int32_t)) {
        node.fail(DiagnosticCode::BadAttribute,
                  "its options have " + std::to_string(bytes.size()) + " bytes where " +
                      std::to_string(count * sizeof(int32_t)) + " are needed");
        return out;
    }
    for (size_t i = 0; i < count; ++i) {
        int32_t value = 0;
        std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
        out[i] = value;
    }
    return out;
}

} // namespace tenon::compiler
