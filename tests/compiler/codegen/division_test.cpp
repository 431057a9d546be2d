// SPDX-License-Identifier: Apache-2.0
// Integer quotients of data: zeros are told by the kernel's status wherever they are met, and only
// where a result reads them; the lowest number divided by -1 wraps.
#include "compiler/schedule/lower.h"
#include "core/ir/tir/text.h"
#include "tests/support/jit_kernel.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon {
namespace {

using core::Tensor;

template <class T>
core::Result<std::vector<Tensor>> run(const std::string& loops, const std::vector<T>& a,
                                      const std::vector<T>& b, int tasks = 1)
{
    const core::DataType dtype = std::is_same_v<T, int8_t> ? core::kInt8 : core::kInt32;
    const std::string buffer = "T.Buffer((16,), \"" + dtype.text() + "\")";
    auto function = tir::parsePrimFunc("@T.prim_func\ndef main(a: " + buffer + ", b: " + buffer +
                                       ", y: " + buffer + "):\n" + loops);
    CHECK(function) << function.error().text();
    function->body = compiler::lowerVectorized(function->body);
    return test::runCompiled(*function,
                             {Tensor::of<T>(dtype, {16}, a), Tensor::of<T>(dtype, {16}, b)},
                             "llvm -mcpu=native", tasks);
}

const std::string kScalar = "    for i in T.serial(16):\n        y[i] = a[i] / b[i]\n";
const std::string kVector = "    for i in T.serial(2):\n        y[T.Ramp(i * 8, 1, 8)] = "
                            "a[T.Ramp(i * 8, 1, 8)] / b[T.Ramp(i * 8, 1, 8)]\n";
const std::string kParallel = "    for i in T.parallel(16):\n        y[i] = a[i] / b[i]\n";
const std::string kGuarded = "    for i in T.serial(16):\n        y[i] = T.if_then_else(i < 15, "
                             "a[i] / b[i], T.int32(7))\n";

template <class T>
std::vector<T> counted(T first)
{
    std::vector<T> out(16);
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(first + static_cast<T>(i));
    return out;
}

TEST(IntegerDivision, WrapsTheLowestNumber)
{
    for (const std::string& loops : {kScalar, kVector, kParallel}) {
        const auto wide = run<int32_t>(loops, std::vector<int32_t>(16, INT32_MIN),
                                       std::vector<int32_t>(16, -1), 3);
        ASSERT_TRUE(wide) << wide.error().text();
        for (const int32_t value : wide->at(0).as<int32_t>()) EXPECT_EQ(value, INT32_MIN);
        const auto narrow =
            run<int8_t>(loops, std::vector<int8_t>(16, -128), std::vector<int8_t>(16, -1), 3);
        ASSERT_TRUE(narrow) << narrow.error().text();
        for (const int8_t value : narrow->at(0).as<int8_t>()) EXPECT_EQ(value, -128);
    }
}

TEST(IntegerDivision, TellsAZeroWhereverItStands)
{
    for (const std::string& loops : {kScalar, kVector, kParallel})
        for (const size_t at : {size_t{0}, size_t{7}, size_t{15}}) {
            std::vector<int32_t> b = counted<int32_t>(1);
            const auto fine = run<int32_t>(loops, counted<int32_t>(-9), b, 3);
            EXPECT_TRUE(fine) << fine.error().text();
            b[at] = 0;
            const auto bad = run<int32_t>(loops, counted<int32_t>(-9), b, 3);
            ASSERT_FALSE(bad) << at;
            EXPECT_NE(bad.error().message.find("kernel returned 1"), std::string::npos)
                << bad.error().text();
        }
}

TEST(IntegerDivision, SaysNothingOfElementsThatNobodyReads)
{
    std::vector<int32_t> b = counted<int32_t>(1);
    b[15] = 0;
    const auto got = run<int32_t>(kGuarded, counted<int32_t>(2), b);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(got->at(0).as<int32_t>()[15], 7);
}

} // namespace
} // namespace tenon
