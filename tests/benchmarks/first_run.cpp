// SPDX-License-Identifier: Apache-2.0
// Loads an artifact and runs it once: the counterpart of ort_peer's session and first run.
//
// usage: first_run ARTIFACT DATA_SET_DIR
// One line of JSON: how long loading and the first run took, in this process.
#include "core/base/text.h"
#include "core/tensor/onnx_tensor.h"
#include "core/tensor/onnx_types.h"
#include "tests/runtime/handles.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>

namespace tenon::bench {
namespace {

using test::call;
using test::Handle;
using test::moduleFunction;
using Clock = std::chrono::steady_clock;

struct Times
{
    double loadMs = 0;
    double runMs = 0; ///< with inputs set and outputs there to be read
};

double msSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Handle arrayOf(core::OnnxTensor& file)
{
    TVMArrayHandle handle = nullptr;
    const auto dtype = core::dataTypeOf(file.elementType);
    if (dtype &&
        TVMArrayAlloc(file.dims.data(), static_cast<int>(file.dims.size()),
                      static_cast<int>(dtype->kind), dtype->bits, 1, kDLCPU, 0, &handle) == 0)
        TVMArrayCopyFromBytes(handle, file.raw.data(), file.raw.size());
    return Handle(handle,
                  {[](void* array) { return TVMArrayFree(static_cast<DLTensor*>(array)); }});
}

core::Diagnostic failure(const std::string& message)
{
    return core::makeError(core::DiagnosticCode::BadArgument, message);
}

core::Result<std::vector<Handle>> inputsIn(const std::string& folder)
{
    std::vector<Handle> inputs;
    for (;;) {
        const std::string path = folder + "/input_" + std::to_string(inputs.size()) + ".pb";
        if (!std::filesystem::exists(path)) return inputs;
        auto file = core::readOnnxTensor(path);
        if (!file) return file.error();
        inputs.push_back(arrayOf(*file));
        if (!inputs.back()) return failure("no array for " + core::quoted(path));
    }
}

core::Result<Times> timeFirstRun(const std::string& artifact, const std::vector<Handle>& inputs)
{
    Times times;
    const auto start = Clock::now();
    const Handle library = test::loadModule(artifact);
    const Handle executor =
        library ? call(moduleFunction(library, "default"), {DLDevice{kDLCPU, 0}}).handle : Handle();
    if (!executor) return failure(TVMGetLastError());
    times.loadMs = msSince(start);
    const auto runStart = Clock::now();
    const Handle setInput = moduleFunction(executor, "set_input");
    for (size_t i = 0; i < inputs.size(); ++i) {
        const auto set = call(setInput, {static_cast<int64_t>(i), &inputs[i]});
        if (set.status != 0) return failure(set.error);
    }
    const auto ran = call(moduleFunction(executor, "run"));
    if (ran.status != 0) return failure(ran.error);
    const auto output = call(moduleFunction(executor, "get_output"), {int64_t{0}});
    if (!output.handle) return failure(output.error);
    times.runMs = msSince(runStart);
    return times;
}

int run(const std::string& artifact, const std::string& dataSet)
{
    const auto inputs = inputsIn(dataSet);
    const auto times = inputs ? timeFirstRun(artifact, *inputs) : inputs.error();
    if (!times) {
        std::fprintf(stderr, "%s\n", times.error().text().c_str());
        return 1;
    }
    std::cout << nlohmann::json{{"load_ms", times->loadMs}, {"run_ms", times->runMs}}.dump()
              << std::endl;
    return 0;
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv)
{
    if (argc == 3) return tenon::bench::run(argv[1], argv[2]);
    std::fprintf(stderr, "usage: first_run ARTIFACT DATA_SET_DIR\n");
    return 2;
}
