// SPDX-License-Identifier: Apache-2.0
// Models that only the VM runs: one artifact at several sizes, control flow, sizes out of data, and
// what is said when they are wrong.
#include "compiler/driver/compile.h"
#include "core/ir/graph_text.h"
#include "remote/session/local_board.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <thread>

namespace tenon::remote {
namespace {

using core::DiagnosticCode;
using core::JobContext;
using core::Tensor;

Tensor floats(std::vector<int64_t> shape, std::vector<float> values)
{
    return Tensor::of<float>(core::kFloat32, std::move(shape), values);
}

Tensor numbers(std::vector<int64_t> values)
{
    const auto count = static_cast<int64_t>(values.size());
    return Tensor::of<int64_t>(core::kInt64, {count}, values);
}

class VmRun : public testing::Test
{
protected:
    /// Compiles graph IR for every opt level asked for; the artifact of the last.
    void compile(const std::string& text, int optLevel = 3)
    {
        auto module = core::parseModule(text);
        ASSERT_TRUE(module) << module.error().text();
        compiler::Loaded loaded;
        loaded.module = *std::move(module);
        compiler::CompileOptions options;
        options.optLevel = optLevel;
        auto result = compiler::compile(std::make_shared<const compiler::Loaded>(std::move(loaded)),
                                        options, m_job);
        ASSERT_TRUE(result) << result.error().text();
        EXPECT_EQ((*result)->options.executor, compiler::ExecutorKind::Vm);
        EXPECT_FALSE((*result)->vmReason.empty());
        m_planned = (*result)->memory.problem.buffers.size();
        m_atRunTime = (*result)->memory.atRunTime;
        auto report = compiler::writeArtifact(**result, m_folder.file("m.so"));
        ASSERT_TRUE(report) << report.error().text();
        EXPECT_EQ(report->manifest.executor, "vm");
    }
    core::Result<std::vector<Tensor>> run(NamedTensors inputs)
    {
        return runArtifact({.artifactPath = m_folder.file("m.so"),
                            .inputs = std::move(inputs),
                            .threads = 2,
                            .poison = true},
                           m_job);
    }
    void expectValues(NamedTensors inputs, const Tensor& wanted)
    {
        const auto got = run(std::move(inputs));
        ASSERT_TRUE(got) << got.error().text();
        EXPECT_EQ(got->at(0).shape(), wanted.shape());
        EXPECT_EQ(got->at(0).numbers(), wanted.numbers());
    }
    void expectError(NamedTensors inputs, const std::string& part)
    {
        const auto got = run(std::move(inputs));
        ASSERT_FALSE(got);
        EXPECT_NE(got.error().message.find(part), std::string::npos) << got.error().text();
    }

    test::TemporaryFolder m_folder;
    JobContext m_job;
    size_t m_planned = 0; ///< buffers of the static plan
    int m_atRunTime = 0;  ///< values without a place in it
};

TEST_F(VmRun, RunsOneArtifactAtSeveralSizes)
{
    for (const int level : {0, 3}) {
        compile(R"(def @main(%x: Tensor[(n, 2), float32], %b: Tensor[(n, 1), float32]) {
  %0 = add(%x, %b)
  %1 = sum(%0, axis=[1])
  return %1
})",
                level);
        expectValues({{"x", floats({1, 2}, {1, 2})}, {"b", floats({1, 1}, {10})}},
                     floats({1}, {23}));
        expectValues(
            {{"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})}, {"b", floats({3, 1}, {10, 20, 30})}},
            floats({3}, {23, 47, 71}));
        expectValues({{"x", floats({0, 2}, {})}, {"b", floats({0, 1}, {})}}, floats({0}, {}));
    }
}

TEST_F(VmRun, RefusesInputsThatDisagreeOnASize)
{
    compile(R"(def @main(%x: Tensor[(n, 2), float32], %y: Tensor[(n, 2), float32]) {
  %0 = add(%x, %y)
  return %0
})");
    expectError({{"x", floats({1, 2}, {1, 2})}, {"y", floats({2, 2}, {1, 2, 3, 4})}},
                "input `y`: dimension 0 is not `n`: 2 and 1");
}

TEST_F(VmRun, ChecksWhatTypingTookToBeEqual)
{
    compile(R"(def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]) {
  %0 = add(%x, %y)
  return %0
})");
    expectValues({{"x", floats({2}, {1, 2})}, {"y", floats({2}, {3, 4})}}, floats({2}, {4, 6}));
    expectError({{"x", floats({2}, {1, 2})}, {"y", floats({3}, {3, 4, 5})}},
                "sizes n and (m max n) of axis 0 must be equal, or the first 1: 2 and 3");
}

TEST_F(VmRun, TakesSizesOutOfData)
{
    compile(R"(def @main(%v: Tensor[(), float32], %s: Tensor[(2,), int64]) {
  %0 = bind_dims(%s, names=s["a", "b"])
  %1 = full(%v, shape=[], sizes=s["a", "2*b"])
  return %1
})");
    expectValues({{"v", floats({}, {7})}, {"s", numbers({1, 2})}}, floats({1, 4}, {7, 7, 7, 7}));
    expectError({{"v", floats({}, {7})}, {"s", numbers({1, -2})}}, "negative");
    expectError({{"v", floats({}, {7})}, {"s", numbers({1, INT64_MAX})}}, "cannot be computed");
    expectError({{"v", floats({}, {7})}, {"s", numbers({1 << 30, 1 << 30})}}, "cannot exist");
}

TEST_F(VmRun, ChoosesABranch)
{
    compile(R"(def @then(%a: Tensor[(2,), float32]) {
  %0 = negative(%a)
  return %0
}
def @otherwise(%a: Tensor[(2,), float32]) {
  return %a
}
def @main(%c: Tensor[(), bool], %x: Tensor[(2,), float32]) {
  %0 = if(%c, %x, bodies=[@then, @otherwise]) : Tensor[(2,), float32]
  return %0
})");
    const Tensor x = floats({2}, {1, 2});
    expectValues({{"c", Tensor::of<uint8_t>(core::kBool, {}, {1})}, {"x", x}},
                 floats({2}, {-1, -2}));
    expectValues({{"c", Tensor::of<uint8_t>(core::kBool, {}, {0})}, {"x", x}}, x);
}

/// b, a+b for a, b: values that change places.
constexpr const char* kFibonacci =
    R"(def @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %a: Tensor[(1,), int64], %b: Tensor[(1,), int64]) {
  %0 = add(%a, %b)
  return %c, %b, %0, %a
}
def @main(%m: Tensor[(), int64], %x: Tensor[(1,), int64], %y: Tensor[(1,), int64]) {
  %0:3 = loop(%m, _, %x, %y, carried=2, bodies=[@body]) : Tensor[(1,), int64], Tensor[(1,), int64], Tensor[(k, 1), int64]
  return %0.2
})";

TEST_F(VmRun, CarriesValuesThroughALoop)
{
    compile(kFibonacci);
    const auto trips = [](int64_t count) {
        return Tensor::of<int64_t>(core::kInt64, {}, std::vector<int64_t>{count});
    };
    expectValues({{"m", trips(6)}, {"x", numbers({1})}, {"y", numbers({1})}},
                 Tensor::of<int64_t>(core::kInt64, {6, 1}, {1, 1, 2, 3, 5, 8}));
    expectValues({{"m", trips(0)}, {"x", numbers({1})}, {"y", numbers({1})}},
                 Tensor::of<int64_t>(core::kInt64, {0, 1}, {}));
}

/// What ends within a step or a branch is planned; what the next step or main reads is not, be it a
/// view or a value that a branch hands through.
TEST_F(VmRun, PlansWhatEndsWithinABody)
{
    compile(R"(def @keep(%t: Tensor[(2,), float32]) {
  return %t
}
def @twice(%t: Tensor[(2,), float32]) {
  %0 = negative(%t)
  %1 = add(%0, %t)
  %2 = subtract(%t, %1)
  %3 = add(%2, %t)
  return %3
}
def @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %a: Tensor[(2,), float32], %b: Tensor[(2,), float32], %f: Tensor[(), bool]) {
  %0 = negative(%a)
  %1 = if(%f, %0, bodies=[@keep, @twice]) : Tensor[(2,), float32]
  %2 = add(%a, %1)
  %3 = reshape(%b, newshape=[1, 2])
  %4 = add(%3, %2)
  %5 = reshape(%4, newshape=[2])
  return %c, %1, %5
}
def @main(%m: Tensor[(), int64], %x: Tensor[(2,), float32], %f: Tensor[(), bool]) {
  %0:2 = loop(%m, _, %x, %x, %f, carried=2, bodies=[@body]) : Tensor[(2,), float32], Tensor[(2,), float32]
  %1 = concatenate(%0.0, %0.1, axis=0)
  return %1
})",
            0);
    EXPECT_GE(m_planned, 4u);  // one sum of @body, three values of @twice
    EXPECT_EQ(m_atRunTime, 3); // -a, which @keep hands through, b of the next step, @twice's result
    const auto inputs = [](bool flag) {
        return NamedTensors{
            {"m", Tensor::of<int64_t>(core::kInt64, {}, {3})},
            {"x", floats({2}, {1, 3})},
            {"f", Tensor::of<uint8_t>(core::kBool, {}, {flag ? uint8_t(1) : uint8_t(0)})}};
    };
    expectValues(inputs(true), floats({4}, {-1, -3, 1, 3}));
    expectValues(inputs(false), floats({4}, {-8, -24, -2, -6}));
}

TEST_F(VmRun, EndsALoopWithoutEndWhenCancelled)
{
    compile(R"(def @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %a: Tensor[(1,), float32]) {
  %0 = negative(%a)
  return %c, %0
}
def @main(%x: Tensor[(1,), float32]) {
  %0 = loop(_, _, %x, carried=1, bodies=[@body]) : Tensor[(1,), float32]
  return %0
})");
    std::thread canceller([&] { m_job.requestStop(); });
    const auto got = run({{"x", floats({1}, {1})}});
    canceller.join();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, DiagnosticCode::Cancelled) << got.error().text();
}

} // namespace
} // namespace tenon::remote
