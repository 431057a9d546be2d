// SPDX-License-Identifier: Apache-2.0
// Reading and writing lists of pools.
#include "compiler/memory/pools.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tenon::compiler {
namespace {

core::Diagnostic badPool(std::string_view part, std::string_view why)
{
    return core::makeError(core::DiagnosticCode::BadArgument,
                           "pool " + core::quoted(part) + " " + std::string(why) +
                               "; write NAME=BYTES such as DTCM=128KiB, or NAME for no limit");
}

std::optional<int64_t> parseBytes(std::string_view text)
{
    int64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || value <= 0) return std::nullopt;
    const std::string_view unit =
        core::trimmed(text.substr(static_cast<size_t>(end - text.data())));
    int shift = 0;
    if (unit == "K" || unit == "KiB")
        shift = 10;
    else if (unit == "M" || unit == "MiB")
        shift = 20;
    else if (!unit.empty() && unit != "B")
        return std::nullopt;
    if (value > (INT64_MAX >> shift)) return std::nullopt;
    return value << shift;
}

core::Result<Pool> parsePool(std::string_view part)
{
    const size_t equals = part.find('=');
    Pool pool;
    pool.name = std::string(core::trimmed(part.substr(0, equals)));
    if (pool.name.empty()) return badPool(part, "has no name");
    if (equals == std::string_view::npos) return pool;
    const auto bytes = parseBytes(core::trimmed(part.substr(equals + 1)));
    if (!bytes) return badPool(part, "has no size that can be read");
    pool.sizeHintBytes = *bytes;
    return pool;
}

} // namespace

core::Result<std::vector<Pool>> parsePools(std::string_view text)
{
    if (core::trimmed(text).empty()) return std::vector<Pool>{Pool{}};
    std::vector<Pool> pools;
    for (const std::string& part : core::split(text, ',')) {
        auto pool = parsePool(core::trimmed(part));
        if (!pool) return pool.error();
        const bool isTaken = std::any_of(pools.begin(), pools.end(),
                                         [&](const Pool& p) { return p.name == pool->name; });
        if (isTaken) return badPool(part, "is listed twice");
        pools.push_back(std::move(*pool));
    }
    return pools;
}

std::string poolsText(const std::vector<Pool>& pools)
{
    std::vector<std::string> parts;
    for (const Pool& pool : pools) {
        const int64_t bytes = pool.sizeHintBytes;
        std::string part = pool.name;
        if (bytes > 0 && bytes % 1024 == 0)
            part += "=" + std::to_string(bytes / 1024) + "KiB";
        else if (bytes > 0)
            part += "=" + std::to_string(bytes);
        parts.push_back(std::move(part));
    }
    return core::join(parts, ",");
}

} // namespace tenon::compiler
