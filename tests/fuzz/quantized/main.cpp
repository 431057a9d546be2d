// SPDX-License-Identifier: Apache-2.0
// Error of quantized models: `./dev fuzz quantized --count N`.
//
// usage: fuzz_quantized [--count N] [--seed S] [--save FOLDER] [--target TARGET] [--opt-level L]
//                       [--table]
// Graph i has the seed S + i, and with it its executor and threads. Fails when a quantized tensor
// that is fed exact inputs is more than a step off, or when fewer than 99.9 % of the elements of
// whole graphs are within a step. What fails is kept below FOLDER as cases for `tenon verify`.
#include "tests/fuzz/quantized/check_quantized.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tenon::test {
namespace {

constexpr double kWantedShare = 0.999;

struct Options
{
    int count = 2000;
    uint64_t seed = 1;
    std::string save = "fuzz-quantized";
    std::string target = QuantizedSetting().target;
    int optLevel = 3;
    bool showsTable = false;
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
        else if (std::strcmp(argv[i], "--target") == 0 && hasNext)
            options.target = argv[++i];
        else if (std::strcmp(argv[i], "--opt-level") == 0 && hasNext)
            options.optLevel = std::atoi(argv[++i]);
        else if (std::strcmp(argv[i], "--table") == 0)
            options.showsTable = true;
        else
            return false;
    }
    return true;
}

QuantizedSetting settingOf(const Options& options, uint64_t seed)
{
    return {.target = options.target,
            .optLevel = options.optLevel,
            .isVm = seed % 5 == 0,
            .threads = seed % 3 == 0 ? 2u : 1u};
}

void print(const Options& options, const QuantizedDifferences& all, int failures)
{
    if (options.showsTable)
        for (const auto& [label, steps] : all.local)
            if (steps.largest > 0) std::printf("  %-60s %s\n", label.c_str(), steps.text().c_str());
    std::printf("%d graphs for %s at opt level %d\n", options.count, options.target.c_str(),
                options.optLevel);
    std::printf("  each tensor on exact inputs: %s\n", all.allLocal().text().c_str());
    std::printf("  whole graphs, results: %s\n", all.whole.text().c_str());
    std::printf("  whole graphs, every tensor: %s\n", all.tapped.text().c_str());
    if (failures > 0) std::printf("  %d graphs failed\n", failures);
}

int fuzz(const Options& options)
{
    core::JobContext job;
    QuantizedDifferences all;
    int failures = 0;
    for (int i = 0; i < options.count; ++i) {
        const uint64_t seed = options.seed + static_cast<uint64_t>(i);
        const std::string folder = options.save + "/seed_" + std::to_string(seed);
        const auto found =
            checkQuantized(makeQuantizedGraph(seed), settingOf(options, seed), folder, job);
        if (found) all.add(*found);
        if (found && found->worst.empty()) {
            std::filesystem::remove_all(folder);
            continue;
        }
        ++failures;
        std::filesystem::remove_all(folder + "/cache");
        std::printf("seed %llu: %s\n  kept in %s\n", static_cast<unsigned long long>(seed),
                    found ? found->worst.c_str() : found.error().text().c_str(), folder.c_str());
        std::fflush(stdout);
    }
    print(options, all, failures);
    const bool isWithin =
        all.whole.shareWithinOne() >= kWantedShare && all.tapped.shareWithinOne() >= kWantedShare;
    return failures == 0 && isWithin ? 0 : 1;
}

} // namespace
} // namespace tenon::test

int main(int argc, char** argv)
{
    tenon::test::Options options;
    if (!tenon::test::readOptions(argc, argv, options)) {
        std::fprintf(stderr, "usage: fuzz_quantized [--count N] [--seed S] [--save FOLDER] "
                             "[--target TARGET] [--opt-level L] [--table]\n");
        return 2;
    }
    return tenon::test::fuzz(options);
}
