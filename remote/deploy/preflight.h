// SPDX-License-Identifier: Apache-2.0
// Will it run there? Answered before anything is sent.
#pragma once

#include "remote/deploy/deployer.h"

#include <cstddef>
#include <span>

namespace tenon::remote {

/// What the header of an ELF file says about the machine it is for.
struct ElfKind
{
    uint16_t machine = 0;
    uint32_t flags = 0;
    bool is64Bit = false;
};
/// Error BadArtifact when the bytes are no little-endian ELF file.
core::Result<ElfKind> readElfKind(std::span<const std::byte> file);

struct Preflight
{
    std::vector<Check> checks;
    std::optional<core::Diagnostic> error; ///< of the first check that is Bad
};

/// Machine and float ABI, processor features, disk and memory. Facts the board does not tell make a
/// check doubtful, never bad.
Preflight preflight(const BuiltModel& model, const BoardFacts& facts);

} // namespace tenon::remote
