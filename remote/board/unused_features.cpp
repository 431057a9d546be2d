// SPDX-License-Identifier: Apache-2.0
// Compares what LLVM knows of two targets, feature by feature that a person looks for.
#include "remote/board/unused_features.h"

#include "compiler/driver/compile.h"
#include "compiler/driver/target_features.h"
#include "remote/board/processor.h"

#include <algorithm>

namespace tenon::remote {

namespace {

struct Machine
{
    std::string name; ///< as uname -m says it
    std::vector<std::string> features;
};

core::Result<Machine> machineOf(std::string_view text)
{
    const auto target = core::parseTarget(text);
    if (!target) return target.error();
    const auto spec = compiler::machineSpec(*target);
    if (!spec) return spec.error();
    auto features = compiler::targetFeatures(*spec);
    if (!features) return features.error();
    return Machine{std::string(spec->architecture()), *std::move(features)};
}

} // namespace

core::Result<std::vector<std::string>> unusedFeatures(std::string_view target,
                                                      std::string_view boardTarget)
{
    const auto used = machineOf(target);
    if (!used) return used.error();
    const auto board = machineOf(boardTarget);
    if (!board) return board.error();
    std::vector<std::string> unused;
    if (used->name != board->name) return unused;
    const auto has = [](const Machine& machine, std::string_view feature) {
        return std::find(machine.features.begin(), machine.features.end(), feature) !=
               machine.features.end();
    };
    for (const FeatureName& feature : notableFeatures(board->name))
        if (has(*board, feature.llvm) && !has(*used, feature.llvm))
            unused.emplace_back(feature.llvm);
    return unused;
}

} // namespace tenon::remote
