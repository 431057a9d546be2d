// SPDX-License-Identifier: Apache-2.0
// Rules for kernels whose sizes are known at run time only.
#include "compiler/schedule/rules.h"
#include "core/base/text.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/support.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using namespace core;
using namespace compiler;

constexpr TargetFacts kWide{.vectorBytes = 64, .vectorRegisters = 32, .hasFma = true};
constexpr TargetFacts kNarrow{.vectorBytes = 16, .threads = 2};
constexpr TargetFacts kScalar{.vectorBytes = 4};

/// An image whose rows are joined from patches of 8 columns.
constexpr const char* kOpenPatches = R"(@T.prim_func
def main(n: T.int64, a: T.Buffer(((n + 7) // 8, 3, 8), "float32"), y: T.Buffer((3, n), "float32")):
    with T.block("root"):
        for i in T.serial(3):
            for j in T.serial(n):
                with T.block("joined"):
                    vi = T.axis.spatial(3, i)
                    vj = T.axis.spatial(n, j)
                    y[vi, vj] = a[vj // 8, vi, vj % 8]
)";

/// A row of n elements as pieces of 8 with the elements around them.
constexpr const char* kOpenCut = R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((3, n), "TYPE"), y: T.Buffer(((n + 7) // 8, 3, 10), "float32")):
    with T.block("root"):
        for p in T.serial((n + 7) // 8):
            for i in T.serial(3):
                for j in T.serial(10):
                    with T.block("cut"):
                        vp = T.axis.spatial((n + 7) // 8, p)
                        vi = T.axis.spatial(3, i)
                        vj = T.axis.spatial(10, j)
                        y[vp, vi, vj] = T.if_then_else(vp * 8 + vj - 1 >= 0 and vp * 8 + vj - 1 < n, READ, T.float32(0))
)";

bool isInVectors(const tir::PrimFunc& function)
{
    return tir::print(function).find("T.vectorized(") != std::string::npos;
}

/// Scores of n queries and keys of 8 numbers, halved.
constexpr const char* kOpenProduct = R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((n, 8), "float32"), b: T.Buffer((8, n), "float32"), y: T.Buffer((n, n), "float32")):
    T.func_attr({"anchor": "scores", "kind": "matmul"})
    with T.block("root"):
        scores = T.alloc_buffer((n, n), "float32")
        for i in T.serial(n):
            for j in T.serial(n):
                for k in T.serial(8):
                    with T.block("scores"):
                        vi = T.axis.spatial(n, i)
                        vj = T.axis.spatial(n, j)
                        vk = T.axis.reduce(8, k)
                        with T.init():
                            scores[vi, vj] = T.float32(0)
                        scores[vi, vj] = scores[vi, vj] + a[vi, vk] * b[vk, vj]
        for i in T.serial(n):
            for j in T.serial(n):
                with T.block("halves"):
                    vi = T.axis.spatial(n, i)
                    vj = T.axis.spatial(n, j)
                    y[vi, vj] = scores[vi, vj] * T.float32(0.5)
)";

/// Sums of 32 numbers of n keys by the scores of n queries.
constexpr const char* kOpenDepth = R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((n, n), "float32"), b: T.Buffer((n, 32), "float32"), y: T.Buffer((n, 32), "float32")):
    T.func_attr({"anchor": "sums", "kind": "matmul"})
    with T.block("root"):
        for i in T.serial(n):
            for j in T.serial(32):
                for k in T.serial(n):
                    with T.block("sums"):
                        vi = T.axis.spatial(n, i)
                        vj = T.axis.spatial(32, j)
                        vk = T.axis.reduce(n, k)
                        with T.init():
                            y[vi, vj] = T.float32(0)
                        y[vi, vj] = y[vi, vj] + a[vi, vk] * b[vk, vj]
)";

/// Largest of n numbers, in each of three rows.
constexpr const char* kOpenRows = R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((3, n), "float32"), y: T.Buffer((3,), "float32")):
    with T.block("root"):
        for i in T.serial(3):
            for k in T.serial(n):
                with T.block("largest"):
                    vi = T.axis.spatial(3, i)
                    vk = T.axis.reduce(n, k)
                    with T.init():
                        y[vi] = T.float32("-inf")
                    y[vi] = T.max(y[vi], a[vi, vk])
)";

/// Rows of 16 numbers that lie n apart, as transposed images of any size, and twice as large.
constexpr const char* kOpenSteps = R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((16, n), "float32"), y: T.Buffer((n, 16), "float32")):
    with T.block("root"):
        for i in T.serial(n):
            for j in T.serial(16):
                with T.block("transposed"):
                    vi = T.axis.spatial(n, i)
                    vj = T.axis.spatial(16, j)
                    y[vi, vj] = a[vj, vi] * T.float32(2)
)";

/// Patches of 18 columns, 16 of them the next patch's, from patches of 8 columns.
constexpr const char* kPatchesOfPatches = R"(@T.prim_func
def main(n: T.int64, a: T.Buffer(((n + 7) // 8, 3, 8), "float32"), y: T.Buffer(((n + 15) // 16, 3, 18), "float32")):
    with T.block("root"):
        for p in T.serial((n + 15) // 16):
            for i in T.serial(3):
                for j in T.serial(18):
                    with T.block("cut"):
                        vp = T.axis.spatial((n + 15) // 16, p)
                        vi = T.axis.spatial(3, i)
                        vj = T.axis.spatial(18, j)
                        y[vp, vi, vj] = T.if_then_else(vp * 16 + vj - 1 >= 0 and vp * 16 + vj - 1 < n, a[vp * 2 + (vj - 1) // 8, vi, (vj - 1) % 8], T.float32(0))
)";

TEST(OpenCut, ReadsUnderMasksWhereTheMachineHasThem)
{
    const auto isVectorized = [](bool areBytes, int vectorBytes) {
        const std::string read = "a[vi, vp * 8 + vj - 1]";
        std::string text = replaced(kOpenCut, "TYPE", areBytes ? "int8" : "float32");
        text = replaced(text, "READ", areBytes ? "T.Cast(\"float32\", " + read + ")" : read);
        const auto function = tir::parsePrimFunc(text);
        CHECK(function) << function.error().text();
        const auto kernel = scheduleKernel(*function, {.vectorBytes = vectorBytes});
        CHECK(kernel) << kernel.error().text();
        for (const int64_t size : {1, 8, 21})
            EXPECT_EQ(test::scheduleDifference(*function, kernel->function, size), "") << size;
        return isInVectors(kernel->function);
    };
    EXPECT_TRUE(isVectorized(false, 64));
    EXPECT_TRUE(isVectorized(false, 32));
    EXPECT_FALSE(isVectorized(false, 16));
    EXPECT_FALSE(isVectorized(true, 32)) << "AVX has masks for words";
}

TEST(OpenColumns, CutPatchesWhereThoseThatAreReadEnd)
{
    const auto function = tir::parsePrimFunc(kPatchesOfPatches);
    ASSERT_TRUE(function) << function.error().text();
    for (const TargetFacts& facts : {kWide, kNarrow, kScalar}) {
        const auto kernel = scheduleKernel(*function, facts);
        ASSERT_TRUE(kernel) << kernel.error().text();
        EXPECT_EQ(isInVectors(kernel->function), facts.vectorBytes >= 64);
        for (const int64_t size : {1, 8, 39, 71})
            EXPECT_EQ(test::scheduleDifference(*function, kernel->function, size), "")
                << size << "\n"
                << tir::print(kernel->function);
    }
}

TEST(OpenColumns, GatherWhereProcessorsDo)
{
    const auto function = tir::parsePrimFunc(kOpenSteps);
    ASSERT_TRUE(function) << function.error().text();
    for (const TargetFacts& facts : {kWide, kNarrow}) {
        const auto kernel = scheduleKernel(*function, facts);
        ASSERT_TRUE(kernel) << kernel.error().text();
        EXPECT_EQ(isInVectors(kernel->function), facts.vectorBytes >= 64);
        EXPECT_EQ(test::scheduleDifference(*function, kernel->function, 5), "");
    }
}

TEST(OpenColumns, TileRowsToo)
{
    const auto function = tir::parsePrimFunc(kOpenDepth);
    ASSERT_TRUE(function) << function.error().text();
    for (const TargetFacts& facts : {kWide, kNarrow, kScalar}) {
        const auto kernel = scheduleKernel(*function, facts);
        ASSERT_TRUE(kernel) << kernel.error().text();
        const std::string text = tir::print(kernel->function);
        if (facts.vectorBytes == kWide.vectorBytes) { // four rows of two vectors
            for (const char* loop : {"in T.unroll(4)", "in T.unroll(2)"})
                EXPECT_NE(text.find(loop), std::string::npos) << text;
        }
        for (const int64_t size : {1, 39, 71})
            EXPECT_EQ(test::scheduleDifference(*function, kernel->function, size), "")
                << size << "\n"
                << text;
    }
}

TEST(OpenColumns, RunWhatNobodyCountedYetInVectors)
{
    for (const char* text : {kOpenProduct, kOpenRows, kOpenPatches}) {
        const auto function = tir::parsePrimFunc(text);
        ASSERT_TRUE(function) << function.error().text();
        for (const TargetFacts& facts : {kWide, kNarrow, kScalar}) {
            const auto kernel = scheduleKernel(*function, facts);
            ASSERT_TRUE(kernel) << kernel.error().text();
            EXPECT_EQ(kernel->refusal, "");
            EXPECT_EQ(isInVectors(kernel->function), facts.vectorBytes >= 16);
            for (const int64_t size : {1, 39, 71})
                EXPECT_EQ(test::scheduleDifference(*function, kernel->function, size), "")
                    << size << "\n"
                    << tir::print(kernel->function);
        }
    }
}

} // namespace
} // namespace tenon
