// SPDX-License-Identifier: Apache-2.0
// Error of quantized models: `./dev fuzz quantized --count N`.
//
// usage: fuzz_quantized [--count N] [--seed S] [--save FOLDER] [--target TARGET] [--opt-level L]
//                       [--table] [--model FOLDER]...
// Graph i has the seed S + i, and with it its executor and threads. Fails when a quantized tensor
// that is fed exact inputs is more than a step off, or when fewer than 99.9 % of the elements of
// whole graphs are within a step. What fails is kept below FOLDER as cases for `tenon verify`; how
// far it is goes to standard error, every 50 graphs or 10 seconds.
// --model counts the steps of the models of such cases instead: opt levels 0 and 3, the graph and
// the AOT executor, one thread and two.
#include "tests/fuzz/quantized/check_quantized.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

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
    std::vector<std::string> models;
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
        else if (std::strcmp(argv[i], "--model") == 0 && hasNext)
            options.models.emplace_back(argv[++i]);
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
            .executor = seed % 5 == 0   ? compiler::ExecutorKind::Vm
                        : seed % 5 == 1 ? compiler::ExecutorKind::Graph
                                        : compiler::ExecutorKind::Aot,
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

/// The graph's differences. Steps that are finer than binary32 resolves, as scales that fit no
/// values may be, are none of a rewrite's: opt level 0, which the model's own operators run at, is
/// as far off there.
core::Result<QuantizedDifferences> differences(const QuantizedGraph& graph,
                                               const QuantizedSetting& setting,
                                               const std::string& folder, core::JobContext& job)
{
    auto found = checkQuantized(graph, setting, folder, job);
    if (!found || found->worst.empty() || graph.isCalibrated || setting.optLevel == 0) return found;
    QuantizedSetting plain = setting;
    plain.optLevel = 0;
    const auto own = checkQuantized(graph, plain, folder, job);
    if (!own) return own;
    const auto isOwn = [&](const auto& row) {
        const auto at = own->local.find(row.first);
        return row.second.more == 0 ||
               (at != own->local.end() && at->second.more >= row.second.more &&
                at->second.largest >= row.second.largest);
    };
    if (!std::all_of(found->local.begin(), found->local.end(), isOwn)) return found;
    std::erase_if(found->local, [](const auto& row) { return row.second.more > 0; });
    found->worst.clear();
    return found;
}

/// Says how far a campaign is, so that one of an hour can be told from one that hangs.
class Progress
{
public:
    void show(int done, int count, int failures, const QuantizedDifferences& all)
    {
        constexpr int kGraphs = 50;
        constexpr std::chrono::seconds kPause(10);
        const auto now = std::chrono::steady_clock::now();
        if (done < m_done + kGraphs && now < m_at + kPause) return;
        m_done = done;
        m_at = now;
        std::fprintf(stderr,
                     "%d of %d graphs, %d failed, share of elements within one step: %.5f %% "
                     "of results, %.5f %% of tensors\n",
                     done, count, failures, 100 * all.whole.shareWithinOne(),
                     100 * all.tapped.shareWithinOne());
    }

private:
    int m_done = 0;
    std::chrono::steady_clock::time_point m_at = std::chrono::steady_clock::now();
};

int fuzz(const Options& options)
{
    core::JobContext job;
    QuantizedDifferences all;
    Progress progress;
    int failures = 0;
    for (int i = 0; i < options.count; ++i) {
        progress.show(i, options.count, failures, all);
        const uint64_t seed = options.seed + static_cast<uint64_t>(i);
        const std::string folder = options.save + "/seed_" + std::to_string(seed);
        const auto found =
            differences(makeQuantizedGraph(seed), settingOf(options, seed), folder, job);
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

/// One row of the table: all data sets of a model in one setting.
bool countModel(const Options& options, const std::string& folder, const QuantizedSetting& setting,
                core::JobContext& job)
{
    const std::string name = std::filesystem::path(folder).filename().string();
    QuantizedDifferences all;
    for (int set = 0; set < dataSetsOf(folder); ++set) {
        const auto graph = readQuantizedModel(folder, set);
        if (!graph) {
            std::printf("%s: %s\n", name.c_str(), graph.error().text().c_str());
            return false;
        }
        const auto found = checkQuantized(*graph, setting, options.save + "/" + name, job);
        if (!found) {
            std::printf("%s: %s\n", name.c_str(), found.error().text().c_str());
            return false;
        }
        all.add(*found);
    }
    const auto counts = [](const Steps& steps) {
        return std::to_string(steps.elements) + " | " + std::to_string(steps.one) + " | " +
               std::to_string(steps.more);
    };
    std::printf("| %s | %d | %s | %u | %s | %s | %s |\n", name.c_str(), setting.optLevel,
                std::string(compiler::executorName(setting.executor)).c_str(), setting.threads,
                counts(all.whole).c_str(), counts(all.tapped).c_str(),
                counts(all.allLocal()).c_str());
    std::fflush(stdout);
    return all.allLocal().more == 0;
}

int countModels(const Options& options)
{
    core::JobContext job;
    std::printf(
        "elements, by one step, by more: of the last quantized tensors, of all of them, and "
        "of each on exact inputs\n"
        "| model | level | executor | threads | last | 1 | > 1 | all | 1 | > 1 | alone | 1 | "
        "> 1 |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    bool isWithin = true;
    for (const std::string& folder : options.models)
        for (const int level : {0, 3})
            for (const auto executor : {compiler::ExecutorKind::Graph, compiler::ExecutorKind::Aot})
                for (const unsigned threads : {1u, 2u})
                    isWithin &= countModel(options, folder,
                                           {options.target, level, executor, threads}, job);
    std::filesystem::remove_all(options.save);
    return isWithin ? 0 : 1;
}

} // namespace
} // namespace tenon::test

int main(int argc, char** argv)
{
    tenon::test::Options options;
    if (!tenon::test::readOptions(argc, argv, options)) {
        std::fprintf(stderr, "usage: fuzz_quantized [--count N] [--seed S] [--save FOLDER] "
                             "[--target TARGET] [--opt-level L] [--table] [--model FOLDER]...\n");
        return 2;
    }
    return options.models.empty() ? tenon::test::fuzz(options) : tenon::test::countModels(options);
}
