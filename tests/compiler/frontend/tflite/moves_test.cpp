// SPDX-License-Identifier: Apache-2.0
// Networks of convolutions out of .tflite files as they are compiled: nothing is moved to another
// order of axes between two convolutions, on processors with blocks of channels and on
// microcontrollers. Pictures are that come in, go out, or are flattened.
#include "compiler/codegen/back_end.h"
#include "compiler/driver/machine_facts.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tflite/load_tflite.h"
#include "compiler/passes/pass.h"
#include "tests/conformance/tflite/tflite_case.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace tenon::compiler {
namespace {

constexpr const char* kTargets[] = {"llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server",
                                    "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72",
                                    "c -mcpu=cortex-m4"};

bool isConvolution(const NodeRecord& node) { return node.op.find("conv") != std::string::npos; }

size_t convolutionsOf(const Module& module)
{
    const std::vector<NodeId>& order = module.main().order;
    return static_cast<size_t>(std::count_if(
        order.begin(), order.end(), [&](NodeId id) { return isConvolution(module.node(id)); }));
}

/// Transpositions of data between two convolutions.
size_t innerMoves(const Module& module)
{
    std::map<uint32_t, bool> isBehind; // of a convolution
    const std::vector<NodeId>& order = module.main().order;
    for (const NodeId id : order)
        for (const ValueRef& operand : module.node(id).operands)
            if (operand.node.isValid()) {
                isBehind[id.value] = isBehind[id.value] || isBehind[operand.node.value];
                if (isConvolution(module.node(id))) isBehind[id.value] = true;
            }
    std::map<uint32_t, bool> isBefore; // one
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        const NodeRecord& node = module.node(*id);
        for (const ValueRef& operand : node.operands)
            if (operand.node.isValid() && (isConvolution(node) || isBefore[id->value]))
                isBefore[operand.node.value] = true;
    }
    return static_cast<size_t>(std::count_if(order.begin(), order.end(), [&](NodeId id) {
        return module.node(id).op == "transpose" && isBehind[id.value] && isBefore[id.value];
    }));
}

size_t innerMovesFor(const char* target, const Module& module)
{
    PassContext context;
    context.target = *parseTarget(target);
    const auto machine = machineSpec(context.target);
    context.code = machine->backEnd->traits(*machine);
    context.facts = machineFacts(context.target, *machine)->facts;
    RunPassesOptions options;
    options.stopAfter = "MergeAddends";
    const auto trace = runPasses(module, context, options);
    EXPECT_TRUE(trace) << trace.error().text();
    return trace ? innerMoves(trace->last()) : 0;
}

TEST(TfliteMoves, NoneIsLeftInsideOfNetworks)
{
    TENON_NEED_DATA("tflite");
    size_t networks = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::dataPath("tflite"))) {
        const std::string path = (entry.path() / "model.tflite").string();
        if (!std::filesystem::exists(path)) continue;
        const auto loaded = loadModel(path, {});
        ASSERT_TRUE(loaded) << loaded.error().text();
        if (convolutionsOf(loaded->module) == 0) continue;
        ++networks;
        for (const char* target : kTargets)
            EXPECT_EQ(innerMovesFor(target, loaded->module), 0u) << path << " for " << target;
    }
    EXPECT_GE(networks, 12u);
}

/// Except for those that turn channels and pixels into other axes.
TEST(TfliteMoves, NoneIsLeftInsideOfNetworksThatTestsWrite)
{
    size_t networks = 0;
    for (const test::TfliteCase& one : test::allTfliteCases()) {
        const bool isMixed = one.what.find("shuffled") != std::string::npos;
        if (!one.op.ends_with("network") || isMixed) continue;
        const auto loaded = loadTfliteBytes(one.model.file(), nullptr, "model.tflite", {});
        ASSERT_TRUE(loaded) << loaded.error().text();
        if (convolutionsOf(loaded->module) < 2) continue;
        ++networks;
        for (const char* target : kTargets)
            EXPECT_EQ(innerMovesFor(target, loaded->module), 0u)
                << one.type << " " << one.what << " for " << target;
    }
    EXPECT_GE(networks, 20u);
}

} // namespace
} // namespace tenon::compiler
