// SPDX-License-Identifier: Apache-2.0
// Passes in random order: every version verifies, computes the same and conserves provenance.
#include "compiler/passes/pass.h"
#include "core/ir/graph_text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// Branches, gates, shared values, odd channel counts, several results.
const char* kText =
    R"(def @main(%x: Tensor[(1, 3, 8, 8), float32], %y: Tensor[(1, 8, 8, 8), float32]) {
  %w1 = rand(1) : Tensor[(8, 3, 3, 3), float32]
  %g1 = rand(2, 0.5, 1.5) : Tensor[(8,), float32]
  %b1 = rand(3) : Tensor[(8,), float32]
  %m1 = rand(4) : Tensor[(8,), float32]
  %v1 = rand(5, 0.5, 1.5) : Tensor[(8,), float32]
  %w2 = rand(6) : Tensor[(8, 1, 3, 3), float32]
  %b2 = rand(7) : Tensor[(8,), float32]
  %w3 = rand(8) : Tensor[(8, 8, 1, 1), float32]
  %w4 = rand(9) : Tensor[(6, 16, 1, 1), float32]
  %w5 = rand(10) : Tensor[(8, 24), float32]
  %two = const(2f) : Tensor[(), float32]
  %s = rand(11) : Tensor[(8, 1, 1), float32]
  %conv1 = nn.conv2d(%x, %w1, padding=[1, 1, 1, 1])
  %bn1 = nn.batch_norm(%conv1, %g1, %b1, %m1, %v1, axis=1, epsilon=0.001f)
  %act1 = clip(%bn1, a_min=0f, a_max=6f)
  %depth = nn.conv2d(%act1, %w2, groups=8, padding=[1, 1, 1, 1])
  %biased = nn.bias_add(%depth, %b2, axis=1)
  %pooled = mean(%biased, axis=[2, 3], keepdims=1)
  %gate = nn.conv2d(%pooled, %w3)
  %sigma = sigmoid(%gate)
  %gated = multiply(%biased, %sigma)
  %sum1 = add(%gated, %y)
  %sum2 = add(%gated, %y)
  %scaled = multiply(%sum1, %s)
  %halved = divide(%sum2, %two)
  %joined = concatenate(%scaled, %halved, axis=1)
  %conv2 = nn.conv2d(%joined, %w4)
  %small = nn.max_pool2d(%conv2, pool_size=[4, 4], strides=[4, 4])
  %flat = reshape(%small, newshape=[1, 24])
  %same = reshape(%flat, newshape=[1, 24])
  %dense = nn.dense(%same, %w5)
  %turned = transpose(%sum1, axes=[0, 2, 3, 1])
  %back = transpose(%turned, axes=[0, 3, 1, 2])
  %soft = nn.softmax(%dense, axis=1)
  return %soft, %back, %gated, %pooled
}
)";

class Sequence
{
public:
    explicit Sequence(uint64_t seed)
        : m_state(seed * 0x9e3779b97f4a7c15ull + 1)
    {
    }
    size_t below(size_t bound)
    {
        m_state = m_state * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<size_t>(m_state >> 33) % bound;
    }

private:
    uint64_t m_state;
};

TEST(RandomPipeline, AnyOrderKeepsResultsAndProvenance)
{
    const std::vector<std::string> passes = {
        "SimplifyInference", "CanonicalizeOps",     "FoldConstant", "EliminateCommonSubexpr",
        "FoldScaleAxis",     "DeadCodeElimination", "AlterOpLayout"};
    const Module module = std::move(*parseModule(kText));
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        Sequence random(seed);
        RunPassesOptions options;
        options.pipeline = {"InferType"};
        const size_t count = 1 + random.below(8);
        for (size_t i = 0; i < count; ++i)
            options.pipeline.push_back(passes[random.below(passes.size())]);
        options.pipeline.emplace_back("FuseOps");
        options.pipeline.emplace_back("LowerToTIR");
        options.verify = VerifyEach::Pass;
        options.verifyNumerics = true;
        options.numericTolerance = 1e-5;
        if (random.below(3) == 0) options.maxRewrites = static_cast<int64_t>(random.below(40));
        PassContext context;
        context.facts.vectorBytes = random.below(2) == 0 ? 16 : 32;
        std::string trail;
        for (const std::string& name : options.pipeline) trail += name + " ";
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + trail);
        const Result<PassTrace> trace = runPasses(module, context, options);
        ASSERT_TRUE(trace) << trace.error().text();
        for (const std::string& violation : checkConservation(*trace).violations)
            ADD_FAILURE() << violation;
    }
}

} // namespace
} // namespace tenon::compiler
