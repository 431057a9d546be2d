// SPDX-License-Identifier: Apache-2.0
// Pools as text: "DTCM=128KiB,SRAM", and by the options of tvmc.
#pragma once

#include "compiler/memory/memory_plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// "131072", "128KiB", "1M"; nothing for what is no size above 0.
std::optional<int64_t> parseMemorySize(std::string_view text);

/// Reads pools in order of preference, comma-separated: NAME=BYTES with an optional unit (K, KiB,
/// M, MiB), or NAME alone for a pool without limit; `@.section` behind either names the section of
/// the static array that it becomes. Empty text is one pool without limit. Error BadArgument quotes
/// the part.
core::Result<std::vector<Pool>> parsePools(std::string_view text);

/// The text that parsePools reads back.
std::string poolsText(const std::vector<Pool>& pools);

/// What tvmc says of pools beside their names, each "NAME:VALUE,NAME:VALUE".
struct PoolOptions
{
    std::string names; ///< as parsePools() takes them
    std::string targets;
    std::string sizeHints;
    std::string sections;
    std::string clocksHz;
    std::string readBandwidths;
    std::string writeBandwidths;
    std::string readLatencies;
    std::string writeLatencies;
};

/// The named pools for a target of this kind; none where no names are given. Pools without a
/// section are the caller's. Errors: BadArgument for a pool that was not named, a value that is no
/// number, names that are the same in C; UnknownName for a pool of another target.
core::Result<std::vector<Pool>> namedPools(const PoolOptions& options, std::string_view kind);

/// Both are members of one struct. Error BadArgument for a name that both have.
core::Status checkApart(const std::vector<Pool>& workspace, const std::vector<Pool>& constants);

} // namespace tenon::compiler
