// SPDX-License-Identifier: Apache-2.0
// Footprints of the sample: bare metal by symbols, libraries by sections.
#include "compiler/frontend/load_model.h"
#include "remote/footprint/footprint.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

FootprintRequest sample(const std::string& target)
{
    FootprintRequest request;
    auto loaded = compiler::loadModel(test::sourcePath("resources/sample/digits/model.onnx"), {});
    EXPECT_TRUE(loaded) << loaded.error().text();
    request.loaded = std::make_shared<const compiler::Loaded>(std::move(*loaded));
    request.options.target = target;
    request.modelName = "digits";
    return request;
}

TEST(Footprint, MeasuresBareMetalImages)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    TENON_NEED_TOOL("qemu-system-arm");
    core::JobContext job;
    const auto all = measureFootprint(sample("c -mcpu=cortex-m4"), job);
    ASSERT_TRUE(all) << all.error().text();
    ASSERT_EQ(all->size(), 3u);
    EXPECT_NE((*all)[0].notMeasured, "");
    for (const ExecutorFootprint& one : {(*all)[1], (*all)[2]}) {
        EXPECT_EQ(one.ram.workspace, one.plannedBytes) << one.executor;
        EXPECT_GT(one.flash.kernels, 500) << one.executor;
        EXPECT_GT(one.flash.constants, 1000) << one.executor;
        EXPECT_EQ(one.flash.metadata, 0) << one.executor;
        EXPECT_GE(one.flash.runtime, 0) << one.executor;
        EXPECT_LT(one.flash.runtime, 8192) << one.executor;
        EXPECT_GT(one.ram.stack, 0) << one.executor;
        EXPECT_LT(one.ram.stack, 4096) << one.executor;
        EXPECT_EQ(one.ram.heap, 0) << one.executor;
        EXPECT_NE(one.method, "");
    }
}

TEST(Footprint, MeasuresLibrariesOfBothExecutors)
{
    TENON_NEED_TOOL("nm");
    TENON_NEED_TOOL("size");
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc"); // else there is no server to measure
    core::JobContext job;
    const auto all =
        measureFootprint(sample("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"), job);
    ASSERT_TRUE(all) << all.error().text();
    const ExecutorFootprint& graph = (*all)[0];
    const ExecutorFootprint& aot = (*all)[1];
    EXPECT_NE((*all)[2].notMeasured, "");
    EXPECT_EQ(graph.flash.constants, aot.flash.constants);
    EXPECT_GT(graph.flash.metadata, 0);
    EXPECT_GT(aot.flash.kernels, 1000);
    EXPECT_GT(aot.flash.runtime, 100000);
    EXPECT_EQ(aot.ram.workspace, aot.plannedBytes);
    EXPECT_EQ(aot.ram.stack, -1);
}

TEST(Footprint, RefusesWhatItCannotMeasure)
{
    core::JobContext job;
    FootprintRequest request = sample("c -mcpu=cortex-m4");
    request.executors = {"vm"};
    const auto unknown = measureFootprint(request, job);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, core::DiagnosticCode::BadArgument);
    request = sample("c");
    request.executors = {"aot-c"};
    const auto core = measureFootprint(request, job);
    ASSERT_FALSE(core);
    EXPECT_EQ(core.error().code, core::DiagnosticCode::UnsupportedTarget);
}

} // namespace
} // namespace tenon::remote
