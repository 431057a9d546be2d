// SPDX-License-Identifier: Apache-2.0
// tenon-zoo: writes one model of the zoo to a file.
// usage: tenon-zoo NAME OUT.onnx [--nodes N] [--size N] [--batch N] [--divide-channels N] [--seed
// N]
#include "core/base/file.h"
#include "tests/zoo/zoo.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using tenon::test::ZooOptions;

/// False for an unknown option.
bool setOption(ZooOptions& options, std::string_view name, int64_t value)
{
    if (name == "--nodes")
        options.nodes = value;
    else if (name == "--size")
        options.imageSize = value;
    else if (name == "--batch")
        options.batch = value;
    else if (name == "--divide-channels")
        options.channelDivisor = value;
    else if (name == "--seed")
        options.seed = static_cast<uint64_t>(value);
    else
        return false;
    return true;
}

int printUsage()
{
    std::fprintf(stderr, "usage: tenon-zoo NAME OUT.onnx [--nodes N] [--size N] [--batch N]\n"
                         "                 [--divide-channels N] [--seed N]\nnames:");
    for (const auto& entry : tenon::test::zooEntries()) std::fprintf(stderr, " %s", entry.name);
    std::fprintf(stderr, "\n");
    return 2;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3 || argc % 2 == 0) return printUsage();
    ZooOptions options;
    for (int i = 3; i + 1 < argc; i += 2)
        if (!setOption(options, argv[i], std::atoll(argv[i + 1]))) return printUsage();
    const std::string bytes = tenon::test::makeZooModel(argv[1], options);
    if (bytes.empty()) return printUsage();
    const auto written = tenon::core::writeFileAtomically(argv[2], bytes);
    if (written) return 0;
    std::fprintf(stderr, "%s\n", written.error().text().c_str());
    return 1;
}
