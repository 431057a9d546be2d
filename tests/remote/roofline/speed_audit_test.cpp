// SPDX-License-Identifier: Apache-2.0
// Where the time of a made-up run goes on a made-up computer.
#include "remote/roofline/speed_audit.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

using core::ManifestCall;
using core::Method;

/// 100 GFLOP/s; reads at 100 and copies at 50 GB/s whatever the size.
const MachinePeak kMachine{
    .isa = "test", .fp32Gflops = 100, .threads = 1, .bandwidth = {{1e3, 100, 50}, {1e9, 100, 50}}};

ManifestCall call(const char* name, Method kind, double flops, const char* plainReason = "")
{
    return {.name = name,
            .outputs = {{"y", "float32", {125'000}, {}}},
            .flops = flops,
            .leastFlops = flops,
            .movedBytes = 1e6,
            .method = {kind},
            .plainReason = plainReason};
}

/// Moving the bytes of a call takes 10 us: half of them are read, and copied at 50 GB/s.
core::Manifest manifest()
{
    core::Manifest made;
    made.calls = {call("conv", Method::Direct, 1e7),
                  call("plain_1", Method::PlainLoops, 1e7, "58 channels fill no block"),
                  call("plain_2", Method::PlainLoops, 1e7, "58 channels fill no block"),
                  call("up", Method::PlainLoops, 1e7, "nn.conv2d_transpose has no blocked form"),
                  call("copy", Method::Moves, 0),
                  call("shuffle", Method::Moves, 0),
                  call("tail", Method::None, 10)};
    made.calls.back().refusal = "softmax: no row";
    return made;
}

const std::vector<double> kMs = {0.2, 1, 3, 2, 0.0125, 0.5, 0.25};

TEST(SpeedAudit, SumsUpPlainLoopsByTheirReasons)
{
    const SpeedAudit audit = auditOf(manifest(), kMs, kMachine);
    EXPECT_DOUBLE_EQ(audit.ms, 6.9625);
    EXPECT_DOUBLE_EQ(audit.plainMs, 6.25); // with what its rule refused
    ASSERT_EQ(audit.declined.size(), 3u);
    EXPECT_EQ(audit.declined[0].what, "58 channels fill no block");
    EXPECT_EQ(audit.declined[0].calls, 2);
    EXPECT_DOUBLE_EQ(audit.declined[0].ms, 4);
    EXPECT_DOUBLE_EQ(audit.declined[0].boundMs, 0.2);
    EXPECT_EQ(audit.declined[0].firstCall, "plain_2");
    EXPECT_EQ(audit.declined[1].what, "nn.conv2d_transpose has no blocked form");
    EXPECT_EQ(audit.declined[2].what, "rule softmax: no row");
}

TEST(SpeedAudit, TellsSlowConvolutionsOnRowsFromThoseNearTheirBound)
{
    core::Manifest made;
    made.calls = {call("near", Method::Rows, 1e7, "18 channels fill no block"),
                  call("far", Method::Rows, 1e7, "19 channels fill no block"),
                  call("refused", Method::Rows, 1e7)};
    made.calls.back().refusal = "conv2d: no loop";
    const SpeedAudit audit = auditOf(made, {0.19, 0.21, 0.5}, kMachine); // the bound is 0.1
    EXPECT_DOUBLE_EQ(audit.rowsMs, 0.4);
    EXPECT_DOUBLE_EQ(audit.slowRowsMs, 0.21);
    EXPECT_DOUBLE_EQ(audit.plainMs, 0.5);
    EXPECT_EQ(audit.declined.size(), 3u);
    EXPECT_DOUBLE_EQ(auditOf(made, {0.19, 0.21, 0.5}, {}).slowRowsMs, 0.4); // nothing is known
}

TEST(SpeedAudit, TellsMovesNearTheirBoundFromSlowOnes)
{
    const SpeedAudit audit = auditOf(manifest(), kMs, kMachine);
    EXPECT_DOUBLE_EQ(audit.movingMs, 0.5125);
    EXPECT_DOUBLE_EQ(audit.slowMovingMs, 0.5); // 1.25 times the bound is near
    ASSERT_EQ(audit.moves.size(), 2u);
    EXPECT_EQ(audit.moves[0].call, "shuffle");
    EXPECT_DOUBLE_EQ(audit.moves[0].bytes, 1e6);
    EXPECT_DOUBLE_EQ(audit.moves[0].boundMs, 0.01);
}

TEST(SpeedAudit, ListsMethodsTheLongestFirst)
{
    const SpeedAudit audit = auditOf(manifest(), kMs, kMachine);
    ASSERT_EQ(audit.methods.size(), 3u);
    EXPECT_EQ(audit.methods[0].what, "plain loops");
    EXPECT_EQ(audit.methods[0].calls, 4);
    EXPECT_EQ(audit.methods[1].what, "moves data");
    EXPECT_EQ(audit.methods[2].what, "direct");
    EXPECT_DOUBLE_EQ(audit.methods[2].boundMs, 0.1);
}

TEST(SpeedAudit, KnowsNoBoundWithoutAPeak)
{
    const SpeedAudit audit = auditOf(manifest(), kMs, {});
    EXPECT_DOUBLE_EQ(audit.methods[0].boundMs, 0);
    EXPECT_DOUBLE_EQ(audit.slowMovingMs, audit.movingMs);
    EXPECT_DOUBLE_EQ(audit.share(audit.plainMs), 6.25 / 6.9625);
    EXPECT_DOUBLE_EQ(SpeedAudit{}.share(0), 0);
}

} // namespace
} // namespace tenon::remote
