// SPDX-License-Identifier: Apache-2.0
// kernel_time FILE.tir [--lowered] [--emit asm|llvm|tir] [--repeat N] [--flops F] [--copies N]:
// compiles one loop function for this computer, runs it on random data and prints the median time;
// the tool for working on schedules. Runs take turns with so many copies of the largest parameter,
// which then comes from memory.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/schedule/rules.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/ir/tir/text.h"
#include "tests/support/jit_kernel.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace tenon;
using namespace tenon::compiler;

namespace {

struct Options
{
    std::string file;
    std::string target = "llvm -mcpu=native";
    std::string emit;
    bool isLowered = false;
    int repeat = 50;
    int copies = 1;
    double flops = 0;
};

Options readOptions(int argc, char** argv)
{
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        const auto next = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
        if (arg == "--lowered")
            options.isLowered = true;
        else if (arg == "--emit")
            options.emit = next();
        else if (arg == "--repeat")
            options.repeat = std::atoi(next().c_str());
        else if (arg == "--copies")
            options.copies = std::max(1, std::atoi(next().c_str()));
        else if (arg == "--flops")
            options.flops = std::atof(next().c_str());
        else if (arg == "--target")
            options.target = next();
        else
            options.file = arg;
    }
    return options;
}

int fail(const core::Diagnostic& error)
{
    std::fprintf(stderr, "%s\n", error.text().c_str());
    return 1;
}

using Clock = std::chrono::steady_clock;

size_t bytesOf(const tir::Buffer& buffer)
{
    size_t bytes = static_cast<size_t>(buffer->dtype.bytes());
    for (const tir::Expr& extent : buffer->shape) bytes *= static_cast<size_t>(extent->integer);
    return bytes;
}

void* randomData(const tir::Buffer& buffer)
{
    const size_t bytes = bytesOf(buffer);
    void* data = std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    std::memset(data, 0, bytes);
    if (buffer->dtype == core::kFloat32)
        for (size_t i = 0; i < bytes / sizeof(float); ++i)
            static_cast<float*>(data)[i] = static_cast<float>(std::rand() % 1000) * 0.001f;
    return data;
}

double run(const tir::PrimFunc& function, const test::JitKernel& kernel, const Options& options)
{
    std::vector<void*> args;
    for (const tir::Buffer& buffer : function.params) args.push_back(randomData(buffer));
    const auto largest = std::max_element(
        function.params.begin(), function.params.end(),
        [](const tir::Buffer& a, const tir::Buffer& b) { return bytesOf(a) < bytesOf(b); });
    std::vector<void*> copies;
    for (int i = 0; i < options.copies; ++i) copies.push_back(randomData(*largest));
    std::vector<double> times;
    for (int r = -1; r < options.repeat; ++r) {
        args[static_cast<size_t>(largest - function.params.begin())] =
            copies[static_cast<size_t>(r + 1) % copies.size()];
        const auto start = Clock::now();
        kernel.call(args);
        const std::chrono::duration<double, std::milli> took = Clock::now() - start;
        if (r >= 0) times.push_back(took.count());
    }
    std::sort(times.begin(), times.end());
    std::printf("min %.4f ms, median %.4f ms\n", times.front(), times[times.size() / 2]);
    return times.front();
}

} // namespace

int main(int argc, char** argv)
{
    const Options options = readOptions(argc, argv);
    const auto text = core::readFile(options.file);
    if (!text) return fail(text.error());
    auto function = tir::parsePrimFunc(*text);
    if (!function) return fail(function.error());
    const auto target = core::parseTarget(options.target);
    if (!target) return fail(target.error());
    const auto machine = machineSpec(*target);
    if (!machine) return fail(machine.error());
    auto facts = targetFacts(*machine);
    if (!facts) return fail(facts.error());
    facts->threads = 1;
    tir::PrimFunc lowered = *function;
    const auto begin = Clock::now();
    if (!options.isLowered) {
        auto scheduled = scheduleKernel(*function, *facts);
        if (!scheduled) return fail(scheduled.error());
        if (options.emit == "trace")
            for (const TraceStep& step : scheduled->trace) std::printf("%s\n", step.text().c_str());
        std::printf("rule %s\n", scheduled->rule.c_str());
        auto flat = lowerToLoops(scheduled->function);
        if (!flat) return fail(flat.error());
        lowered = *flat;
    }
    if (options.emit == "tir") std::printf("%s\n", tir::print(lowered).c_str());
    const auto middle = Clock::now();
    for (const auto& [form, name] :
         {std::pair{EmitForm::LlvmIr, "llvm"}, std::pair{EmitForm::Assembly, "asm"}}) {
        if (options.emit != name) continue;
        const auto shown =
            emitKernel({lowered, "kernel_under_test", facts->vectorBytes}, *machine, form);
        if (!shown) return fail(shown.error());
        std::printf("%s\n", shown->c_str());
    }
    const auto object =
        emitKernel({lowered, "kernel_under_test", facts->vectorBytes}, *machine, EmitForm::Object);
    if (!object) return fail(object.error());
    const auto end = Clock::now();
    std::printf("schedule %.2f ms, codegen %.2f ms, object %zu bytes\n",
                std::chrono::duration<double, std::milli>(middle - begin).count(),
                std::chrono::duration<double, std::milli>(end - middle).count(), object->size());

    const auto kernel = test::JitKernel::load(*object, "kernel_under_test");
    if (!kernel) return fail(kernel.error());
    const double ms = run(*function, **kernel, options);
    if (options.flops > 0) std::printf("%.1f GFLOP/s\n", options.flops / ms * 1e-6);
    return 0;
}
