// SPDX-License-Identifier: Apache-2.0
// Looks an address up in nm's table.
#include "remote/footprint/symbol_at.h"

#include "core/base/tool.h"

#include <cstdlib>
#include <sstream>

namespace tenon::remote {

std::string symbolAt(const std::string& image, uint64_t address)
{
    const uint64_t place = address & ~uint64_t{1}; // the low bit marks Thumb code
    for (const char* nm : {"arm-none-eabi-nm", "riscv64-unknown-elf-nm", "nm"}) {
        if (!core::hasTool(nm)) continue;
        const auto table = core::runTool({nm, "-S", image});
        if (!table) continue;
        std::istringstream lines(*table);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream fields(line);
            std::string at, size, kind, name;
            if (!(fields >> at >> size >> kind >> name)) continue;
            const uint64_t start = std::strtoull(at.c_str(), nullptr, 16) & ~uint64_t{1};
            if (place >= start && place < start + std::strtoull(size.c_str(), nullptr, 16))
                return name;
        }
    }
    return {};
}

} // namespace tenon::remote
