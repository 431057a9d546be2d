// SPDX-License-Identifier: Apache-2.0
// What Hexagon's code calls for 64-bit floats and square roots, against this computer's arithmetic.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/glue.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/codegen/llvm/linker.h"
#include "core/base/file.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

namespace tenon::compiler {
namespace {

using Four = std::array<double, 4>;

// Reads pairs from the file named first until it ends, writes four results of each to the second.
constexpr const char* kProgram = R"ir(
module asm ".globl _start"
module asm "_start: { r0 = r29; r29 = and(r29, #-128) }"
module asm "{ call tenon.start }"
@pair = internal global [2 x double] zeroinitializer
@results = internal global [4 x double] zeroinitializer
declare hidden double @__hexagon_muldf3(double, double)
declare hidden double @__hexagon_divdf3(double, double)
declare hidden double @sqrt(double)
declare hidden float @__hexagon_sqrtf(float)
define internal i32 @system(i32 %number, i32 %a, i32 %b, i32 %c) noinline {
  %result = call i32 asm sideeffect "trap0(#1)", "={r0},0,{r1},{r2},{r3},{r6},~{memory}"(i32 %a, i32 %b, i32 %c, i32 384, i32 %number)
  ret i32 %result
}
define hidden void @tenon.start(ptr %stack) {
  %fromAt = getelementptr i32, ptr %stack, i32 2
  %toAt = getelementptr i32, ptr %stack, i32 3
  %fromName = load i32, ptr %fromAt
  %toName = load i32, ptr %toAt
  %from = call i32 @system(i32 56, i32 -100, i32 %fromName, i32 0)
  %to = call i32 @system(i32 56, i32 -100, i32 %toName, i32 577)
  %pair = ptrtoint ptr @pair to i32
  %results = ptrtoint ptr @results to i32
  br label %each
each:
  %got = call i32 @system(i32 63, i32 %from, i32 %pair, i32 16)
  %isMore = icmp eq i32 %got, 16
  br i1 %isMore, label %some, label %done
some:
  %a = load double, ptr @pair
  %bAt = getelementptr double, ptr @pair, i32 1
  %b = load double, ptr %bAt
  %product = call double @__hexagon_muldf3(double %a, double %b)
  %quotient = call double @__hexagon_divdf3(double %a, double %b)
  %root = call double @sqrt(double %a)
  %narrow = fptrunc double %a to float
  %narrowRoot = call float @__hexagon_sqrtf(float %narrow)
  %wideRoot = fpext float %narrowRoot to double
  store double %product, ptr @results
  %quotientAt = getelementptr double, ptr @results, i32 1
  store double %quotient, ptr %quotientAt
  %rootAt = getelementptr double, ptr @results, i32 2
  store double %root, ptr %rootAt
  %narrowAt = getelementptr double, ptr @results, i32 3
  store double %wideRoot, ptr %narrowAt
  %told = call i32 @system(i32 64, i32 %to, i32 %results, i32 32)
  br label %each
done:
  %gone = call i32 @system(i32 94, i32 0, i32 0, i32 0)
  unreachable
}
)ir";

/// Every special value with every other, and pairs whose results are normal, subnormal, or neither.
std::vector<std::array<double, 2>> pairs()
{
    using Limits = std::numeric_limits<double>;
    const double special[] = {0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              3.0,
                              4.0,
                              Limits::infinity(),
                              -Limits::infinity(),
                              Limits::quiet_NaN(),
                              Limits::denorm_min(),
                              Limits::min(),
                              Limits::max(),
                              1e-160};
    std::vector<std::array<double, 2>> out;
    for (const double a : special)
        for (const double b : special) out.push_back({a, b});
    std::mt19937_64 random(1);
    const auto fraction = [&] { return 1 + std::ldexp(static_cast<double>(random() >> 12), -52); };
    const auto within = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low));
    };
    for (int i = 0; i < 2000; ++i) {
        out.push_back({std::bit_cast<double>(random()), std::bit_cast<double>(random())});
        out.push_back({fraction(), -fraction()});
        out.push_back({std::ldexp(fraction(), within(-560, -480)),
                       std::ldexp(fraction(), within(-560, -480))});
        out.push_back(
            {std::ldexp(fraction(), within(-1070, -900)), std::ldexp(fraction(), within(0, 120))});
    }
    return out;
}

void expectSame(double got, double wanted, const char* what, const std::array<double, 2>& pair)
{
    if (std::isnan(wanted) && std::isnan(got)) return;
    EXPECT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(wanted))
        << what << " of " << pair[0] << ", " << pair[1] << ": " << got << " instead of " << wanted;
}

/// Builds the program into the folder; errors fail the test.
void buildProgram(const test::TemporaryFolder& folder)
{
    const auto target = core::parseTarget("hexagon");
    ASSERT_TRUE(target);
    const auto machine = machineSpec(*target);
    ASSERT_TRUE(machine) << machine.error().text();
    const auto builtins = machine->backEnd->objects->emitBuiltins(*machine);
    const auto program = emitIrText(kProgram, *machine);
    ASSERT_TRUE(builtins && program);
    ASSERT_TRUE(core::writeFileAtomically(folder.file("builtins.o"), *builtins));
    ASSERT_TRUE(core::writeFileAtomically(folder.file("program.o"), *program));
    const auto job = machine->backEnd->objects->linkJob(
        {.triple = machine->triple,
         .objects = {folder.file("program.o"), folder.file("builtins.o")},
         .exports = {},
         .aliases = {},
         .folder = folder.path()},
        OutputFormat::Program);
    ASSERT_TRUE(job);
    const core::Status linked = link(*job, folder.file("program"));
    ASSERT_TRUE(linked) << linked.error().text();
}

TEST(HexagonBuiltins, RoundAsThisComputerDoes)
{
    TENON_NEED_TOOL("qemu-hexagon");
    const test::TemporaryFolder folder;
    ASSERT_NO_FATAL_FAILURE(buildProgram(folder));
    const auto given = pairs();
    ASSERT_TRUE(core::writeFileAtomically(
        folder.file("pairs"),
        std::string(reinterpret_cast<const char*>(given.data()), given.size() * 16)));
    const std::string command = "timeout 300 " + test::toolPath("qemu-hexagon") + " -cpu v67 " +
                                folder.file("program") + " " + folder.file("pairs") + " " +
                                folder.file("results");
    ASSERT_EQ(std::system(command.c_str()), 0);
    const auto bytes = core::readFile(folder.file("results"));
    ASSERT_TRUE(bytes);
    ASSERT_EQ(bytes->size(), given.size() * sizeof(Four));
    std::vector<Four> results(given.size());
    std::memcpy(results.data(), bytes->data(), bytes->size());
    for (size_t i = 0; i < given.size() && !HasFailure(); ++i) {
        const auto [a, b] = given[i];
        expectSame(results[i][0], a * b, "product", given[i]);
        expectSame(results[i][1], a / b, "quotient", given[i]);
        expectSame(results[i][2], std::sqrt(a), "root", given[i]);
        expectSame(results[i][3], std::sqrt(static_cast<float>(a)), "narrow root", given[i]);
    }
}

} // namespace
} // namespace tenon::compiler
