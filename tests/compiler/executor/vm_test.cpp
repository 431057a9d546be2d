// SPDX-License-Identifier: Apache-2.0
// The VM: what a program computes, what it refuses at load, and what it says about bad data.
#include "compiler/executor/vm_code.h"
#include "runtime/executor/vm/machine.h"
#include "runtime/include/tenon/c_runtime_api.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tenon::test {
namespace {

using compiler::ExecutorProgram;
using compiler::VmCode;

const int64_t kInt = compiler::vmDtype(core::kInt64);

/// y[i] = x[i] + x[i], with one size.
int32_t doubleAll(void* const* tensors, const int64_t* sizes)
{
    const auto* x = static_cast<const int64_t*>(tensors[0]);
    auto* y = static_cast<int64_t*>(tensors[1]);
    for (int64_t i = 0; i < sizes[0]; ++i) y[i] = x[i] + x[i];
    return 0;
}

/// Of each of so many items: 10 x and how many were taken at once.
template <int64_t count>
int32_t markItems(void* const* tensors, const int64_t*)
{
    const auto* x = static_cast<const int64_t*>(tensors[0]);
    auto* y = static_cast<int64_t*>(tensors[1]);
    for (int64_t i = 0; i < count; ++i) y[i] = 10 * x[i] + count;
    return 0;
}

/// Of each of so many items: 100 times a size and the number of the first of them.
template <int64_t count>
int32_t numberItems(void* const* tensors, const int64_t* sizes)
{
    auto* y = static_cast<int64_t*>(tensors[1]);
    for (int64_t i = 0; i < count; ++i) y[i] = 100 * sizes[0] + sizes[1];
    return 0;
}

constexpr tenon_vm_kernel kKernels[] = {doubleAll,    markItems<8>,   markItems<2>,  markItems<1>,
                                        markItems<4>, numberItems<4>, numberItems<1>};

/// One input and one output of int64 and any length, in registers 0 and 1.
ExecutorProgram programOf(VmCode code)
{
    ExecutorProgram program;
    program.tensors.push_back({"x", core::kInt64, {-1}, compiler::TensorRole::Input});
    program.tensors.push_back({"y", core::kInt64, {-1}, compiler::TensorRole::Intermediate});
    program.inputs = {0};
    program.outputs = {1};
    program.outputNames = {"y"};
    program.kernels.push_back(
        {.symbol = "k", .function = "k", .parameterCount = 2, .sizeCount = 1});
    for (const char* name : {"m8", "m2", "m1", "m4"})
        program.kernels.push_back({.symbol = name, .function = name, .parameterCount = 2});
    for (const char* name : {"n4", "n1"})
        program.kernels.push_back(
            {.symbol = name, .function = name, .parameterCount = 2, .sizeCount = 2});
    program.calls.push_back({"double", 0, {0, 1}});
    code.inputRegisters = {0};
    code.outputRegisters = {1};
    code.tensorRegisters = 4;
    code.lists = 1;
    code.texts = {"node `Double`", "sizes differ"};
    if (code.lines.empty()) code.lines = {{0, 0}};
    program.vm = std::make_shared<const VmCode>(std::move(code));
    return program;
}

/// Loads and runs a program on `input`; the error text instead when it fails.
struct Outcome
{
    std::string error;
    std::vector<int64_t> shape;
    std::vector<int64_t> values;
};

Outcome runProgram(VmCode code, std::vector<int64_t> input)
{
    const std::string payload = compiler::vmExecutablePayload(programOf(std::move(code)));
    tenon_reader reader = tenon_reader_of(payload.data(), payload.size());
    Outcome outcome;
    vm_program program;
    vm_machine machine{};
    const tenon_vm_table table = {std::size(kKernels), kKernels, 0, nullptr};
    int64_t length = static_cast<int64_t>(input.size());
    DLTensor tensor = {input.data(), {kDLCPU, 0}, 1, {kDLInt, 64, 1}, &length, nullptr, 0};
    int status = vm_program_read(&reader, &program);
    if (status == 0) status = vm_machine_init(&machine, &program, &table);
    machine.pool.limit = 1 << 20;
    if (status == 0) {
        vm_machine_lend(&machine, 0, &tensor);
        status = vm_machine_run(&machine);
    }
    if (status != 0) outcome.error = TVMGetLastError();
    if (status == 0) {
        const vm_tensor& y = machine.tensors[1];
        outcome.shape.assign(y.shape, y.shape + y.rank);
        outcome.values.resize(vm_tensor_bytes(&y) / sizeof(int64_t));
        std::memcpy(outcome.values.data(), y.data, vm_tensor_bytes(&y));
    }
    vm_machine_free(&machine);
    vm_program_free(&program);
    return outcome;
}

/// y = double(x) of the length of x.
std::vector<int64_t> doubling()
{
    return {kTenonVmExtent,   0, 0,    0,             // s0 = length
            kTenonVmAllocate, 1, kInt, 1, 0,          // y
            kTenonVmCall,     0, 0,    2, 0, 1, 1, 0, // k(x, y, s0)
            kTenonVmEnd};
}

TEST(Vm, PassesSizesToKernels)
{
    const Outcome outcome = runProgram({.words = doubling(), .presets = {0}}, {1, 2, 3});
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.shape, std::vector<int64_t>{3});
    EXPECT_EQ(outcome.values, (std::vector<int64_t>{2, 4, 6}));
}

/// y = marks of the items of x, taken by eights, twos and single ones.
std::vector<int64_t> marking(std::vector<int64_t> kernels = {1, 2, 3},
                             std::vector<int64_t> steps = {8, 2, 1},
                             std::vector<int64_t> sizes = {})
{
    std::vector<int64_t> words{kTenonVmExtent,   0, 0,    0, // s0 = length
                               kTenonVmAllocate, 1, kInt, 1, 0, kTenonVmCallEach, 0, 0};
    for (const auto& list : {kernels, steps, {0, 1}, {8, 8}, sizes}) {
        words.push_back(static_cast<int64_t>(list.size()));
        words.insert(words.end(), list.begin(), list.end());
    }
    words.push_back(kTenonVmEnd);
    return words;
}

TEST(Vm, TakesItemsInChunksThatFit)
{
    const auto marksOf = [](int64_t items, std::vector<int64_t> kernels = {1, 2, 3},
                            std::vector<int64_t> steps = {8, 2, 1}) {
        std::vector<int64_t> x(static_cast<size_t>(items));
        for (int64_t i = 0; i < items; ++i) x[static_cast<size_t>(i)] = i;
        const Outcome outcome =
            runProgram({.words = marking(std::move(kernels), std::move(steps)), .presets = {0}}, x);
        EXPECT_EQ(outcome.error, "");
        EXPECT_EQ(outcome.values.size(), x.size());
        std::vector<int64_t> marks;
        for (size_t i = 0; i < outcome.values.size(); ++i) {
            EXPECT_EQ(outcome.values[i] / 10, x[i]) << "of " << items;
            marks.push_back(outcome.values[i] % 10);
        }
        return marks;
    };
    for (int64_t items = 1; items < 40; ++items) marksOf(items);
    EXPECT_EQ(marksOf(11), (std::vector<int64_t>{8, 8, 8, 8, 8, 8, 8, 8, 2, 2, 1}));
    // The second chunk repeats three items of the first.
    EXPECT_EQ(marksOf(13), std::vector<int64_t>(13, 8));
    EXPECT_EQ(marksOf(5), (std::vector<int64_t>{2, 2, 2, 2, 1}));
    EXPECT_EQ(marksOf(12), (std::vector<int64_t>{8, 8, 8, 8, 8, 8, 8, 8, 2, 2, 2, 2}));
    // Half a chunk, or two single items.
    EXPECT_EQ(marksOf(6, {4, 3}, {4, 1}), std::vector<int64_t>(6, 4));
    EXPECT_EQ(marksOf(5, {4, 3}, {4, 1}), (std::vector<int64_t>{4, 4, 4, 4, 1}));
}

TEST(Vm, TellsKernelsOfItemsTheirFirst)
{
    const auto numbersOf = [](size_t items) {
        return runProgram({.words = marking({5, 6}, {4, 1}, {0}), .presets = {0}},
                          std::vector<int64_t>(items))
            .values;
    };
    EXPECT_EQ(numbersOf(3), (std::vector<int64_t>{300, 301, 302}));
    EXPECT_EQ(numbersOf(5), (std::vector<int64_t>{500, 500, 500, 500, 504}));
    // The last chunk begins with an item of the first.
    EXPECT_EQ(numbersOf(7), (std::vector<int64_t>{700, 700, 700, 703, 703, 703, 703}));
}

TEST(Vm, RefusesChunksThatDoNotFit)
{
    const auto refusal = [](std::vector<int64_t> kernels, std::vector<int64_t> steps) {
        return runProgram({.words = marking(std::move(kernels), std::move(steps)), .presets = {0}},
                          {1, 2})
            .error;
    };
    EXPECT_EQ(refusal({3}, {1}), "");
    EXPECT_NE(refusal({1, 2}, {8, 2}), "") << "none takes a single item";
    EXPECT_NE(refusal({1, 2, 3}, {8, 1}), "");
    EXPECT_NE(refusal({}, {}), "");
    EXPECT_NE(refusal({2, 3}, {0, 1}), "");
    EXPECT_NE(refusal({0}, {1}), "") << "a kernel with sizes";
    EXPECT_NE(refusal({6}, {1}), "") << "a kernel with a size and the number of an item";
    EXPECT_NE(refusal({9, 3}, {2, 1}), "");
}

TEST(Vm, PlacesValuesInItsArena)
{
    // y = double(x) at byte 64 of the arena, with room for three numbers.
    const std::vector<int64_t> words = {kTenonVmExtent,
                                        0,
                                        0,
                                        0,
                                        kTenonVmPlace,
                                        1,
                                        kInt,
                                        64,
                                        24,
                                        1,
                                        0,
                                        kTenonVmCall,
                                        0,
                                        0,
                                        2,
                                        0,
                                        1,
                                        1,
                                        0,
                                        kTenonVmEnd};
    const VmCode code{.words = words, .presets = {0}, .arenaBytes = 88};
    EXPECT_EQ(runProgram(code, {1, 2, 3}).values, (std::vector<int64_t>{2, 4, 6}));
    EXPECT_EQ(runProgram(code, {1, 2, 3, 4}).error,
              "node `Double`: a value of 32 bytes does not fit the 24 planned for it");
    EXPECT_NE(runProgram({.words = words, .presets = {0}, .arenaBytes = 87}, {1}).error, "");
}

TEST(Vm, RefusesSizesOutsideTheirBounds)
{
    std::vector<int64_t> words = {kTenonVmExtent, 0, 0, 0, kTenonVmWithin, 0, 1, 2, 1};
    const std::vector<int64_t> rest = doubling();
    words.insert(words.end(), rest.begin(), rest.end());
    const VmCode code{.words = words, .presets = {0, 2, 3}};
    EXPECT_EQ(runProgram(code, {1, 2}).values, (std::vector<int64_t>{2, 4}));
    EXPECT_EQ(runProgram(code, {1, 2, 3, 4}).error,
              "node `Double`: sizes differ is 4; the model was compiled for 2 to 3");
}

TEST(Vm, CollectsWhatALoopComputes)
{
    // for s0 in 0..element 0 of x: list += s0; scalars: step, trips, one, flag
    const std::vector<int64_t> words = {kTenonVmElement,
                                        1,
                                        0,
                                        0, // 0: trips
                                        kTenonVmListClear,
                                        0, // 4
                                        kTenonVmArithmetic,
                                        3,
                                        kTenonVmLess,
                                        0,
                                        1, // 6: top
                                        kTenonVmIfZero,
                                        3,
                                        26, // 11
                                        kTenonVmScalar,
                                        2,
                                        kInt,
                                        0, // 14
                                        kTenonVmListPush,
                                        0,
                                        2, // 18
                                        kTenonVmArithmetic,
                                        0,
                                        kTenonVmAdd,
                                        0,
                                        2, // 21
                                        kTenonVmGoto,
                                        6};
    std::vector<int64_t> all = words;
    all[13] = static_cast<int64_t>(words.size());
    all.insert(all.end(), {kTenonVmListStack, 1, 0, kInt, 0, kTenonVmEnd});
    const Outcome outcome = runProgram({.words = all, .presets = {0, 0, 1, 0}}, {4});
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.values, (std::vector<int64_t>{0, 1, 2, 3}));
    const Outcome none = runProgram({.words = all, .presets = {0, 0, 1, 0}}, {0});
    EXPECT_EQ(none.shape, std::vector<int64_t>{0});
}

TEST(Vm, NamesTheNodeOfABadSize)
{
    const std::vector<int64_t> words = {kTenonVmElement, 0, 0, 0, kTenonVmAllocate, 1, kInt, 1, 0,
                                        kTenonVmEnd};
    const Outcome outcome = runProgram({.words = words, .presets = {0}}, {-3});
    EXPECT_EQ(outcome.error, "node `Double`: a tensor of shape (-3) cannot exist");
}

TEST(Vm, SaysWhichSizesDiffer)
{
    const std::vector<int64_t> words = {kTenonVmExtent, 0, 0, 0, kTenonVmExpect,
                                        kTenonVmEqual,  0, 1, 1, kTenonVmEnd};
    EXPECT_EQ(runProgram({.words = words, .presets = {0, 5}}, {1, 2}).error,
              "node `Double`: sizes differ: 2 and 5");
}

TEST(Vm, RefusesArithmeticThatOverflows)
{
    for (const int64_t operation : {kTenonVmMultiply, kTenonVmFloorDivide}) {
        const std::vector<int64_t> words = {kTenonVmArithmetic, 1, operation, 1, 0, kTenonVmEnd};
        const int64_t right = operation == kTenonVmMultiply ? 4 : 0;
        EXPECT_NE(runProgram({.words = words, .presets = {right, INT64_MAX}}, {1})
                      .error.find("cannot be computed"),
                  std::string::npos);
    }
}

TEST(Vm, RefusesReshapesOfAnotherSize)
{
    const std::vector<int64_t> words = {kTenonVmView, 1, 0, 2, 0, 0, kTenonVmEnd};
    EXPECT_EQ(runProgram({.words = words, .presets = {2}}, {1, 2, 3}).error,
              "node `Double`: a tensor of shape (3) cannot be reshaped to (2, 2)");
}

TEST(Vm, RefusesProgramsThatAreDamaged)
{
    const std::vector<std::vector<int64_t>> bad = {
        {},                                            // no end
        {kTenonVmDrop, 0},                             // no end
        {kTenonVmDrop, 9, kTenonVmEnd},                // no such register
        {kTenonVmExtent, 7, 0, 0, kTenonVmEnd},        // no such scalar
        {kTenonVmGoto, 1, kTenonVmEnd},                // into an instruction
        {kTenonVmGoto, 99, kTenonVmEnd},               // outside
        {99, kTenonVmEnd},                             // no such opcode
        {kTenonVmAllocate, 1, kInt, 99, 0},            // cut off
        {kTenonVmAllocate, 1, 0, 0, kTenonVmEnd},      // no type
        {kTenonVmConstant, 1, 0, kTenonVmEnd},         // no such constant
        {kTenonVmCall, 0, 0, 1, 0, 1, 0, kTenonVmEnd}, // too few tensors
    };
    for (const std::vector<int64_t>& words : bad)
        EXPECT_NE(runProgram({.words = words, .presets = {0}}, {1}).error.find("VM program"),
                  std::string::npos);
}

TEST(Vm, RefusesPayloadsThatAreCutOff)
{
    const std::string payload =
        compiler::vmExecutablePayload(programOf({.words = doubling(), .presets = {0}}));
    for (size_t size = 0; size < payload.size(); ++size) {
        tenon_reader reader = tenon_reader_of(payload.data(), size);
        vm_program program;
        EXPECT_NE(vm_program_read(&reader, &program), 0) << size;
        vm_program_free(&program);
    }
}

} // namespace
} // namespace tenon::test
