// SPDX-License-Identifier: Apache-2.0
// A user's own kernel: written as a library, loaded and called through the C ABI.
#include "compiler/driver/compile_function.h"
#include "core/ir/tir/text.h"
#include "tests/runtime/handles.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace tenon::compiler {
namespace {

std::string scaledSum(const std::string& name, const std::string& rows = "4")
{
    const std::string type = "T.Buffer((" + rows + ", 3), \"float32\")";
    return "@T.prim_func\ndef " + name + "(a: " + type + ", b: " + type + ", c: " + type +
           "):\n"
           "    for i in T.parallel(4):\n"
           "        for j in T.serial(3):\n"
           "            c[i, j] = a[i, j] * T.float32(2) + b[i, j]\n";
}

Result<CompileResultPtr> compiled(const std::string& text, OutputFormat format,
                                  const std::string& target = "llvm -mcpu=native")
{
    auto function = tir::parsePrimFunc(text);
    if (!function) return function.error();
    CompileOptions options;
    options.target = target;
    options.runThreads = target == "llvm -mcpu=native" ? 2 : 0;
    JobContext job(1);
    return compileFunction(*function, format, options, job);
}

TEST(CompileFunction, IsCalledByItsNameThroughTheAbi)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("own.so");
    const auto result = compiled(scaledSum("scaled_sum"), OutputFormat::SharedLibrary);
    ASSERT_TRUE(result) << result.error().text();
    const auto report = writeArtifact(**result, path);
    ASSERT_TRUE(report) << report.error().text();
    const test::Handle library = test::loadModule(path);
    ASSERT_TRUE(library);
    const test::Handle function = test::moduleFunction(library, "scaled_sum");
    ASSERT_TRUE(function);
    const test::Handle a = test::makeArray({4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    const test::Handle b = test::makeArray({4, 3}, std::vector<float>(12, 0.5f));
    const test::Handle c = test::makeArray({4, 3}, std::vector<float>(12, -1));
    EXPECT_EQ(test::call(function, {&a, &b, &c}, kTVMDLTensorHandle).status, 0);
    for (int i = 0; i < 12; ++i)
        EXPECT_EQ(test::floatsOf(c.get())[static_cast<size_t>(i)],
                  2 * static_cast<float>(i) + 0.5f);
    // Whoever passes another shape is told so, not believed.
    const test::Handle small = test::makeArray({3}, {0, 0, 0});
    const auto refused = test::call(function, {&a, &small, &c}, kTVMDLTensorHandle);
    EXPECT_NE(refused.status, 0);
    EXPECT_NE(refused.error.find("scaled_sum"), std::string::npos) << refused.error;
}

TEST(CompileFunction, SaysWhatCannotBe)
{
    const auto said = [](const std::string& text, OutputFormat format,
                         const std::string& target = "llvm -mcpu=native") {
        const auto result = compiled(text, format, target);
        return result ? "compiled" : result.error().message;
    };
    EXPECT_NE(said(scaledSum("tvmgen_default_f"), OutputFormat::SharedLibrary).find("rename"),
              std::string::npos);
    EXPECT_NE(said(scaledSum("_f"), OutputFormat::SharedLibrary).find("rename"), std::string::npos);
    EXPECT_NE(said(scaledSum("f", "n"), OutputFormat::SharedLibrary).find("n"), std::string::npos);
    const std::string wasm = said(scaledSum("f"), OutputFormat::WasmModule);
    EXPECT_NE(wasm.find(".so"), std::string::npos) << wasm; // what it can be written as
    EXPECT_EQ(said(scaledSum("f"), OutputFormat::WasmModule, "llvm -mtriple=wasm32"), "compiled");
}

} // namespace
} // namespace tenon::compiler
