// SPDX-License-Identifier: Apache-2.0
// Transposed copies of which sizes are known at run time only: in squares, or by vectors of each of
// a pixel's few parts, with the elements of plain loops.
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/support.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

struct Subject
{
    const char* name;
    const char* from; ///< shapes
    const char* to;
    const char* read; ///< of block axes vi, vj and vk
    bool isInSquares = true;
};

constexpr Subject kSubjects[] = {
    {"open_columns", "(2, n, 24)", "(2, 24, n)", "vi, vk, vj"},
    {"open_rows", "(2, 24, n)", "(2, n, 24)", "vi, vk, vj"},
    {"open_planes", "(n, 24, 20)", "(n, 20, 24)", "vi, vk, vj"},
    {"all_open", "(n, n, 24)", "(24, n, n)", "vk, vj, vi"},
    {"odd_columns", "(3, n, 21)", "(3, 21, n)", "vi, vk, vj"},
    {"pixels_to_planes", "(2, n, 3)", "(2, 3, n)", "vi, vk, vj", false},
    {"planes_to_pixels", "(2, 3, n)", "(2, n, 3)", "vi, vk, vj", false},
    {"planes_to_pairs", "(2, 2, n)", "(2, n, 2)", "vi, vk, vj", false},
};

std::string axisOf(const std::string& shape, size_t axis)
{
    std::string rest = shape.substr(1, shape.size() - 2);
    for (size_t i = 0; i < axis; ++i) rest = rest.substr(rest.find(", ") + 2);
    return rest.substr(0, rest.find(", "));
}

tir::PrimFunc functionOf(const Subject& subject, const std::string& dtype)
{
    const std::string to = subject.to, i = axisOf(to, 0), j = axisOf(to, 1), k = axisOf(to, 2);
    const auto function = tir::parsePrimFunc("@T.prim_func\ndef main(n: T.int64, a: T.Buffer(" +
                                             std::string(subject.from) + ", \"" + dtype +
                                             "\"), y: T.Buffer(" + to + ", \"" + dtype +
                                             "\")):\n"
                                             "    with T.block(\"root\"):\n"
                                             "        for i in T.serial(" +
                                             i +
                                             "):\n"
                                             "            for j in T.serial(" +
                                             j +
                                             "):\n"
                                             "                for k in T.serial(" +
                                             k +
                                             "):\n"
                                             "                    with T.block(\"transpose\"):\n"
                                             "                        vi = T.axis.spatial(" +
                                             i +
                                             ", i)\n"
                                             "                        vj = T.axis.spatial(" +
                                             j +
                                             ", j)\n"
                                             "                        vk = T.axis.spatial(" +
                                             k +
                                             ", k)\n"
                                             "                        y[vi, vj, vk] = a[" +
                                             subject.read + "]\n");
    CHECK(function) << function.error().text();
    return *function;
}

class OpenCrossing : public ::testing::TestWithParam<std::tuple<const char*, Subject>>
{
};

TEST_P(OpenCrossing, TakesVectorsAndCopiesTheSame)
{
    const auto& [dtype, subject] = GetParam();
    const tir::PrimFunc function = functionOf(subject, dtype);
    for (const int vectorBytes : {64, 32, 16, 4}) {
        const auto kernel = scheduleKernel(function, {.vectorBytes = vectorBytes});
        ASSERT_TRUE(kernel) << kernel.error().text();
        const std::string text = tir::print(kernel->function);
        const auto has = [&](const char* loop) { return text.find(loop) != std::string::npos; };
        if (subject.isInSquares) {
            EXPECT_EQ(has("T.unroll("), vectorBytes != 4) << text;
            EXPECT_EQ(has("T.vectorized("), vectorBytes != 4) << text;
        } else if (vectorBytes == 32 && std::string_view(dtype) == "float32") {
            EXPECT_TRUE(has("T.vectorized(")) << text;
        }
        for (const int64_t size : {1, 7, 16, 21})
            EXPECT_EQ(test::scheduleDifference(function, kernel->function, size), "")
                << size << "\n"
                << text;
    }
}

INSTANTIATE_TEST_SUITE_P(All, OpenCrossing,
                         ::testing::Combine(::testing::Values("float32", "int8", "float16"),
                                            ::testing::ValuesIn(kSubjects)),
                         [](const auto& one) {
                             return std::string(std::get<0>(one.param)) + "_" +
                                    std::get<1>(one.param).name;
                         });

} // namespace
} // namespace tenon::compiler
