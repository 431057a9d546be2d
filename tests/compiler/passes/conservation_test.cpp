// SPDX-License-Identifier: Apache-2.0
// The whole pipeline on networks: every pass has work, provenance is conserved, results agree.
#include "compiler/passes/pass.h"
#include "core/ir/graph_text.h"
#include "tests/compiler/passes/sample_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

PassContext wideVectors(int optLevel = 3)
{
    PassContext context;
    context.facts.vectorBytes = 64;
    context.code.byteProducts = kUInt8;
    context.optLevel = optLevel;
    return context;
}

PassTrace runAll(const Module& module, int optLevel, bool numerics)
{
    RunPassesOptions options;
    options.verify = VerifyEach::Pass;
    options.verifyNumerics = numerics;
    Result<PassTrace> trace = runPasses(module, wideVectors(optLevel), options);
    EXPECT_TRUE(trace) << trace.error().text();
    return trace ? std::move(*trace) : PassTrace();
}

std::map<std::string, size_t> changeCounts(const PassTrace& trace)
{
    std::map<std::string, size_t> counts;
    for (const PassRecord& record : trace.records) counts[record.name] += record.changes.size();
    return counts;
}

/// Names of the primitive functions that main calls, with counts.
std::map<std::string, size_t> calledFunctions(const Module& module)
{
    std::map<std::string, size_t> calls;
    for (const NodeId id : module.main().order) {
        const NodeRecord& node = module.node(id);
        if (node.kind == NodeKind::Constant) continue;
        std::string ops;
        for (const NodeId member : module.function(node.callee).order)
            if (module.node(member).kind == NodeKind::Op) ops += " " + module.node(member).op;
        ++calls[ops];
    }
    return calls;
}

TEST(Pipeline, HasWorkForEveryPassOnMobilenet)
{
    const PassTrace trace = runAll(mobilenetV2(1.0, 32), 3, false);
    std::map<std::string, size_t> counts = changeCounts(trace);
    for (const char* pass :
         {"SimplifyInference", "FoldScaleAxis", "FoldConstant", "AlterOpLayout", "FuseOps"})
        EXPECT_GT(counts[pass], 0u) << pass;
    EXPECT_EQ(counts["SimplifyInference"], 52u);
    EXPECT_EQ(counts["FoldScaleAxis"], 52u);

    std::map<std::string, size_t> calls = calledFunctions(trace.last());
    EXPECT_EQ(calls[" nn.contrib_conv2d_NCHWc add clip"], 18u);
    EXPECT_EQ(calls[" nn.contrib_depthwise_conv2d_NCHWc add clip"], 17u);
    EXPECT_EQ(calls[" nn.contrib_conv2d_NCHWc add"], 7u);
    EXPECT_EQ(calls[" nn.contrib_conv2d_NCHWc add add"], 10u);
    EXPECT_EQ(calls.count(" nn.conv2d"), 0u);
}

TEST(Pipeline, ConservesProvenance)
{
    for (const bool isResnet : {false, true}) {
        for (const int optLevel : {0, 1, 2, 3}) {
            SCOPED_TRACE(std::to_string(isResnet) + " at opt level " + std::to_string(optLevel));
            const Module module = isResnet ? resnet18(4, 32) : mobilenetV2(0.25, 32);
            const PassTrace trace = runAll(module, optLevel, false);
            const Conservation conservation = checkConservation(trace);
            for (const std::string& violation : conservation.violations) ADD_FAILURE() << violation;
            EXPECT_EQ(conservation.inKernels + conservation.inLedger, module.sources().size());
            EXPECT_GT(conservation.inKernels, conservation.inLedger);
        }
    }
}

TEST(Pipeline, NoticesLostSources)
{
    PassTrace trace = runAll(mobilenetV2(0.25, 32), 3, false);
    Module& last = trace.records.back().after;
    const std::vector<NodeId>& order = last.main().order;
    const auto isCall = [&](NodeId id) { return last.node(id).kind == NodeKind::CallTir; };
    NodeRecord call = last.node(*std::find_if(order.begin(), order.end(), isCall));
    call.origin.clear();
    last.setNode(call);
    EXPECT_FALSE(checkConservation(trace).violations.empty());
}

TEST(Pipeline, KeepsResultsAtEveryOptLevel)
{
    for (const int optLevel : {0, 1, 2, 3}) {
        SCOPED_TRACE("opt level " + std::to_string(optLevel));
        double worst = 0;
        for (const PassTrace& trace : {runAll(mobilenetV2(0.25, 32), optLevel, true),
                                       runAll(resnet18(8, 32), optLevel, true)}) {
            for (const PassRecord& record : trace.records) {
                EXPECT_EQ(record.maxAbsError.has_value(), record.changed) << record.name;
                worst = std::max(worst, record.maxAbsError.value_or(0));
            }
        }
        // Rewritten arithmetic rounds elsewhere: no difference at all would mean nothing was run.
        // Opt level 0 rewrites none.
        EXPECT_EQ(worst > 0, optLevel > 0) << worst;
    }
}

TEST(Pipeline, EveryVersionReadsBack)
{
    const PassTrace trace = runAll(mobilenetV2(0.25, 32), 3, false);
    for (const PassRecord& record : trace.records) {
        if (!record.changed) continue;
        const std::string text = printModule(record.after);
        const Result<Module> again = parseModule(text, constantPool(record.after));
        ASSERT_TRUE(again) << record.name << ": " << again.error().text();
        EXPECT_TRUE(printModule(*again) == text) << record.name;
    }
}

TEST(Pipeline, LeavesFiltersOfFewTilesToTheKernel)
{
    const Result<Module> module = parseModule("def @main(%x: Tensor[(1, 64, 8, 8), float32]) {\n"
                                              "  %w = rand(1) : Tensor[(64, 64, 3, 3), float32]\n"
                                              "  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1])\n"
                                              "  return %0\n}\n");
    ASSERT_TRUE(module) << module.error().text();
    const std::string text = printModule(runAll(*module, 3, true).last());
    EXPECT_NE(text.find("winograd_NCHWc"), std::string::npos) << text;
    EXPECT_NE(text.find("kernel_layout=\"OIHW1i16o\""), std::string::npos) << text;
    EXPECT_EQ(text.find("weight_transform"), std::string::npos) << text;
}

TEST(Pipeline, TraceOfTenThousandNodesStaysSmall)
{
    RunPassesOptions typed;
    typed.pipeline = {"InferType"};
    const Module module = runPasses(residualChain(1700), wideVectors(), typed)->last();
    ASSERT_GT(module.main().order.size(), 10000u);
    const PassTrace trace = runAll(module, 3, false);
    EXPECT_LT(trace.traceBytes, 3 * trace.moduleBytes)
        << trace.traceBytes << " against " << trace.moduleBytes;
    EXPECT_TRUE(checkConservation(trace).violations.empty());
}

} // namespace
} // namespace tenon::compiler
