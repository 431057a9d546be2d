// SPDX-License-Identifier: Apache-2.0
// What bounds a kernel call: computing or moving bytes, on a made-up computer.
#include "remote/roofline/call_bound.h"
#include "remote/roofline/known_peaks.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

constexpr core::CallMethod kDirect{core::Method::Direct}, kDirectInt8{core::Method::Direct, true},
    kGemm{core::Method::Gemm}, kDepthwise{core::Method::Depthwise};

/// 100 GFLOP/s a core; 100 GB/s while all fits into 1000 bytes, 10 GB/s from 100,000 on.
MachinePeak machine(unsigned threads = 1)
{
    return {.isa = "test",
            .fp32Gflops = 100,
            .int8Gops = 400,
            .threads = threads,
            .bandwidth = {{1e3, 100, 50}, {1e5, 10, 5}}};
}

TEST(CallBound, ConvolutionsAreBoundByComputing)
{
    const CallBound bound = boundOf({1e9, 400, 200, 0, kDirect}, machine(), 1e5);
    EXPECT_FALSE(bound.isMemory);
    EXPECT_DOUBLE_EQ(bound.ms, 10); // 1e9 / 100e9 s
    EXPECT_DOUBLE_EQ(boundOf({1e9, 400, 200, 0, kDirect}, machine(2), 1e5).ms, 5);
    EXPECT_DOUBLE_EQ(boundOf({1e9, 400, 200, 0, kDirectInt8}, machine(), 1e5).ms, 2.5);
}

TEST(CallBound, TilesBoundWhatMayBeMultipliedByThem)
{
    MachinePeak tiles = machine();
    tiles.int8TileGops = 4000;
    EXPECT_DOUBLE_EQ(boundOf({1e9, 400, 200, 0, kDirectInt8}, tiles, 1e5).ms, 0.25);
    constexpr core::CallMethod kDepthwiseInt8{core::Method::Depthwise, true};
    EXPECT_DOUBLE_EQ(boundOf({1e9, 400, 200, 0, kDepthwiseInt8}, tiles, 1e5).ms, 2.5);
    EXPECT_DOUBLE_EQ(boundOf({1e9, 400, 200, 0, kDirect}, tiles, 1e5).ms, 10);
}

TEST(CallBound, ProductsOfOneRowAreBoundByReadingTheirWeights)
{
    // The call alone would fit into the cache; the whole model, which runs in between, does not.
    const CallBound bound = boundOf({200, 900, 0, 900, kGemm}, machine(), 1e6);
    EXPECT_TRUE(bound.isMemory);
    EXPECT_DOUBLE_EQ(bound.ms, 900 / 10e9 * 1e3);
    EXPECT_DOUBLE_EQ(boundOf({200, 900, 0, 900, kGemm}, machine(), 1e3).ms, 900 / 100e9 * 1e3);
}

/// A depthwise convolution of stride 2: what the call before it wrote is still in the cache,
/// whatever else a run goes through.
TEST(CallBound, InputsThatAreLargerThanOutputsAreNoWeights)
{
    const CallBound bound = boundOf({10, 1000, 200, 0, kDepthwise}, machine(), 1e9);
    EXPECT_TRUE(bound.isMemory);
    EXPECT_DOUBLE_EQ(bound.ms, (200 / 50e9 + 600 / 100e9) * 1e3);
}

TEST(CallBound, WeightsAndActivationsMayComeAtTheSameTime)
{
    EXPECT_DOUBLE_EQ(boundOf({10, 1000, 400, 200, kDirect}, machine(), 1e9).ms, 200 / 10e9 * 1e3);
}

TEST(CallBound, ElementwiseCallsAreBoundByCopyingWhereTheirBytesAre)
{
    const CallBound bound = boundOf({100, 1000, 500, 0, {}}, machine(), 1e6);
    EXPECT_TRUE(bound.isMemory);
    EXPECT_DOUBLE_EQ(bound.ms, 500 / 50e9 * 1e3);
    // Half way between two sizes the rate is between theirs.
    const CallBound between = boundOf({100, 1e4, 5e3, 0, {}}, machine(), 1e6);
    EXPECT_DOUBLE_EQ(between.ms, 5e3 / 27.5e9 * 1e3);
}

TEST(CallBound, TellsNoShareOfWhatIsPassed)
{
    const CallBound bound{.ms = 2};
    EXPECT_DOUBLE_EQ(shareOfBound(bound, 4), 0.5);
    EXPECT_DOUBLE_EQ(shareOfBound(bound, 1.9), 1); // noise
    EXPECT_EQ(shareOfBound(bound, 1), 0);
    EXPECT_EQ(shareOfBound({}, 1), 0);
    EXPECT_EQ(shareOfBound(bound, 0), 0);
}

TEST(CallBound, CountsWhatARunGoesThrough)
{
    core::Manifest manifest;
    manifest.memory = {.workspaceBytes = 100, .constantBytes = 1 << 30}; // rows nobody looks up
    core::ManifestCall dense, lookup;
    dense.outputs = {{"a", "float32", {10}}};
    dense.movedBytes = 40 + 40 + 400;
    dense.weightBytes = 400;
    lookup.outputs = {{"b", "float32", {10}}};
    lookup.movedBytes = 40 + 40;
    manifest.calls = {dense, lookup};
    EXPECT_EQ(runBytes(manifest), 100 + 400);
}

TEST(CallBound, IsNotKnownWhereNothingIs)
{
    EXPECT_EQ(boundOf({}, machine(), 0).ms, 0);
    EXPECT_EQ(boundOf({1e9, 1e3, 500, 0, {}}, {.isa = "none"}, 0).ms, 0);
}

/// How long its bytes take to move says little of a call that computes, at a rate nobody measured.
TEST(CallBound, IsNotKnownOfProductsAtAnUnknownRate)
{
    MachinePeak peak = machine();
    peak.int8Gops = 0;
    EXPECT_EQ(boundOf({1e9, 400, 200, 0, kDirectInt8}, peak, 1e5).ms, 0);
    EXPECT_GT(boundOf({1e9, 400, 200, 0, kDirect}, peak, 1e5).ms, 0);
    EXPECT_GT(boundOf({1e9, 400, 200, 0, {core::Method::Moves}}, peak, 1e5).ms, 0);
}

TEST(CallBound, ReadsTheOutputsOfAManifest)
{
    core::ManifestCall call;
    call.outputs = {{"a", "float32", {2, 3}}, {"b", "int8", {5}}, {"c", "float32", {-1, 4}}};
    call.flops = 100;
    call.leastFlops = 80;
    call.movedBytes = 64;
    EXPECT_EQ(workOf(call).flops, 80);
    EXPECT_EQ(workOf(call).writtenBytes, 24 + 5);
    EXPECT_EQ(workOf(call).movedBytes, 64);
}

TEST(Bandwidth, IsMeasuredForEveryLevel)
{
    const auto rates = measureBandwidth(2);
    ASSERT_GE(rates.size(), 2u);
    for (size_t i = 0; i < rates.size(); ++i) {
        EXPECT_GT(rates[i].readGbps, 0);
        EXPECT_GT(rates[i].copyGbps, 0);
        if (i > 0) {
            EXPECT_GT(rates[i].bytes, rates[i - 1].bytes);
        }
    }
}

TEST(KnownPeaks, AreMeasuredOnceForEachNumberOfThreads)
{
    KnownPeaks peaks;
    const MachinePeak first = peaks.of(1), again = peaks.of(1);
    EXPECT_GT(first.fp32Gflops, 0);
    EXPECT_EQ(first.threads, 1u);
    EXPECT_EQ(first.fp32Gflops, again.fp32Gflops); // two measurements are never the same
    EXPECT_EQ(first.bandwidth.back().readGbps, again.bandwidth.back().readGbps);
}

} // namespace
} // namespace tenon::remote
