// SPDX-License-Identifier: Apache-2.0
// The method of a call is what its operator really does.
#include "compiler/driver/compile.h"
#include "compiler/driver/kernel_service.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>

#include <set>

namespace tenon::compiler {
namespace {

std::set<std::string> methodsOf(const std::string& model, const char* passConfig)
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
    std::set<std::string> methods;
    for (const KernelCall& call : (*result)->program.calls)
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
}

} // namespace
} // namespace tenon::compiler
