// SPDX-License-Identifier: Apache-2.0
// Reading binutils' tables.
#include "remote/footprint/tool.h"

#include "core/base/tool.h"

#include <cstdlib>
#include <sstream>

namespace tenon::remote {

using core::Result;

Result<std::map<std::string, int64_t>> symbolBytes(const std::string& nm, const std::string& image)
{
    const Result<std::string> table = core::runTool({nm, "-S", image});
    if (!table) return table.error();
    std::map<std::string, int64_t> bytes;
    std::istringstream lines(*table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string address, size, kind, name;
        if (fields >> address >> size >> kind >> name)
            bytes[name] = static_cast<int64_t>(std::strtoull(size.c_str(), nullptr, 16));
    }
    return bytes;
}

Result<std::map<std::string, int64_t>> sectionBytes(const std::string& size,
                                                    const std::string& image)
{
    const Result<std::string> table = core::runTool({size, "-A", image});
    if (!table) return table.error();
    std::map<std::string, int64_t> bytes;
    std::istringstream lines(*table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string name;
        int64_t value = 0;
        if (line.starts_with('.') && fields >> name >> value) bytes[name] = value;
    }
    return bytes;
}

} // namespace tenon::remote
