// SPDX-License-Identifier: Apache-2.0
// Every pass on its golden file: rules with their reasons, then the module that comes out.
#include "compiler/codegen/back_end.h"
#include "compiler/passes/pass.h"
#include "core/base/file.h"
#include "core/ir/graph_text.h"
#include "tests/support/environment.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace tenon::compiler {
namespace {

/// In the room of the pass.
std::string fileOf(const PassDef& pass)
{
    std::string name(pass.cliName);
    std::replace(name.begin(), name.end(), '-', '_');
    for (const char* room : {"fuse/", "layout/", "quantize/"}) {
        const std::string path = std::string("tests/compiler/passes/") + room + name + ".txt";
        if (std::filesystem::exists(test::sourcePath(path))) return path;
    }
    return "tests/compiler/passes/" + name + ".txt";
}

bool hasKnownInputs(const Module& module)
{
    const std::vector<NodeId>& params = module.main().params;
    return std::all_of(params.begin(), params.end(), [&](NodeId id) {
        return constantShape(module.type({id, 0}).shape).has_value();
    });
}

/// 4 lanes, so that small shapes get blocks, and dot products unless the title says that there are
/// none. Two threads, vectors of 64 bytes and configuration where it speaks of them.
PassContext contextOf(const std::string& title)
{
    PassContext context;
    const bool isArm = title.find("AArch64") != std::string::npos;
    context.target = *parseTarget(isArm ? "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"
                                        : "llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server");
    const bool hasDots = title.find("without dot products") == std::string::npos;
    if (isArm && !hasDots) {
        context.target = *parseTarget("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72");
        context.facts.hasLaneOperand = context.facts.hasHalfLanes = true;
        context.facts.floatMacs = 4;
        context.facts.byteMacs = 6;
    }
    if (!isArm && !hasDots) {
        context.target = *parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell");
        context.facts.vectorBytes = 32;
        context.facts.hasFma = true;
        context.facts.floatMacs = context.facts.byteMacs = 16;
    }
    if (title.find("winograd.max_error=0") != std::string::npos)
        context.config["winograd.max_error"] = 0.0;
    const auto machine = machineSpec(context.target);
    context.code = machine->backEnd->traits(*machine);
    if (title.find("threads") != std::string::npos) context.facts.threads = 2;
    if (title.find("64 bytes") != std::string::npos) context.facts.vectorBytes = 64;
    return context;
}

/// InferType, then the pass alone.
std::string runCase(const PassDef& pass, const test::GoldenCase& golden)
{
    const Result<Module> module = parseModule(golden.input);
    if (!module) return module.error().text() + "\n";
    RunPassesOptions options;
    options.pipeline = {"InferType"};
    if (pass.name == "LowerToTIR") options.pipeline.emplace_back("FuseOps");
    if (pass.name != "InferType") options.pipeline.emplace_back(pass.name);
    options.verify = VerifyEach::Pass;
    options.verifyNumerics = hasKnownInputs(*module);
    options.numericTolerance = 1e-5;
    const PassContext context = contextOf(golden.title);
    const Result<PassTrace> trace = runPasses(*module, context, options);
    if (!trace) return trace.error().text() + "\n";

    std::string out;
    for (const Change& change : trace->records.back().changes)
        out += "// " + change.rule + ": " + change.reason + "\n";
    const std::string text = printModule(trace->last());
    const Result<Module> again = parseModule(text, constantPool(trace->last()));
    EXPECT_TRUE(again) << again.error().text() << "\n" << text;
    if (again) {
        EXPECT_EQ(printModule(*again), text);
    }
    return out + text;
}

TEST(PassGolden, EveryPassDoesWhatItsCasesSay)
{
    for (const PassDef& pass : allPasses()) {
        SCOPED_TRACE(std::string(pass.name));
        ASSERT_TRUE(readFile(test::sourcePath(fileOf(pass)))) << fileOf(pass);
        test::expectGolden(fileOf(pass),
                           [&](const test::GoldenCase& c) { return runCase(pass, c); });
    }
}

} // namespace
} // namespace tenon::compiler
