// SPDX-License-Identifier: Apache-2.0
// Artifacts loaded and run by our runtime: both executors, wrong arguments, failing kernels.
#include "compiler/codegen/llvm/glue.h"
#include "compiler/package/package.h"
#include "runtime/include/tenon/c_backend_api.h"
#include "tests/compiler/executor/sample_program.h"
#include "tests/runtime/handles.h"
#include "tests/support/environment.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace tenon::compiler {
namespace {

using test::call;
using test::Handle;
using test::moduleFunction;

constexpr DLDevice kCpu{kDLCPU, 0};
const std::vector<float> kX = {1, 2, 3, 4, 5, 6};
const std::vector<float> kB = {100, 200, 300, 400, 500, 600};
const std::vector<float> kSum = {11, 22, 33, 44, 55, 66};     // x + w
const std::vector<float> kY = {122, 244, 366, 488, 610, 732}; // 2 (x + w) + b
const std::vector<float> kW = {10, 20, 30, 40, 50, 60};

std::string packed(const test::TemporaryFolder& folder, ExecutorKind executor,
                   const ExecutorProgram& program, const std::string& kernelText,
                   OutputFormat format, const std::string& name = "m.so")
{
    const MachineSpec machine = test::sampleMachine();
    const std::string kernel = *emitIrText(kernelText, machine);
    const ProgramMemory memory = *planProgram(program, "hill_climb");
    const PackageInput input{.program = program,
                             .executor = executor,
                             .objects = {kernel},
                             .machine = machine,
                             .memory = &memory};
    const auto report = writePackage(input, format, folder.file(name));
    EXPECT_TRUE(report) << report.error().text();
    return folder.file(name);
}

/// Creates the executor of a library's factory.
Handle executorOf(const Handle& library)
{
    return call(moduleFunction(library, "default"), {kCpu}).handle;
}

std::vector<float> outputOf(const Handle& executor, int64_t index)
{
    const test::CallResult result = call(moduleFunction(executor, "get_output"), {index});
    EXPECT_EQ(result.status, 0) << result.error;
    return result.handle ? test::floatsOf(result.handle.get()) : std::vector<float>();
}

void setInputs(const Handle& executor, const std::vector<float>& x)
{
    const Handle arrayX = test::makeArray({2, 3}, x);
    const Handle arrayB = test::makeArray({2, 3}, kB);
    const Handle setInput = moduleFunction(executor, "set_input");
    EXPECT_EQ(call(setInput, {std::string("x"), &arrayX}).status, 0);
    EXPECT_EQ(call(setInput, {std::string("b"), &arrayB}).status, 0);
}

class RunArtifact : public testing::TestWithParam<ExecutorKind>
{
};

TEST_P(RunArtifact, ComputesEveryKindOfOutput)
{
    const test::TemporaryFolder folder;
    const Handle library =
        test::loadModule(packed(folder, GetParam(), test::sampleProgram(), test::sampleKernelText(),
                                OutputFormat::SharedLibrary));
    ASSERT_TRUE(library) << TVMGetLastError();
    const Handle executor = executorOf(library);
    ASSERT_TRUE(executor) << TVMGetLastError();
    setInputs(executor, kX);
    for (int round = 0; round < 2; ++round) {
        const test::CallResult run = call(moduleFunction(executor, "run"));
        ASSERT_EQ(run.status, 0) << run.error;
        EXPECT_EQ(outputOf(executor, 0), kY);
        EXPECT_EQ(outputOf(executor, 1), kSum);
        EXPECT_EQ(outputOf(executor, 2), kX);
        EXPECT_EQ(outputOf(executor, 3), kW);
    }
    std::vector<float> doubled = kX;
    for (float& value : doubled) value *= 2;
    setInputs(executor, doubled);
    ASSERT_EQ(call(moduleFunction(executor, "run")).status, 0);
    EXPECT_EQ(outputOf(executor, 0), (std::vector<float>{124, 248, 372, 496, 620, 744}));
}

TEST_P(RunArtifact, AFailingKernelFailsTheRun)
{
    const test::TemporaryFolder folder;
    const Handle library =
        test::loadModule(packed(folder, GetParam(), test::sampleProgram(),
                                test::failingKernelText(), OutputFormat::SharedLibrary));
    const Handle executor = executorOf(library);
    setInputs(executor, kX);
    const test::CallResult run = call(moduleFunction(executor, "run"));
    EXPECT_NE(run.status, 0);
    const bool isAot = GetParam() == ExecutorKind::Aot;
    const bool namesCall =
        run.error.find("kernel call fused_add failed: out of memory") != std::string::npos;
    EXPECT_TRUE(namesCall || !isAot) << run.error;
}

TEST_P(RunArtifact, TarObjectsLinkWithAnOrdinaryCompiler)
{
    TENON_NEED_TOOL("c++")
    TENON_NEED_TOOL("tar")
    const test::TemporaryFolder folder;
    packed(folder, GetParam(), test::sampleProgram(), test::sampleKernelText(), OutputFormat::Tar,
           "m.tar");
    const std::string command =
        "cd " + folder.path() + " && tar -xf m.tar && c++ -shared -fPIC -o linked.so *.o";
    ASSERT_EQ(std::system(command.c_str()), 0);
    const Handle library = test::loadModule(folder.file("linked.so"));
    ASSERT_TRUE(library) << TVMGetLastError();
    const Handle executor = executorOf(library);
    setInputs(executor, kX);
    ASSERT_EQ(call(moduleFunction(executor, "run")).status, 0) << TVMGetLastError();
    EXPECT_EQ(outputOf(executor, 0), kY);
}

INSTANTIATE_TEST_SUITE_P(Executors, RunArtifact,
                         testing::Values(ExecutorKind::Graph, ExecutorKind::Aot),
                         [](const auto& executor) {
                             return std::string(executorName(executor.param));
                         });

Handle loadedAot(const test::TemporaryFolder& folder, const ExecutorProgram& program)
{
    return test::loadModule(packed(folder, ExecutorKind::Aot, program, test::sampleKernelText(),
                                   OutputFormat::SharedLibrary));
}

TEST(AotEntry, CopiesPartsOfTensorsIntoOutputs)
{
    ExecutorProgram program = test::sampleProgram();
    program.tensors[6].shape = {2};
    program.tensors[6].viewOffsetBytes = 8;
    const test::TemporaryFolder folder;
    const Handle library = loadedAot(folder, program);
    ASSERT_TRUE(library) << TVMGetLastError();
    const Handle executor = executorOf(library);
    setInputs(executor, kX);
    ASSERT_EQ(call(moduleFunction(executor, "run")).status, 0) << TVMGetLastError();
    EXPECT_EQ(outputOf(executor, 1), (std::vector<float>{33, 44}));
    EXPECT_EQ(outputOf(executor, 0), kY);
}

TEST(AotEntry, CopiesConstantsOfEveryLength)
{
    for (const int64_t count : {1, 15, 16, 17, 31, 33, 100}) {
        ExecutorProgram program = test::sampleProgram();
        std::vector<float> values(static_cast<size_t>(count));
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 0.5f;
        program.tensors.push_back({.name = "long",
                                   .dtype = core::kFloat32,
                                   .shape = {count},
                                   .role = TensorRole::Constant,
                                   .constant = core::Tensor::of(core::kFloat32, {count}, values)});
        program.outputs = {static_cast<int>(program.tensors.size()) - 1};
        program.outputNames = {"long"};
        const test::TemporaryFolder folder;
        const Handle executor = executorOf(loadedAot(folder, program));
        setInputs(executor, kX);
        ASSERT_EQ(call(moduleFunction(executor, "run")).status, 0) << TVMGetLastError();
        EXPECT_EQ(outputOf(executor, 0), values);
    }
}

TEST(AotEntry, CopiesAnOutputListedTwice)
{
    ExecutorProgram program = test::sampleProgram();
    program.outputs = {5, 5, 4};
    program.outputNames = {"y", "y_again", "twice"};
    const test::TemporaryFolder folder;
    const Handle library = loadedAot(folder, program);
    const Handle executor = executorOf(library);
    setInputs(executor, kX);
    ASSERT_EQ(call(moduleFunction(executor, "run")).status, 0) << TVMGetLastError();
    EXPECT_EQ(outputOf(executor, 0), kY);
    EXPECT_EQ(outputOf(executor, 1), kY);
    EXPECT_EQ(outputOf(executor, 2), (std::vector<float>{22, 44, 66, 88, 110, 132}));
}

TEST(AotEntry, MarksEveryCallInItsInstrumentedTwin)
{
    const test::TemporaryFolder folder;
    const Handle library = loadedAot(folder, test::sampleProgram());
    const Handle executor = executorOf(library);
    setInputs(executor, kX);
    const test::CallResult profile = call(moduleFunction(executor, "profile"), {int64_t{5}});
    ASSERT_EQ(profile.status, 0) << profile.error;
    EXPECT_EQ(profile.text.size(), 3 * sizeof(double));
    EXPECT_EQ(outputOf(executor, 0), kY);
}

TEST(AotEntry, NamesItsInputsAndChecksItsArguments)
{
    const test::TemporaryFolder folder;
    const Handle library = loadedAot(folder, test::sampleProgram());
    const Handle executor = executorOf(library);
    const Handle name = moduleFunction(executor, "get_input_name");
    EXPECT_EQ(call(name, {int64_t{0}}).text, "x");
    EXPECT_EQ(call(name, {int64_t{1}}).text, "b");
    const Handle entry = moduleFunction(library, "tvmgen_default___tvm_main__");
    ASSERT_TRUE(entry);
    const test::CallResult none = call(entry);
    EXPECT_NE(none.status, 0);
    EXPECT_EQ(none.error, "tvmgen_default: num_args should be 6");
}

// The library's own pointer variables, pointed at functions of this test.
struct PoisonedMemory
{
    static void* alloc(int, int, uint64_t bytes, int, int)
    {
        void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
        std::memset(memory, 0xCD, bytes);
        return memory;
    }
    static int free(int, int, void* memory)
    {
        std::free(memory);
        return 0;
    }
};

TEST(AotEntry, GivesTheSameInPoisonedMemory)
{
    ExecutorProgram program = test::sampleProgram();
    program.tensors[6].shape = {2}; // keeps `sum` in the workspace beside `twice`
    const test::TemporaryFolder folder;
    const std::string path = packed(folder, ExecutorKind::Aot, program, test::sampleKernelText(),
                                    OutputFormat::SharedLibrary);
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << ::dlerror();
    const auto fill = [&](const char* name, auto* function) {
        *static_cast<decltype(function)*>(::dlsym(handle, name)) = function;
    };
    fill("__TVMBackendAllocWorkspace", &PoisonedMemory::alloc);
    fill("__TVMBackendFreeWorkspace", &PoisonedMemory::free);
    const auto entry =
        reinterpret_cast<TVMBackendPackedCFunc>(::dlsym(handle, "tvmgen_default___tvm_main__"));
    ASSERT_NE(entry, nullptr);

    const Handle arrays[] = {test::makeArray({2, 3}, kX), test::makeArray({2, 3}, kB),
                             test::makeArray({2, 3}, {}), test::makeArray({2}, {}),
                             test::makeArray({2, 3}, {}), test::makeArray({2, 3}, {})};
    TVMValue values[6];
    int codes[6];
    for (size_t i = 0; i < 6; ++i) {
        values[i].v_handle = arrays[i].get();
        codes[i] = kTVMDLTensorHandle;
    }
    TVMValue result{};
    int resultCode = 0;
    ASSERT_EQ(entry(values, codes, 6, &result, &resultCode, nullptr), 0);
    EXPECT_EQ(test::floatsOf(arrays[2].get()), kY);
    EXPECT_EQ(test::floatsOf(arrays[3].get()), (std::vector<float>{11, 22}));
    ::dlclose(handle);
}

TEST(PackedKernel, ChecksItsArguments)
{
    const test::TemporaryFolder folder;
    const Handle library =
        test::loadModule(packed(folder, ExecutorKind::Graph, test::sampleProgram(),
                                test::sampleKernelText(), OutputFormat::SharedLibrary));
    const Handle add = moduleFunction(library, "tvmgen_default_fused_add");
    ASSERT_TRUE(add);
    const Handle a = test::makeArray({2, 3}, kX);
    const Handle b = test::makeArray({2, 3}, kB);
    const Handle out = test::makeArray({2, 3}, kW);
    ASSERT_EQ(call(add, {&a, &b, &out}).status, 0) << TVMGetLastError();
    EXPECT_EQ(test::floatsOf(out.get()), (std::vector<float>{101, 202, 303, 404, 505, 606}));

    const auto errorOf = [&](const std::vector<test::Argument>& arguments) {
        const test::CallResult result = call(add, arguments);
        EXPECT_NE(result.status, 0);
        return result.error;
    };
    const auto says = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    says(errorOf({&a, &b}), "tvmgen_default_fused_add: num_args should be 3");
    const char* expected =
        "tvmgen_default_fused_add: Expect arg[1] to be a compact float32 tensor of shape (2, 3)";
    const Handle wrongRank = test::makeArray({6}, kX);
    const Handle wrongShape = test::makeArray({3, 2}, kX);
    says(errorOf({&a, &wrongRank, &out}), expected);
    says(errorOf({&a, &wrongShape, &out}), expected);
    says(errorOf({&a, int64_t{5}, &out}), expected);

    auto* tensor = static_cast<DLTensor*>(b.get());
    tensor->dtype.code = kDLInt;
    says(errorOf({&a, &b, &out}), expected);
    tensor->dtype.code = kDLFloat;
    int64_t strides[] = {1, 2};
    int64_t* const old = tensor->strides;
    tensor->strides = strides;
    says(errorOf({&a, &b, &out}), expected);
    strides[0] = 3;
    strides[1] = 1;
    EXPECT_EQ(call(add, {&a, &b, &out}).status, 0);
    tensor->strides = old;
}

TEST(LinkedParams, GivesConstantsByStorageIdAndNullElse)
{
    const test::TemporaryFolder folder;
    const Handle library =
        test::loadModule(packed(folder, ExecutorKind::Graph, test::sampleProgram(),
                                test::sampleKernelText(), OutputFormat::SharedLibrary));
    const Handle lookup = moduleFunction(library, "_lookup_linked_param");
    ASSERT_TRUE(lookup);
    const auto found = [&](int64_t id) {
        TVMValue argument{.v_int64 = id};
        int code = kTVMArgInt;
        TVMValue value{};
        int valueCode = -1;
        EXPECT_EQ(TVMFuncCall(lookup.get(), &argument, &code, 1, &value, &valueCode), 0);
        return std::pair(valueCode, value.v_handle);
    };
    EXPECT_EQ(found(0).first, kTVMNullptr);
    EXPECT_EQ(found(3).first, kTVMNullptr);
    EXPECT_EQ(found(-1).first, kTVMNullptr);
    EXPECT_EQ(found(1000).first, kTVMNullptr);
    const auto [code, pointer] = found(2);
    ASSERT_EQ(code, kTVMOpaqueHandle);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pointer) % 64, 0u);
    EXPECT_EQ(static_cast<const float*>(pointer)[5], 60);
}

} // namespace
} // namespace tenon::compiler
