// SPDX-License-Identifier: Apache-2.0
// Differential fuzzing of whole graphs: `./dev fuzz graphs --count N`.
//
// usage: fuzz_graphs [--count N] [--seed S] [--save FOLDER] [--peer PROGRAM LIBRARY]
// Graph i has the seed S + i. Mismatches are kept below FOLDER as cases for `tenon verify`.
#include "tests/fuzz/graphs/run_graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tenon::test {
namespace {

struct Options
{
    int count = 1000;
    uint64_t seed = 1;
    std::string save = "fuzz-graphs";
    Peer peer;
};

bool readOptions(int argc, char** argv, Options& options)
{
    for (int i = 1; i < argc; ++i) {
        const bool hasNext = i + 1 < argc;
        if (std::strcmp(argv[i], "--count") == 0 && hasNext)
            options.count = std::atoi(argv[++i]);
        else if (std::strcmp(argv[i], "--seed") == 0 && hasNext)
            options.seed = std::strtoull(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--save") == 0 && hasNext)
            options.save = argv[++i];
        else if (std::strcmp(argv[i], "--peer") == 0 && i + 2 < argc) {
            options.peer = {argv[i + 1], argv[i + 2]};
            i += 2;
        } else {
            return false;
        }
    }
    return true;
}

int fuzz(const Options& options)
{
    core::JobContext job;
    int mismatches = 0, skipped = 0, onVm = 0;
    double largest = 0;
    for (int i = 0; i < options.count; ++i) {
        const uint64_t seed = options.seed + static_cast<uint64_t>(i);
        const RandomGraph graph = makeRandomGraph(seed);
        const std::string folder = options.save + "/seed_" + std::to_string(seed);
        const GraphCheck check = checkGraph(graph, folder, options.peer, job);
        skipped += check.isSkipped;
        onVm += graph.needsVm;
        largest = std::max(largest, check.largest);
        if (check.mismatch.empty()) {
            std::filesystem::remove_all(folder);
            continue;
        }
        ++mismatches;
        std::filesystem::remove_all(folder + "/cache");
        std::printf("seed %llu: %s\n  kept in %s\n", static_cast<unsigned long long>(seed),
                    check.mismatch.c_str(), folder.c_str());
        std::fflush(stdout);
    }
    std::printf("%d graphs, %d of them for the VM only, %d without finite values, %d mismatches; "
                "largest relative difference %.2g\n",
                options.count, onVm, skipped, mismatches, largest);
    return mismatches == 0 ? 0 : 1;
}

} // namespace
} // namespace tenon::test

int main(int argc, char** argv)
{
    tenon::test::Options options;
    if (!tenon::test::readOptions(argc, argv, options)) {
        std::fprintf(stderr, "usage: fuzz_graphs [--count N] [--seed S] [--save FOLDER] "
                             "[--peer PROGRAM LIBRARY]\n");
        return 2;
    }
    return tenon::test::fuzz(options);
}
