// SPDX-License-Identifier: Apache-2.0
// Products of bytes by tiles: which loops become them, and what they compute, also where the system
// lends no tiles.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/byte_tiles.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "tests/support/environment.h"
#include "tests/support/jit_kernel.h"
#include "tests/support/parsed_function.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace tenon::compiler {
namespace {

using core::Tensor;

constexpr int64_t kLanes = 16, kWordBytes = 4;

struct Product
{
    int64_t positions, vectors, steps;
    bool isOfBytes = false; ///< data are bytes, four of them a step

    /// y[position][vector][16] = a[position][step] x b[step][vector][16].
    std::string text(const std::string& sumKind = "dot_u8i8") const
    {
        const auto number = [](int64_t n) { return std::to_string(n); };
        const int64_t data = positions * steps;
        const std::string at = "position * " + number(steps) + " + step";
        const auto byte = [&](int64_t k) {
            return "T.Cast(\"int32\", a[(" + at + ") * 4 + " + number(k) + "])";
        };
        const auto shifted = [&](int64_t k) {
            return "T.shift_left(" + byte(k) + ", T.int32(" + number(8 * k) + "))";
        };
        const std::string word = !isOfBytes ? "a[" + at + "]"
                                            : "T.bitwise_or(T.bitwise_or(T.bitwise_or(" + byte(0) +
                                                  ", " + shifted(1) + "), " + shifted(2) + "), " +
                                                  shifted(3) + ")";
        const std::string sum =
            "y[T.Ramp((position * " + number(vectors) + " + vector) * 16, 1, 16)]";
        return "@T.prim_func\ndef main(a: T.Buffer((" + number(isOfBytes ? 4 * data : data) +
               ",), \"" + (isOfBytes ? "uint8" : "int32") + "\"), b: T.Buffer((" +
               number(steps * vectors * kLanes) + ",), \"int32\"), y: T.Buffer((" +
               number(positions * vectors * kLanes) + ",), \"int32\")):\n    for i in T.serial(" +
               number(positions * vectors) +
               "):\n        y[T.Ramp(i * 16, 1, 16)] = T.Broadcast(T.int32(3), 16)\n    for step "
               "in "
               "T.serial(" +
               number(steps) + "):\n        for position in T.serial(" + number(positions) +
               "):\n            for vector in T.serial(" + number(vectors) +
               "):\n                " + sum + " = " + sum + " + T." + sumKind +
               "(T.Broadcast(T.int32(0), 16), T.Broadcast(" + word + ", 16), b[T.Ramp((step * " +
               number(vectors) + " + vector) * 16, 1, 16)])\n";
    }
};

template <class T>
std::vector<T> numbers(int64_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<T> out;
    for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<T>(random()));
    return out;
}

/// Byte `at` of words that begin with their lowest.
template <class T>
int32_t byteOf(const std::vector<int32_t>& words, int64_t at)
{
    const auto word = static_cast<uint32_t>(words[static_cast<size_t>(at / kWordBytes)]);
    return static_cast<T>(word >> (8 * (at % kWordBytes)));
}

void expectSums(const Product& p)
{
    const auto function = test::parsedFunction(p.text());
    const auto a = numbers<int32_t>(p.positions * p.steps, 5);
    const auto b = numbers<int32_t>(p.steps * p.vectors * kLanes, 9);
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < p.positions * p.steps * kWordBytes; ++i)
        bytes.push_back(static_cast<uint8_t>(byteOf<uint8_t>(a, i)));
    const auto tensorOf = [](DataType dtype, const auto& values) {
        return Tensor::of(dtype, {static_cast<int64_t>(values.size())}, values);
    };
    const auto out = test::runCompiled(
        function,
        {p.isOfBytes ? tensorOf(kUInt8, bytes) : tensorOf(kInt32, a), tensorOf(kInt32, b)},
        "llvm -mcpu=native -mattr=+amx-int8,+amx-tile");
    ASSERT_TRUE(out) << out.error().text();
    const auto y = out->at(0).as<int32_t>();
    for (int64_t at = 0; at < p.positions * p.vectors * kLanes; ++at) {
        const int64_t position = at / (p.vectors * kLanes), column = at % (p.vectors * kLanes);
        int32_t sum = 3;
        for (int64_t i = 0; i < p.steps * kWordBytes; ++i) {
            const int64_t word = i / kWordBytes * p.vectors * kLanes + column;
            sum += byteOf<uint8_t>(a, position * p.steps * kWordBytes + i) *
                   byteOf<int8_t>(b, word * kWordBytes + i % kWordBytes);
        }
        ASSERT_EQ(y[static_cast<size_t>(at)], sum) << at << "\n" << p.text();
    }
}

std::string assembly(const std::string& text, const std::string& target)
{
    const auto machine = machineSpec(*parseTarget(target));
    EXPECT_TRUE(machine) << machine.error().text();
    const tir::PrimFunc function = test::parsedFunction(text);
    const auto emitted = emitKernel({.lowered = function, .symbol = "kernel", .vectorBytes = 64},
                                    *machine, EmitForm::Assembly);
    EXPECT_TRUE(emitted) << emitted.error().text();
    return emitted ? *emitted : "";
}

TEST(ByteTiles, MultiplyWhereTheProcessorCan)
{
    const std::string text = Product{32, 4, 16}.text();
    const std::string code = assembly(text, "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids");
    for (const char* instruction : {"tdpbusd", "ldtilecfg", "tilerelease", "syscall", "vpdpbusd"})
        EXPECT_NE(code.find(instruction), std::string::npos) << instruction << "\n" << code;
    for (const char* target : {"llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server",
                               "llvm -mtriple=x86_64-unknown-freebsd -mcpu=sapphirerapids"})
        EXPECT_EQ(assembly(text, target).find("tdpbusd"), std::string::npos) << target;
}

TEST(ByteTiles, TakeOtherLoopsForWhatTheyAre)
{
    const auto products = [](const std::string& text) {
        const tir::PrimFunc function = test::parsedFunction(text);
        return byteProductsOf(*function.body->stmts.at(1));
    };
    const auto found = products(Product{28, 2, 36, true}.text());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->positions, 28);
    EXPECT_EQ(found->vectors, 2);
    EXPECT_EQ(found->steps, 36);
    EXPECT_FALSE(products(Product{28, 2, 36}.text("dot_i8i8"))); // no such instruction is used
    EXPECT_FALSE(products(Product{1, 2, 36}.text()));            // one row
    const auto changed = [](std::string text, const std::string& from, const std::string& to) {
        text.replace(text.rfind(from), from.size(), to);
        return text;
    };
    const std::string text = Product{28, 2, 36}.text();
    EXPECT_FALSE(products(changed(text, "+ step]", "+ step * 2]"))); // words that are apart
    EXPECT_FALSE(products(changed(text, "position * 36", "36 % (position + 1)")));
    EXPECT_FALSE(products(changed(text, "T.int32(0), 16)", "T.int32(1), 16)")));
}

TEST(ByteTiles, MultiplyNearlyWholeTilesOrARest)
{
    const auto counts = [](int64_t steps) {
        std::vector<std::array<int64_t, 3>> out;
        for (const TileSteps& each : tileSteps(steps))
            out.push_back({each.first, each.each, each.rounds});
        return out;
    };
    using Counts = std::vector<std::array<int64_t, 3>>;
    EXPECT_EQ(counts(7), (Counts{{0, 7, 1}}));
    EXPECT_EQ(counts(36), (Counts{{0, 12, 3}}));
    EXPECT_EQ(counts(64), (Counts{{0, 16, 4}}));
    EXPECT_EQ(counts(29), (Counts{{0, 16, 1}, {16, 13, 1}}));
    EXPECT_EQ(counts(131), (Counts{{0, 16, 8}, {128, 3, 1}}));
}

TEST(ByteTiles, SumWhatLoopsSum)
{
    const std::string code = assembly(Product{16, 1, 16}.text(), "llvm -mcpu=native");
    TENON_NEED(code.find("vpdpbusd") != std::string::npos, "avx512vnni",
               "this processor has no AVX-512 VNNI");
    for (const Product p :
         {Product{2, 1, 1}, Product{16, 1, 16}, Product{13, 3, 17}, Product{25, 2, 24},
          Product{32, 4, 64}, Product{49, 5, 36}, Product{64, 2, 48}, Product{35, 1, 20},
          Product{30, 3, 131}, Product{20, 2, 29}})
        for (const bool isOfBytes : {false, true}) {
            Product each = p;
            each.isOfBytes = isOfBytes;
            expectSums(each);
        }
}

} // namespace
} // namespace tenon::compiler
