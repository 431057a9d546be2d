// SPDX-License-Identifier: Apache-2.0
// The zoo by name.
#include "tests/zoo/zoo.h"

namespace tenon::test {

const std::vector<ZooEntry>& zooEntries()
{
    static const std::vector<ZooEntry> kEntries = {
#define TENON_ZOO(name, make) {#name, make},
#include "tests/zoo/zoo.def"
    };
    return kEntries;
}

std::string makeZooModel(const std::string& name, const ZooOptions& options)
{
    for (const ZooEntry& entry : zooEntries())
        if (name == entry.name) return entry.make(options);
    return "";
}

} // namespace tenon::test
