// SPDX-License-Identifier: Apache-2.0
// By `tenon run`, as a user would; C source by a compiler that may fuse what it is not told to
// keep.
#include "tests/fuzz/steps/run_steps.h"

#include "compiler/codegen/c/c_text.h"
#include "compiler/driver/compile.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace tenon::test {

using namespace core;

namespace {

struct Ran
{
    int status;
    std::string output;
};

Ran runCommand(const std::string& command)
{
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return {-1, "cannot start a shell"};
    Ran ran{0, {}};
    std::array<char, 65536> block;
    for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
        ran.output.append(block.data(), n);
    ran.status = ::pclose(pipe);
    return ran;
}

std::string differences(const StepModel& model, size_t output, const Tensor& got)
{
    const Tensor& wanted = model.outputs[output].tensor;
    if (got.dtype() != wanted.dtype() || got.shape() != wanted.shape())
        return got.typeText() + " instead of " + wanted.typeText();
    int64_t count = 0;
    std::string first;
    for (int64_t i = 0; i < wanted.size(); ++i) {
        const double a = got.number(i), b = wanted.number(i);
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        if (count++ == 0)
            first = "element " + std::to_string(i) + " is " + exact(a) + " instead of " + exact(b);
    }
    if (count == 0) return {};
    return std::to_string(count) + " of " + std::to_string(wanted.size()) + " differ: " + first;
}

std::string compared(const StepModel& model, const std::function<Result<Tensor>(size_t)>& read)
{
    std::string out;
    for (size_t i = 0; i < model.outputs.size(); ++i) {
        const auto got = read(i);
        const std::string how = got ? differences(model, i, *got) : got.error().text();
        if (!how.empty())
            out += "  output " + std::to_string(i) + ", " + model.made[i] + ": " + how + "\n";
    }
    return out;
}

std::string runByTenon(const StepModel& model, const StepBuild& build, const std::string& folder)
{
    const std::string outputs = folder + "/outputs";
    std::filesystem::remove_all(outputs);
    const Ran ran = runCommand(
        std::string("'") + TENON_PROGRAM + "' run '" + folder + "/model.onnx' --inputs '" + folder +
        "/inputs' --outputs '" + outputs + "' --target '" + build.target.target + "' --opt-level " +
        std::to_string(build.optLevel) + " --threads " + std::to_string(build.threads) +
        (model.needsVm ? " --executor vm" : ""));
    if (ran.status != 0) return "  " + ran.output;
    return compared(model, [&](size_t i) -> Result<Tensor> {
        auto read = compiler::readTensorFile(outputs + "/output_" + std::to_string(i) + ".pb");
        if (!read) return read.error();
        return read->tensor;
    });
}

/// Reads inputs from and writes outputs to files in the current folder.
std::string mainText(const compiler::ExecutorProgram& program)
{
    const auto name = [](const std::string& text) { return compiler::cIdentifier(text); };
    std::string text = "#include \"tvmgen_default.h\"\n#include <stdio.h>\n"
                       "static void read_file(const char* path, void* to, size_t size)\n"
                       "{\n    FILE* file = fopen(path, \"rb\");\n"
                       "    if (!file || fread(to, 1, size, file) != size) perror(path);\n"
                       "    if (file) fclose(file);\n}\n"
                       "static void write_file(const char* path, const void* from, size_t size)\n"
                       "{\n    FILE* file = fopen(path, \"wb\");\n"
                       "    if (!file || fwrite(from, 1, size, file) != size) perror(path);\n"
                       "    if (file) fclose(file);\n}\n";
    std::string reads, writes;
    const auto buffer = [&](int tensor, const std::string& variable) {
        const int64_t bytes = program.tensors[static_cast<size_t>(tensor)].bytes();
        text += "static double " + variable + "[" + std::to_string(bytes / 8 + 1) + "];\n";
        return "_file(\"" + variable + "\", " + variable + ", " + std::to_string(bytes) + ");\n";
    };
    for (size_t i = 0; i < program.inputs.size(); ++i) {
        const std::string variable = "in_" + std::to_string(i);
        reads += "    read" + buffer(program.inputs[i], variable) + "    in." +
                 name(program.tensors[static_cast<size_t>(program.inputs[i])].name) + " = (void*)" +
                 variable + ";\n";
    }
    for (size_t i = 0; i < program.outputs.size(); ++i) {
        const std::string variable = "out_" + std::to_string(i);
        writes += "    write" + buffer(program.outputs[i], variable);
        reads += "    out." + name(program.outputNames[i]) + " = (void*)" + variable + ";\n";
    }
    return text +
           "int main(void)\n{\n    struct tvmgen_default_inputs in = {0};\n"
           "    struct tvmgen_default_outputs out = {0};\n" +
           reads + "    if (tvmgen_default_run(&in, &out)) return 1;\n" + writes +
           "    return 0;\n}\n";
}

Result<compiler::CompileResultPtr> compileC(const StepBuild& build, const std::string& folder,
                                            JobContext& job)
{
    auto loaded = compiler::loadModel(folder + "/model.onnx", {});
    if (!loaded) return loaded.error();
    compiler::CompileOptions options;
    options.target = build.target.target;
    options.optLevel = build.optLevel;
    return compiler::compile(std::make_shared<const compiler::Loaded>(std::move(*loaded)), options,
                             job);
}

std::string runByC(const StepModel& model, const StepBuild& build, const std::string& folder,
                   JobContext& job)
{
    const auto result = compileC(build, folder, job);
    if (!result) return "  " + result.error().text() + "\n";
    const std::string source = folder + "/c";
    std::filesystem::remove_all(source);
    const auto written = compiler::writeSources(**result, compiler::CInterface::Structs, source);
    if (!written) return "  " + written.error().text() + "\n";
    const compiler::ExecutorProgram& program = (*result)->program;
    if (Status s = writeFileAtomically(source + "/main.c", mainText(program)); !s)
        return "  " + s.error().text() + "\n";
    for (size_t i = 0; i < model.inputs.size(); ++i) {
        const auto bytes = model.inputs[i].tensor.bytes();
        (void)writeFileAtomically(
            source + "/in_" + std::to_string(i),
            std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
    const Ran ran = runCommand("cd '" + source + "' && " + build.target.cc +
                               " -Iinclude src/*.c main.c -o program -lm && " +
                               build.target.runner + " ./program");
    if (ran.status != 0) return "  " + ran.output;
    return compared(model, [&](size_t i) -> Result<Tensor> {
        auto bytes = readFile(source + "/out_" + std::to_string(i));
        if (!bytes) return bytes.error();
        const Tensor& wanted = model.outputs[i].tensor;
        return Tensor::of(wanted.dtype(), wanted.shape(),
                          std::vector<char>(bytes->begin(), bytes->end()));
    });
}

} // namespace

std::vector<StepTarget> stepTargets()
{
    return {
        {"x86-64, this computer's", "llvm -mcpu=native", "", "", true},
        {"x86-64, Haswell", "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell", "", "", true},
        {"x86-64, baseline", "llvm -mtriple=x86_64-linux-gnu", "", "", true},
        {"aarch64", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72", "qemu-aarch64", "", true},
        {"aarch64, bfloat16 and SVE", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1",
         "qemu-aarch64", "", true},
        {"armv7", "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7", "qemu-arm", "", true},
        {"riscv64", "llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c", "qemu-riscv64", "",
         true},
        // No RISC-V vectors: QEMU 7.2 ends with an assertion of its own (decode_save_opc).
        {"wasm32", "llvm -mtriple=wasm32-unknown-unknown -mattr=+simd128", "node", "", false},
        {"hexagon", "hexagon", "qemu-hexagon", "", false},
        {"C, this computer's", "c", "", "cc -O2 -march=native", false},
        {"C, aarch64", "c", "qemu-aarch64 -L /usr/aarch64-linux-gnu", "aarch64-linux-gnu-gcc -O2",
         false},
    };
}

std::string StepBuild::text() const
{
    return std::string(target.name) + ", opt level " + std::to_string(optLevel) + ", " +
           std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

Status writeSteps(const StepModel& model, const std::string& folder)
{
    const std::string data = folder + "/test_data_set_0", inputs = folder + "/inputs";
    std::filesystem::create_directories(data);
    std::filesystem::create_directories(inputs);
    if (Status s = writeFileAtomically(folder + "/model.onnx", model.model.SerializeAsString()); !s)
        return s;
    for (size_t i = 0; i < model.inputs.size(); ++i)
        for (const std::string& place : {data, inputs})
            if (Status s = compiler::writeTensorFile(place + "/input_" + std::to_string(i) + ".pb",
                                                     model.inputs[i].tensor, model.inputs[i].name);
                !s)
                return s;
    for (size_t i = 0; i < model.outputs.size(); ++i)
        if (Status s = compiler::writeTensorFile(data + "/output_" + std::to_string(i) + ".pb",
                                                 model.outputs[i].tensor, model.outputs[i].name);
            !s)
            return s;
    return kDone;
}

std::string checkSteps(const StepModel& model, const StepBuild& build, const std::string& folder,
                       JobContext& job)
{
    if (build.target.cc[0]) return runByC(model, build, folder, job);
    return runByTenon(model, build, folder);
}

} // namespace tenon::test
