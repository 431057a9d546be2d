// SPDX-License-Identifier: Apache-2.0
// Reading and writing lists of pools.
#include "compiler/memory/pools.h"

#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <optional>
#include <set>

namespace tenon::compiler {

std::optional<int64_t> parseMemorySize(std::string_view text)
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

namespace {

core::Diagnostic badPool(std::string_view part, std::string_view why)
{
    return core::makeError(core::DiagnosticCode::BadArgument,
                           "pool " + core::quoted(part) + " " + std::string(why) +
                               "; write NAME=BYTES such as DTCM=128KiB, or NAME for no limit");
}

/// What the assembler takes unquoted.
bool isSectionName(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '.';
    });
}

/// What C and the archives of other tools name a memory by.
bool isPoolName(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '-' || c == '.';
    });
}

core::Result<Pool> parsePool(std::string_view whole)
{
    const std::string_view part = whole.substr(0, whole.find('@'));
    const size_t equals = part.find('=');
    Pool pool;
    if (part.size() < whole.size()) {
        pool.section = std::string(core::trimmed(whole.substr(part.size() + 1)));
        if (!isSectionName(pool.section)) return badPool(whole, "has no section that can be named");
    }
    pool.name = std::string(core::trimmed(part.substr(0, equals)));
    if (pool.name.empty()) return badPool(part, "has no name");
    if (!isPoolName(pool.name))
        return badPool(part, "has a name of more than letters, digits, `_`, `-` and `.`");
    if (equals == std::string_view::npos) return pool;
    const auto bytes = parseMemorySize(core::trimmed(part.substr(equals + 1)));
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

namespace {

/// Calls `take(pool, value)` for every "NAME:VALUE".
core::Status eachValue(const std::string& option, const std::string& text, std::vector<Pool>& pools,
                       const std::function<core::Status(Pool&, const std::string&)>& take)
{
    if (core::trimmed(text).empty()) return core::kDone;
    for (const std::string& entry : core::split(text, ',')) {
        const size_t colon = entry.find(':');
        const std::string name(core::trimmed(entry.substr(0, colon)));
        const auto pool = std::find_if(pools.begin(), pools.end(),
                                       [&](const Pool& each) { return each.name == name; });
        if (colon == std::string::npos || pool == pools.end())
            return core::makeError(core::DiagnosticCode::BadArgument,
                                   option + " " + core::quoted(entry) +
                                       " is not of a pool that was named; write NAME:VALUE");
        if (core::Status taken = take(*pool, std::string(core::trimmed(entry.substr(colon + 1))));
            !taken)
            return taken;
    }
    return core::kDone;
}

core::Status readNumbers(const std::string& option, const std::string& text,
                         std::vector<Pool>& pools, int64_t Pool::*field)
{
    return eachValue(
        option, text, pools, [&](Pool& pool, const std::string& value) -> core::Status {
            const auto [end, fault] =
                std::from_chars(value.data(), value.data() + value.size(), pool.*field);
            if (fault == std::errc() && end == value.data() + value.size() && pool.*field >= -1)
                return core::kDone;
            return core::makeError(core::DiagnosticCode::BadArgument,
                                   option + " of pool " + core::quoted(pool.name) + " is " +
                                       core::quoted(value) + ", which is no number");
        });
}

core::Status checkTargets(const std::string& text, std::string_view kind, std::vector<Pool>& pools)
{
    return eachValue("targets", text, pools, [&](Pool& pool, const std::string& value) {
        if (value == kind) return core::Status(core::kDone);
        return core::Status(core::makeError(core::DiagnosticCode::UnknownName,
                                            "pool " + core::quoted(pool.name) + " is of target " +
                                                core::quoted(value) + "; the model runs on " +
                                                core::quoted(std::string(kind)) + " alone"));
    });
}

core::Status readSections(const std::string& text, std::vector<Pool>& pools)
{
    return eachValue("section", text, pools, [](Pool& pool, const std::string& value) {
        pool.section = value;
        return isSectionName(value) ? core::Status(core::kDone)
                                    : core::Status(badPool(value, "names no section"));
    });
}

/// Letters, digits and underscores, as the names of structs and macros have them.
core::Status checkNames(const std::vector<Pool>& pools)
{
    std::set<std::string> taken;
    for (const Pool& pool : pools) {
        std::string name = pool.name;
        for (char& c : name)
            c = std::isalnum(static_cast<unsigned char>(c))
                    ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                    : '_';
        if (!taken.insert(name).second)
            return core::makeError(core::DiagnosticCode::BadArgument,
                                   "pool " + core::quoted(pool.name) +
                                       " has the same name in C as another pool");
    }
    return core::kDone;
}

} // namespace

core::Result<std::vector<Pool>> namedPools(const PoolOptions& options, std::string_view kind)
{
    if (core::trimmed(options.names).empty()) return std::vector<Pool>();
    auto pools = parsePools(options.names);
    if (!pools) return pools;
    if (core::Status done = checkNames(*pools); !done) return done.error();
    if (core::Status done = checkTargets(options.targets, kind, *pools); !done) return done.error();
    if (core::Status done = readSections(options.sections, *pools); !done) return done.error();
    struct Number
    {
        const char* option;
        const std::string& text;
        int64_t Pool::*field;
    };
    const Number numbers[] = {
        {"size-hint-bytes", options.sizeHints, &Pool::sizeHintBytes},
        {"clock-frequency-hz", options.clocksHz, &Pool::clockHz},
        {"read-bandwidth-bytes-per-cycle", options.readBandwidths, &Pool::readBytesPerCycle},
        {"write-bandwidth-bytes-per-cycle", options.writeBandwidths, &Pool::writeBytesPerCycle},
        {"read-latency-cycles", options.readLatencies, &Pool::readLatencyCycles},
        {"write-latency-cycles", options.writeLatencies, &Pool::writeLatencyCycles}};
    for (const Number& number : numbers)
        if (core::Status done = readNumbers(number.option, number.text, *pools, number.field);
            !done)
            return done.error();
    for (Pool& pool : *pools) pool.isCallers = pool.section.empty();
    return pools;
}

core::Status checkApart(const std::vector<Pool>& workspace, const std::vector<Pool>& constants)
{
    std::vector<Pool> all = workspace;
    all.insert(all.end(), constants.begin(), constants.end());
    return checkNames(all);
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
        if (!pool.section.empty()) part += "@" + pool.section;
        parts.push_back(std::move(part));
    }
    return core::join(parts, ",");
}

} // namespace tenon::compiler
