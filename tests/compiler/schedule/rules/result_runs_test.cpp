// SPDX-License-Identifier: Apache-2.0
// Reductions of which a size is known at run time only: in vectors, with the numbers of plain
// loops.
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/support.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

struct RunSubject
{
    const char* name;
    const char* text;
};

std::ostream& operator<<(std::ostream& out, const RunSubject& subject)
{
    return out << subject.name;
}

class OpenReduction : public ::testing::TestWithParam<RunSubject>
{
};

TEST_P(OpenReduction, IsInVectorsAndComputesTheSame)
{
    const auto function = tir::parsePrimFunc(GetParam().text);
    ASSERT_TRUE(function) << function.error().text();
    for (const int vectorBytes : {64, 32, 16, 4}) {
        const auto kernel = scheduleKernel(*function, {.vectorBytes = vectorBytes});
        ASSERT_TRUE(kernel) << kernel.error().text();
        EXPECT_TRUE(vectorBytes == 4 ||
                    tir::print(kernel->function).find("T.vectorized(") != std::string::npos)
            << vectorBytes;
        for (const int64_t size : {1, 4, 21, 40})
            EXPECT_EQ(test::scheduleDifference(*function, kernel->function, size), "")
                << size << "\n"
                << tir::print(kernel->function);
    }
}

INSTANTIATE_TEST_SUITE_P(All, OpenReduction,
                         ::testing::Values(RunSubject{"run", R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((3, 5, n), "float32"), y: T.Buffer((3, n), "float32")):
    with T.block("root"):
        for i in T.serial(3):
            for j in T.serial(n):
                for k in T.serial(5):
                    with T.block("largest"):
                        vi = T.axis.spatial(3, i)
                        vj = T.axis.spatial(n, j)
                        vk = T.axis.reduce(5, k)
                        with T.init():
                            y[vi, vj] = T.float32("-inf")
                        y[vi, vj] = T.max(y[vi, vj], a[vi, vk, vj])
)"},
                                           RunSubject{"joined_run", R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((3, n, n, 8), "float32"), y: T.Buffer((3, n, 8), "float32")):
    with T.block("root"):
        for i in T.serial(3):
            for j in T.serial(n):
                for c in T.serial(8):
                    for k in T.serial(n):
                        with T.block("sum"):
                            vi = T.axis.spatial(3, i)
                            vj = T.axis.spatial(n, j)
                            vc = T.axis.spatial(8, c)
                            vk = T.axis.reduce(n, k)
                            with T.init():
                                y[vi, vj, vc] = T.float32(0)
                            y[vi, vj, vc] = y[vi, vj, vc] + a[vi, vk, vj, vc]
)"},
                                           RunSubject{"steps", R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((n, 6, 10), "float32"), y: T.Buffer((6, 10), "float32")):
    with T.block("root"):
        for i in T.serial(6):
            for j in T.serial(10):
                for k in T.serial(n):
                    with T.block("sum"):
                        vi = T.axis.spatial(6, i)
                        vj = T.axis.spatial(10, j)
                        vk = T.axis.reduce(n, k)
                        with T.init():
                            y[vi, vj] = T.float32(0)
                        y[vi, vj] = y[vi, vj] + a[vk, vi, vj]
)"},
                                           RunSubject{"rows_of_known_columns", R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((3, n, 24), "float32"), y: T.Buffer((3,), "float32")):
    with T.block("root"):
        for i in T.serial(3):
            for k in T.serial(n):
                for l in T.serial(24):
                    with T.block("sum"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(n, k)
                        vl = T.axis.reduce(24, l)
                        with T.init():
                            y[vi] = T.float32(0)
                        y[vi] = y[vi] + a[vi, vk, vl]
)"},
                                           RunSubject{"rows_of_odd_columns", R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((3, n, 27), "float32"), y: T.Buffer((3,), "float32")):
    with T.block("root"):
        for i in T.serial(3):
            for k in T.serial(n):
                for l in T.serial(27):
                    with T.block("largest"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(n, k)
                        vl = T.axis.reduce(27, l)
                        with T.init():
                            y[vi] = T.float32("-inf")
                        y[vi] = T.max(y[vi], a[vi, vk, vl])
)"},
                                           RunSubject{"rows_of_open_columns", R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((3, n, n), "float32"), y: T.Buffer((3,), "float32")):
    with T.block("root"):
        for i in T.serial(3):
            for k in T.serial(n):
                for l in T.serial(n):
                    with T.block("sum"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(n, k)
                        vl = T.axis.reduce(n, l)
                        with T.init():
                            y[vi] = T.float32(0)
                        y[vi] = y[vi] + a[vi, vk, vl]
)"}),
                         [](const auto& one) { return std::string(one.param.name); });

} // namespace
} // namespace tenon::compiler
