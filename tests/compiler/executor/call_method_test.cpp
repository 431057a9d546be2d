// SPDX-License-Identifier: Apache-2.0
// The method of a call is what its operator really does.
#include "compiler/driver/compile.h"
#include "compiler/driver/kernel_service.h"
#include "compiler/executor/call_method.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/passes/passes.h"
#include "core/ir/graph_text.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>

#include <set>

namespace tenon::compiler {
namespace {

std::shared_ptr<const CompileResult> compiled(const std::string& model, const char* passConfig)
{
    const auto owner = std::make_shared<const std::string>(model);
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(*owner)), owner, "", "zoo.onnx", {});
    CHECK(loaded) << loaded.error().text();
    CompileOptions options;
    options.target = "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell";
    options.service = schedulingKernelService();
    if (*passConfig) options.passConfig = {passConfig};
    JobContext job(2);
    const auto result = compile(std::make_shared<const Loaded>(std::move(*loaded)), options, job);
    CHECK(result) << result.error().text();
    return *result;
}

std::set<std::string> methodsOf(const std::string& model, const char* passConfig)
{
    const auto result = compiled(model, passConfig);
    std::set<std::string> methods;
    for (const KernelCall& call : result->program.calls)
        methods.insert(methodText(call.method, call.refusal));
    return methods;
}

TEST(CallMethod, namesWhatEachCallDoes)
{
    const std::string resnet = test::makeResnet18({.imageSize = 64, .channelDivisor = 4});
    const std::set<std::string> fast = methodsOf(resnet, "");
    EXPECT_TRUE(fast.contains("Winograd F(4x4,3x3)"));
    EXPECT_TRUE(fast.contains("direct"));
    EXPECT_TRUE(fast.contains("direct 1x1"));
    EXPECT_TRUE(fast.contains("")); // pooling has one way only
    for (const std::string& method : methodsOf(resnet, "winograd.max_error=0"))
        EXPECT_FALSE(method.starts_with("Winograd"));
    EXPECT_TRUE(methodsOf(test::makeDscnn({.channelDivisor = 4}), "").contains("depthwise"));
    EXPECT_TRUE(methodsOf(test::makeShufflenetV2({.imageSize = 64}), "").contains("moves data"));
}

TEST(CallMethod, saysOutsideBlocksAloneWhyThereIsNoFasterForm)
{
    for (const std::string& model : {test::makeDcgan({.channelDivisor = 8}),
                                     test::makeShufflenetV1({.imageSize = 64, .channelDivisor = 4}),
                                     test::makeResnet18({.imageSize = 64, .channelDivisor = 4})})
        for (const KernelCall& call : compiled(model, "")->program.calls)
            EXPECT_EQ(!call.plainReason.empty(),
                      call.method.kind == Method::PlainLoops || call.method.kind == Method::Rows)
                << call.name << ": " << call.plainReason;
}

/// Of a convolution that reads `channels` and makes as many, in groups.
std::string reasonOf(int64_t channels, int64_t groups)
{
    const auto extent = [](int64_t value) { return std::to_string(value) + ", "; };
    auto module =
        parseModule("def @main(%x: Tensor[(1, " + extent(channels) +
                    "8, 8), float32], %w: Tensor[(" + extent(channels) + extent(channels / groups) +
                    "3, 3), float32]) {\n  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=" +
                    std::to_string(groups) + ")\n  return %0\n}");
    CHECK(module) << module.error().text();
    CHECK(inferMissingTypes(*module)) << "the text is typed wrongly";
    EXPECT_EQ(methodOf(*module, module->main().order).kind, Method::Rows);
    return plainReason(*module, module->main().order);
}

TEST(CallMethod, countsTheChannelsThatABlockWouldHold)
{
    EXPECT_EQ(reasonOf(58, 1), "58 channels fill no block");
    EXPECT_EQ(reasonOf(58, 58), "58 channels fill no block"); // depthwise: all of them are in one
    EXPECT_EQ(reasonOf(30, 3), "3 groups of 10 channels fill no block");
    EXPECT_NE(reasonOf(64, 4).find("blocks of 4 groups of 16 to 16 channels were weighed"),
              std::string::npos);
}

} // namespace
} // namespace tenon::compiler
