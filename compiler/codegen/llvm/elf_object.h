// SPDX-License-Identifier: Apache-2.0
// Relocatable ELF objects that hold data and nothing else: weights, module blob, manifest.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "compiler/codegen/data_section.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::compiler {

/// What an object file must agree on with the code it is linked to.
struct ElfMachine
{
    uint16_t machine = 62; ///< e_machine: 62 x86-64, 183 AArch64, 40 Arm, 164 Hexagon, 243 RISC-V
    uint32_t flags = 0;    ///< e_flags
    bool is64 = true;

    /// From a triple; error UnsupportedTarget when the triple's objects are not ELF of these kinds.
    static core::Result<ElfMachine> of(const std::string& triple);
};

/// Writes the object in one pass, straight from the symbols' bytes.
core::Status writeDataObject(const std::string& path, ElfMachine machine,
                             const std::vector<DataSection>& sections);

/// Weights and description as two objects.
core::Status writeElfData(const DataParts& parts);

} // namespace tenon::compiler
