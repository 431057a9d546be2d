// SPDX-License-Identifier: Apache-2.0
// The runner: what runs, where it stops, what it holds back, and what it reports.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/passes.h"
#include "core/ir/graph_text.h"
#include "tests/compiler/passes/sample_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

const char* kPassText = R"(def @main(%x: Tensor[(1, 4, 2, 2), float32]) {
  %w = rand(1) : Tensor[(4, 4, 1, 1), float32]
  %b = rand(2) : Tensor[(4,), float32]
  %conv = nn.conv2d(%x, %w)
  %biased = nn.bias_add(%conv, %b, axis=1)
  %act = nn.relu(%biased)
  return %act
}
)";

Module sample() { return std::move(*parseModule(kPassText)); }

PassTrace run(const RunPassesOptions& options, int optLevel = 3)
{
    PassContext context;
    context.optLevel = optLevel;
    Result<PassTrace> trace = runPasses(sample(), context, options);
    EXPECT_TRUE(trace) << trace.error().text();
    return trace ? std::move(*trace) : PassTrace();
}

std::string errorOf(const RunPassesOptions& options)
{
    const Result<PassTrace> trace = runPasses(sample(), PassContext(), options);
    return trace ? "" : trace.error().text();
}

TEST(RunPasses, FollowsTheDefaultPipeline)
{
    const PassTrace trace = run({});
    const std::vector<std::string_view> names = defaultPipeline();
    ASSERT_EQ(trace.records.size(), names.size());
    for (size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(trace.records[i].name, names[i]);
        EXPECT_FALSE(trace.records[i].skipped);
        EXPECT_EQ(trace.records[i].changed, !trace.records[i].changes.empty());
    }
    EXPECT_GT(trace.moduleBytes, 0u);
    EXPECT_GT(trace.traceBytes, trace.moduleBytes);
    EXPECT_EQ(trace.last().node(trace.last().main().results[0].node).kind, NodeKind::CallTir);
}

TEST(RunPasses, HandsOutTheSameIdsEveryTime)
{
    const Module imported = sample();
    const auto lastOf = [&] {
        const Result<PassTrace> trace = runPasses(imported, PassContext(), {});
        CHECK(trace) << trace.error().text();
        return trace->last();
    };
    const Module first = lastOf();
    const Module second = lastOf();
    EXPECT_EQ(first.main().order, second.main().order);
    EXPECT_EQ(first.functions().rbegin()->first, second.functions().rbegin()->first);
}

TEST(RunPasses, SkipsByOptLevelAndName)
{
    for (const PassRecord& record : run({}, 0).records)
        EXPECT_EQ(record.skipped, findPass(record.name)->minOptLevel > 0) << record.name;
    RunPassesOptions options;
    options.disabled = {"AlterOpLayout", "canonicalize-ops"};
    for (const PassRecord& record : run(options).records)
        EXPECT_EQ(record.skipped,
                  record.name == "AlterOpLayout" || record.name == "CanonicalizeOps");
}

TEST(RunPasses, DisablingFusionStillLowers)
{
    RunPassesOptions options;
    options.disabled = {"FuseOps"};
    const PassTrace trace = run(options);
    size_t calls = 0;
    for (const NodeId id : trace.last().main().order)
        calls += trace.last().node(id).kind == NodeKind::CallTir;
    EXPECT_GE(calls, 3u);
}

TEST(RunPasses, StopsAfterPassOrPhase)
{
    RunPassesOptions options;
    options.stopAfter = "canonicalize-ops";
    EXPECT_EQ(run(options).records.back().name, "CanonicalizeOps");
    options.stopAfter = "simplify";
    EXPECT_EQ(run(options).records.back().name, "NarrowRows");
    options.stopAfter = "fuse";
    EXPECT_EQ(run(options).records.back().name, "FuseOps");
}

TEST(RunPasses, NamesUnknownPasses)
{
    RunPassesOptions options;
    options.stopAfter = "FuseOp";
    EXPECT_NE(errorOf(options).find("`FuseOps`"), std::string::npos);
    options = {};
    options.disabled = {"FoldConstants"};
    EXPECT_NE(errorOf(options).find("`FoldConstant`"), std::string::npos);
    options = {};
    options.pipeline = {"InferTypes"};
    EXPECT_NE(errorOf(options).find("`InferType`"), std::string::npos);
}

TEST(RunPasses, HoldsBackRewritesAndStillLowers)
{
    size_t before = 0;
    for (int64_t n = 0; n < 12; ++n) {
        RunPassesOptions options;
        options.maxRewrites = n;
        options.verify = VerifyEach::Pass;
        options.verifyNumerics = true;
        const PassTrace trace = run(options);
        size_t rewrites = 0;
        for (const PassRecord& record : trace.records)
            for (const Change& change : record.changes)
                rewrites += change.rule != "infer-type" && change.rule != "wrap-single-op" &&
                            change.rule != "lower-to-tir" && change.rule != "alias";
        EXPECT_LE(rewrites, static_cast<size_t>(n));
        EXPECT_GE(rewrites + 4, before);
        before = rewrites;
        for (const NodeId id : trace.last().main().order)
            EXPECT_NE(trace.last().node(id).kind, NodeKind::Op) << n;
    }
}

TEST(RunPasses, EndsWhenStopIsRequested)
{
    JobContext job;
    job.requestStop();
    PassContext context;
    context.job = &job;
    const Result<PassTrace> trace = runPasses(sample(), context, {});
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, DiagnosticCode::Cancelled);
}

TEST(RunPasses, ReportsProgress)
{
    double last = -1;
    JobContext job(1, [&](double fraction, const std::string& text) {
        EXPECT_GE(fraction, last);
        EXPECT_FALSE(text.empty());
        last = fraction;
    });
    PassContext context;
    context.job = &job;
    ASSERT_TRUE(runPasses(sample(), context, {}));
    EXPECT_GT(last, 0.5);
}

TEST(RunPasses, VerifiesOperators)
{
    Module module = sample();
    NodeRecord relu = module.node(module.main().order.back());
    relu.op = "nn.rleu";
    module.setNode(relu);
    const Result<PassTrace> trace = runPasses(module, PassContext(), {});
    ASSERT_FALSE(trace);
    EXPECT_NE(trace.error().text().find("nn.rleu"), std::string::npos) << trace.error().text();
}

TEST(RunPasses, FindsThePassThatChangesNumbers)
{
    RunPassesOptions options;
    options.verifyNumerics = true;
    options.numericTolerance = -1;
    EXPECT_NE(errorOf(options).find("numeric-mismatch"), std::string::npos);
}

const char* kControl = R"(def @main(%x: Tensor[(2,), float32], %yes: Tensor[(), bool]) {
  %n = const(3) : Tensor[(), int64]
  %run:2 = loop(%n, _, %x, carried=1, bodies=[@step]) : Tensor[(2,), float32], Tensor[(3, 2), float32]
  %y = if(%yes, %run.0, bodies=[@then, @else]) : Tensor[(2,), float32]
  return %y, %run.1
}
def @step(%i: Tensor[(), int64], %go: Tensor[(), bool], %v: Tensor[(2,), float32]) {
  %w = add(%v, %v)
  return %go, %w, %v
}
def @then(%a: Tensor[(2,), float32]) {
  %b = negative(%a)
  return %b
}
def @else(%a: Tensor[(2,), float32]) {
  %b = nn.relu(%a)
  return %b
}
)";

TEST(RunPasses, ChecksNumbersThroughControlFlow)
{
    const auto module = parseModule(kControl);
    ASSERT_TRUE(module) << module.error().text();
    for (const uint8_t choice : {uint8_t{0}, uint8_t{1}}) {
        const std::map<std::string, Tensor> inputs{
            {"x", Tensor::of<float>(kFloat32, {2}, {1.5f, -2})},
            {"yes", Tensor::of<uint8_t>(kBool, {}, {choice})}};
        JobContext job;
        const auto results = evaluateGraph(*module, inputs, job);
        ASSERT_TRUE(results) << results.error().text();
        EXPECT_EQ((*results)[0].numbers(),
                  (choice == 1 ? std::vector<double>{-12, 16} : std::vector<double>{12, 0}));
        EXPECT_EQ((*results)[1].numbers(), (std::vector<double>{1.5, -2, 3, -4, 6, -8}));
        RunPassesOptions options;
        options.verifyNumerics = true;
        options.numericInputs = inputs;
        const Result<PassTrace> trace = runPasses(*module, PassContext(), options);
        ASSERT_TRUE(trace) << trace.error().text();
        for (const PassRecord& record : trace->records)
            EXPECT_EQ(record.maxAbsError.value_or(0), 0) << record.name;
    }
}

TEST(RunPasses, SaysWhichSizeKeepsNumbersFromBeingChecked)
{
    const auto module = parseModule("def @main(%x: Tensor[(3,), float32]) {\n"
                                    "  %found = nonzero(%x) : Tensor[(1, n), int64]\n"
                                    "  return %found\n}\n");
    ASSERT_TRUE(module) << module.error().text();
    RunPassesOptions options;
    options.verifyNumerics = true;
    const Result<PassTrace> trace = runPasses(*module, PassContext(), options);
    ASSERT_FALSE(trace);
    EXPECT_NE(trace.error().text().find("known at run time only"), std::string::npos)
        << trace.error().text();
}

TEST(RunPasses, KeepsControlFlowThatNobodyNeeds)
{
    const auto module = parseModule(R"(def @main(%c: Tensor[(), bool], %x: Tensor[(2,), float32]) {
  %0 = If(%c, bodies=[@then, @otherwise]) : Tensor[(2,), float32]
  %1 = nn.relu(%x)
  return %1
}
def @then() {
  %0 = const([1.0f, 2.0f]) : Tensor[(2,), float32]
  return %0
}
def @otherwise() {
  %0 = const([3.0f, 4.0f]) : Tensor[(2,), float32]
  return %0
}
)");
    ASSERT_TRUE(module) << module.error().text();
    RunPassesOptions options;
    options.pipeline = {"InferType", "DeadCodeElimination"};
    options.verify = VerifyEach::Pass;
    const Result<PassTrace> trace = runPasses(*module, PassContext(), options);
    ASSERT_TRUE(trace) << trace.error().text();
    EXPECT_FALSE(trace->records.back().changed);
}

TEST(RunPasses, IsDeterministic)
{
    EXPECT_EQ(printModule(run({}).last()), printModule(run({}).last()));
}

/// Rules of the changes of one pass, which may be told in several records.
std::multiset<std::string> rulesOf(const std::vector<PassRecord>& records, size_t first, size_t end)
{
    std::multiset<std::string> rules;
    for (size_t i = first; i < end; ++i)
        for (const Change& change : records[i].changes)
            if (change.rule != "refine-type") rules.insert(change.rule);
    return rules;
}

TEST(RunPasses, StepsThroughEveryPassToTheSameModule)
{
    for (const Module& module : {mobilenetV2(0.25, 32), residualChain(3)}) {
        PassContext context;
        const PassTrace whole = *runPasses(module, context, {});
        for (size_t position = 0; position < whole.records.size(); ++position) {
            SCOPED_TRACE(whole.records[position].name);
            RunPassesOptions options;
            options.stepped = SteppedPass{.position = position};
            const auto trace = runPasses(module, context, options);
            ASSERT_TRUE(trace) << trace.error().text();
            const size_t extra = trace->records.size() - whole.records.size();
            ASSERT_EQ(rulesOf(trace->records, position, position + extra + 1),
                      rulesOf(whole.records, position, position + 1));
            ASSERT_EQ(printModule(trace->last()), printModule(whole.last()));
            EXPECT_TRUE(checkConservation(*trace).violations.empty());
            for (size_t i = position; extra > 0 && i <= position + extra; ++i) {
                const PassRecord& record = trace->records[i];
                EXPECT_EQ(record.firstRewrite, i - position + 1);
                EXPECT_EQ(record.lastRewrite, record.firstRewrite);
                EXPECT_EQ(record.rewrites, extra + 1);
                EXPECT_TRUE(verifyGraph(record.after).empty())
                    << verifyGraph(record.after).front().text();
            }
        }
    }
}

TEST(RunPasses, StepsThroughTheMiddleOfAPassOnly)
{
    const Module module = residualChain(6);
    PassContext context;
    RunPassesOptions options;
    const std::vector<std::string_view> names = defaultPipeline();
    const size_t position = static_cast<size_t>(
        std::find(names.begin(), names.end(), std::string_view("FuseOps")) - names.begin());
    options.stepped = SteppedPass{.position = position, .first = 3, .last = 6, .stride = 2};
    const auto trace = runPasses(module, context, options);
    ASSERT_TRUE(trace);
    std::vector<std::pair<size_t, size_t>> steps;
    for (const PassRecord& record : trace->records)
        if (record.rewrites > 0) steps.emplace_back(record.firstRewrite, record.lastRewrite);
    ASSERT_EQ(steps.size(), 4u);
    EXPECT_EQ(steps[0], std::pair(size_t{1}, size_t{2}));
    EXPECT_EQ(steps[1], std::pair(size_t{3}, size_t{4}));
    EXPECT_EQ(steps[2], std::pair(size_t{5}, size_t{6}));
    EXPECT_EQ(steps[3].first, 7u);
    EXPECT_GT(steps[3].second, 7u);
}

} // namespace
} // namespace tenon::compiler
