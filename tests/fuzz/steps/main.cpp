// SPDX-License-Identifier: Apache-2.0
// Steps behind arithmetic, for every target that runs here: `./dev fuzz steps --count N`.
//
// usage: fuzz_steps [--count N] [--seed S] [--save FOLDER] [--target NAME] [--level N] [--quick]
// Model i has the seed S + i; what differs is kept below FOLDER as a case for `tenon verify`.
// --quick takes opt levels 0 and 3 for other processors, and two threads on this one at level 3.
// The references are those of ONNX's definitions with every operation rounded by itself; sums are
// compared at opt level 0.
#include "core/base/text.h"
#include "tests/fuzz/steps/run_steps.h"
#include "tests/support/environment.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

namespace tenon::test {
namespace {

struct Options
{
    int count = 20;
    uint64_t seed = 1;
    std::string save = "fuzz-steps";
    std::string target; ///< part of a name; empty: all
    int level = -1;     ///< -1: all
    bool isQuick = false;
};

bool readOptions(int argc, char** argv, Options& options)
{
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--quick") {
            options.isQuick = true;
            continue;
        }
        if (i + 1 == argc) return false;
        const char* value = argv[++i];
        if (name == "--count")
            options.count = std::atoi(value);
        else if (name == "--seed")
            options.seed = std::strtoull(value, nullptr, 10);
        else if (name == "--save")
            options.save = value;
        else if (name == "--target")
            options.target = value;
        else if (name == "--level")
            options.level = std::atoi(value);
        else
            return false;
    }
    return true;
}

/// Many chains in one model, of halves in another, as C has none; what takes a model of its own;
/// sums, which opt level 0 keeps in order.
enum class Kind
{
    Steps,
    Halves,
    Suppression,
    Sums
};

StepModel makeModel(Kind kind, uint64_t seed)
{
    constexpr int kChains = 24, kHalves = 12, kOthers = 8, kSums = 10;
    StepModel model(seed);
    if (kind == Kind::Suppression) addSuppression(model);
    for (int i = 0; kind == Kind::Sums && i < kSums; ++i) addSum(model);
    for (int i = 0; kind == Kind::Steps && i < kChains; ++i)
        addStep(model, addChain(model, model.chance(75) ? core::kFloat32 : core::kFloat64));
    for (int i = 0; kind == Kind::Halves && i < kHalves; ++i)
        addStep(model, addChain(model, model.chance(60) ? core::kFloat16 : core::kBfloat16));
    for (int i = 0; kind == Kind::Steps && i < kOthers; ++i) addOther(model);
    return model;
}

/// Why the target does not run the model here; empty: it does.
std::string reasonAgainst(const StepTarget& target, const StepModel& model, Kind kind)
{
    if (kind == Kind::Halves && target.cc[0]) return "C has no halves";
    if (model.needsVm && !target.hasVm) return "its executor needs known sizes";
    for (const std::string& tool :
         {core::split(target.runner, ' ')[0], core::split(target.cc, ' ')[0]})
        if (!tool.empty() && toolPath(tool).empty()) return tool + " is not installed";
    return {};
}

std::vector<StepBuild> buildsOf(const StepTarget& target, Kind kind, const Options& options)
{
    const bool isHere = !target.runner[0] && !target.cc[0];
    const bool isNative = std::strstr(target.target, "native") != nullptr;
    std::vector<StepBuild> builds;
    for (int level = 0; level <= 3; ++level) {
        if (options.level >= 0 && level != options.level) continue;
        if (kind == Kind::Sums && level > 0) continue;
        // Between them no pass or schedule differs that these models have.
        if (options.isQuick && !isNative && (level == 1 || level == 2)) continue;
        builds.push_back({target, level, 1});
        if (isHere && (!options.isQuick || (isNative && level == 3)))
            builds.push_back({target, level, 2});
    }
    return builds;
}

struct Tally
{
    int builds = 0, outputs = 0, mismatches = 0;
    std::map<std::string, std::string> excluded; ///< target -> reason
};

void check(const StepModel& model, Kind kind, const std::string& folder, const Options& options,
           Tally& tally)
{
    core::JobContext job;
    if (const core::Status written = writeSteps(model, folder); !written) {
        std::printf("%s\n", written.error().text().c_str());
        ++tally.mismatches;
        return;
    }
    for (const StepTarget& target : stepTargets()) {
        if (std::string(target.name).find(options.target) == std::string::npos) continue;
        if (const std::string reason = reasonAgainst(target, model, kind); !reason.empty()) {
            tally.excluded[target.name] = reason;
            continue;
        }
        for (const StepBuild& build : buildsOf(target, kind, options)) {
            const std::string what = checkSteps(model, build, folder, job);
            ++tally.builds;
            tally.outputs += static_cast<int>(model.outputs.size());
            if (what.empty()) continue;
            ++tally.mismatches;
            std::printf("%s, %s:\n%s", folder.c_str(), build.text().c_str(), what.c_str());
            std::fflush(stdout);
        }
    }
}

int fuzz(const Options& options)
{
    Tally tally;
    for (int i = 0; i < options.count; ++i) {
        const uint64_t seed = options.seed + static_cast<uint64_t>(i);
        for (const auto& [kind, name] :
             {std::pair(Kind::Steps, "steps"), std::pair(Kind::Halves, "halves"),
              std::pair(Kind::Suppression, "suppression"), std::pair(Kind::Sums, "sums")}) {
            const std::string folder = options.save + "/" + name + "_" + std::to_string(seed);
            const int before = tally.mismatches;
            check(makeModel(kind, seed), kind, folder, options, tally);
            if (tally.mismatches == before) std::filesystem::remove_all(folder);
        }
    }
    for (const auto& [target, reason] : tally.excluded)
        std::printf("left out for %s: %s\n", target.c_str(), reason.c_str());
    std::printf("%d builds, %d outputs, %d builds with differences\n", tally.builds, tally.outputs,
                tally.mismatches);
    return tally.mismatches == 0 ? 0 : 1;
}

} // namespace
} // namespace tenon::test

int main(int argc, char** argv)
{
    tenon::test::Options options;
    if (!tenon::test::readOptions(argc, argv, options)) {
        std::fprintf(stderr, "usage: fuzz_steps [--count N] [--seed S] [--save FOLDER] "
                             "[--target NAME] [--level N] [--quick]\n");
        return 2;
    }
    return tenon::test::fuzz(options);
}
