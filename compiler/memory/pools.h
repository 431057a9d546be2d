// SPDX-License-Identifier: Apache-2.0
// Workspace pools as text: "DTCM=128KiB,SRAM".
#pragma once

#include "compiler/memory/memory_plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// Reads pools in order of preference, comma-separated: NAME=BYTES with an optional unit (K, KiB,
/// M, MiB), or NAME alone for a pool without limit. Empty text is one pool without limit. Error
/// BadArgument quotes the part.
core::Result<std::vector<Pool>> parsePools(std::string_view text);

/// The text that parsePools reads back.
std::string poolsText(const std::vector<Pool>& pools);

} // namespace tenon::compiler
