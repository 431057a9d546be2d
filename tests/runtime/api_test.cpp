// SPDX-License-Identifier: Apache-2.0
// The C ABI: layouts, arrays, functions, workspace, and the build without CMake.
#include "runtime/include/tenon/c_backend_api.h"
#include "tests/runtime/handles.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

namespace tenon::test {
namespace {

static_assert(sizeof(DLDevice) == 8 && sizeof(DLDataType) == 4 && sizeof(TVMValue) == 8);
static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, device) == 8 &&
              offsetof(DLTensor, ndim) == 16 && offsetof(DLTensor, dtype) == 20 &&
              offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, strides) == 32 &&
              offsetof(DLTensor, byte_offset) == 40);

TEST(Array, isAlignedAndHoldsWhatIsCopied)
{
    const Handle array = makeArray({2, 2}, {1, 2, 3, 4});
    auto* tensor = static_cast<DLTensor*>(array.get());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data) % 64, 0u);
    EXPECT_EQ(tensor->strides, nullptr);
    EXPECT_EQ(floatsOf(tensor), (std::vector<float>{1, 2, 3, 4}));
    float out[4];
    EXPECT_EQ(TVMArrayCopyToBytes(tensor, out, sizeof out), 0);
    EXPECT_EQ(out[3], 4);
    EXPECT_NE(TVMArrayCopyToBytes(tensor, out, sizeof out - 1), 0);
    const Handle other = makeArray({2, 2}, {0, 0, 0, 0});
    EXPECT_EQ(TVMArrayCopyFromTo(tensor, static_cast<DLTensor*>(other.get()), nullptr), 0);
    EXPECT_EQ(floatsOf(other.get()), floatsOf(tensor));
    const Handle small = makeArray({3}, {0, 0, 0});
    EXPECT_NE(TVMArrayCopyFromTo(tensor, static_cast<DLTensor*>(small.get()), nullptr), 0);
}

TEST(Array, refusesImpossibleShapes)
{
    TVMArrayHandle out = nullptr;
    const int64_t negative[] = {2, -1};
    EXPECT_NE(TVMArrayAlloc(negative, 2, kDLFloat, 32, 1, kDLCPU, 0, &out), 0);
    const int64_t huge[] = {INT64_MAX, INT64_MAX};
    EXPECT_NE(TVMArrayAlloc(huge, 2, kDLFloat, 32, 1, kDLCPU, 0, &out), 0);
    const int64_t one[] = {1};
    EXPECT_NE(TVMArrayAlloc(one, 1, kDLFloat, 32, 1, kDLCUDA, 0, &out), 0);
    const int64_t empty[] = {5, 0};
    ASSERT_EQ(TVMArrayAlloc(empty, 2, kDLFloat, 32, 1, kDLCPU, 0, &out), 0);
    EXPECT_EQ(TVMArrayFree(out), 0);
    ASSERT_EQ(TVMArrayAlloc(nullptr, 0, kDLFloat, 32, 1, kDLCPU, 0, &out), 0);
    EXPECT_EQ(TVMArrayFree(out), 0);
}

TEST(Array, travelsThroughDlpack)
{
    Handle array = makeArray({3}, {1, 2, 3});
    DLManagedTensor* managed = nullptr;
    ASSERT_EQ(TVMArrayToDLPack(static_cast<DLTensor*>(array.get()), &managed), 0);
    array.reset(); // the exchange keeps the memory
    TVMArrayHandle back = nullptr;
    ASSERT_EQ(TVMArrayFromDLPack(managed, &back), 0);
    EXPECT_EQ(floatsOf(back), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(TVMArrayFree(back), 0);
}

int addOne(TVMValue* args, int*, int count, TVMRetValueHandle ret, void* resource)
{
    if (count != 1) {
        TVMAPISetLastError("one argument please");
        return -1;
    }
    TVMValue value;
    value.v_int64 = args[0].v_int64 + *static_cast<int*>(resource);
    int code = kTVMArgInt;
    return TVMCFuncSetReturn(ret, &value, &code, 1);
}

int finalized = 0;

TEST(Function, belongsToTheEmbedder)
{
    static int one = 1;
    finalized = 0;
    TVMFunctionHandle handle = nullptr;
    ASSERT_EQ(TVMFuncCreateFromCFunc(
                  addOne, &one, [](void*) { ++finalized; }, &handle),
              0);
    Handle function(handle, {TVMFuncFree});
    EXPECT_EQ(call(function, {int64_t{41}}).integer, 42);
    EXPECT_EQ(call(function).error, "one argument please");
    ASSERT_EQ(TVMFuncRegisterGlobal("test.add_one", handle, 0), 0);
    EXPECT_NE(TVMFuncRegisterGlobal("test.add_one", handle, 0), 0);
    EXPECT_EQ(TVMFuncRegisterGlobal("test.add_one", handle, 1), 0);
    EXPECT_NE(TVMFuncRegisterGlobal("runtime.NumThreads", handle, 0), 0);
    function.reset();
    EXPECT_EQ(finalized, 0);
    EXPECT_EQ(call(globalFunction("test.add_one"), {int64_t{1}}).integer, 2);
    int count = 0;
    const char** names = nullptr;
    ASSERT_EQ(TVMFuncListGlobalNames(&count, &names), 0);
    bool isListed = false;
    for (int i = 0; i < count; ++i) isListed |= std::string(names[i]) == "test.add_one";
    EXPECT_TRUE(isListed);
    EXPECT_EQ(TVMFuncRemoveGlobal("test.add_one"), 0);
    EXPECT_EQ(finalized, 1);
    EXPECT_NE(TVMFuncRemoveGlobal("test.add_one"), 0);
    EXPECT_FALSE(globalFunction("test.add_one"));
}

TEST(Error, isKeptPerThread)
{
    TVMAPISetLastError("mine");
    std::thread([] {
        EXPECT_STREQ(TVMGetLastError(), "");
        TVMAPISetLastError("other");
    }).join();
    EXPECT_STREQ(TVMGetLastError(), "mine");
}

TEST(Workspace, isAStackThatIsReused)
{
    void* first = TVMBackendAllocWorkspace(kDLCPU, 0, 100, kDLFloat, 32);
    void* second = TVMBackendAllocWorkspace(kDLCPU, 0, 1, kDLFloat, 32);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 64, 0u);
    EXPECT_GE(static_cast<char*>(second) - static_cast<char*>(first), 128);
    EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, second), 0);
    EXPECT_EQ(TVMBackendAllocWorkspace(kDLCPU, 0, 1, kDLFloat, 32), second);
    // Freed out of order: the memory under a living block stays.
    EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, first), 0);
    EXPECT_NE(TVMBackendAllocWorkspace(kDLCPU, 0, 1, kDLFloat, 32), first);
    int unrelated;
    EXPECT_NE(TVMBackendFreeWorkspace(kDLCPU, 0, &unrelated), 0);
    EXPECT_EQ(TVMBackendAllocWorkspace(kDLCPU, 0, UINT64_MAX, kDLFloat, 32), nullptr);
}

TEST(Workspace, keepsItsMemoryAboveABlockThatStays)
{
    std::thread([] {
        const uint64_t large = 1 << 20;
        void* below = TVMBackendAllocWorkspace(kDLCPU, 0, 60000, kDLFloat, 32);
        void* first = TVMBackendAllocWorkspace(kDLCPU, 0, large, kDLFloat, 32);
        EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, first), 0);
        EXPECT_EQ(TVMBackendAllocWorkspace(kDLCPU, 0, large, kDLFloat, 32), first);
        EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, first), 0);
        // What is too small is replaced, never what lives.
        auto* larger =
            static_cast<char*>(TVMBackendAllocWorkspace(kDLCPU, 0, 4 * large, kDLFloat, 32));
        ASSERT_NE(larger, nullptr);
        std::memset(below, 1, 60000);
        std::memset(larger, 2, 4 * large);
        EXPECT_EQ(static_cast<char*>(below)[59999], 1);
        EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, below), 0);
        EXPECT_EQ(larger[0], 2);
        EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, larger), 0);
        // Empty at last: one chunk serves both.
        void* again = TVMBackendAllocWorkspace(kDLCPU, 0, 4 * large, kDLFloat, 32);
        void* next = TVMBackendAllocWorkspace(kDLCPU, 0, 60000, kDLFloat, 32);
        EXPECT_EQ(static_cast<char*>(next) - static_cast<char*>(again),
                  static_cast<std::ptrdiff_t>(4 * large + 64));
        EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, next), 0);
        EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, again), 0);
    }).join();
}

// Kernels that take two blocks each, beside one that stays: what they leave behind had piled up, a
// chunk for each kernel.
TEST(Workspace, keepsOneChunkAboveABlockThatStays)
{
    std::thread([] {
        void* below = TVMBackendAllocWorkspace(kDLCPU, 0, 1 << 20, kDLFloat, 32);
        const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
        size_t most = 0;
        for (size_t kernel = 1; kernel <= 40; ++kernel) {
            const size_t bytes = 10000 * kernel;
            void* a = TVMBackendAllocWorkspace(kDLCPU, 0, bytes, kDLFloat, 32);
            void* b = TVMBackendAllocWorkspace(kDLCPU, 0, bytes, kDLFloat, 32);
            std::memset(a, 1, bytes);
            std::memset(b, 2, bytes);
            EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, b), 0);
            EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, a), 0);
            most = std::max(most, mallinfo2().uordblks + mallinfo2().hblkhd - before);
        }
        EXPECT_LT(most, size_t{4} * 400000) << "twice what the largest kernel asks for";
        EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, below), 0);
    }).join();
}

TEST(Workspace, growsWithoutMovingLivingBlocks)
{
    std::thread([] {
        for (int round = 0; round < 3; ++round) {
            std::vector<char*> blocks;
            for (size_t i = 0; i < 40; ++i) {
                auto* block = static_cast<char*>(
                    TVMBackendAllocWorkspace(kDLCPU, 0, 10000 * i, kDLFloat, 32));
                ASSERT_NE(block, nullptr);
                std::memset(block, static_cast<int>(i), 10000 * i);
                blocks.push_back(block);
            }
            for (size_t i = blocks.size(); i-- > 0;) {
                if (i > 0) {
                    EXPECT_EQ(blocks[i][0], static_cast<char>(i));
                    EXPECT_EQ(blocks[i][10000 * i - 1], static_cast<char>(i));
                }
                EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, blocks[i]), 0);
            }
        }
    }).join();
}

TEST(RunOnce, runsUntilItSucceedsOnce)
{
    static int runs = 0;
    runs = 0;
    void* handle = nullptr;
    const auto failing = [](void*) { return ++runs, -1; };
    const auto working = [](void*) { return ++runs, 0; };
    EXPECT_EQ(TVMBackendRunOnce(&handle, failing, nullptr, 0), -1);
    EXPECT_EQ(TVMBackendRunOnce(&handle, working, nullptr, 0), 0);
    EXPECT_EQ(TVMBackendRunOnce(&handle, working, nullptr, 0), 0);
    EXPECT_EQ(runs, 2);
}

TEST(Makefile, buildsTheRuntimeWithoutCMake)
{
    TENON_NEED_TOOL("make");
    TENON_NEED_TOOL("cc");
    const TemporaryFolder folder;
    const std::string library = folder.file("libtenon_runtime.so");
    const std::string command =
        "make -s -C " + sourcePath("runtime") + " OUT=" + library + " >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
    // An embedder in plain C that sees only the public headers.
    std::ofstream(folder.file("embedder.c")) << R"(
#include "runtime/include/tenon/c_runtime_api.h"
int main(void)
{
    TVMFunctionHandle function;
    TVMValue value;
    int code;
    if (TVMFuncGetGlobal("runtime.NumThreads", &function)) return 1;
    if (TVMFuncCall(function, 0, 0, 0, &value, &code)) return 2;
    return value.v_int64 >= 1 && code == kTVMArgInt ? 0 : 3;
})";
    const std::string program = folder.file("embedder");
    const std::string link = "cc -std=c99 -pedantic -Werror -I" + sourcePath("") + " -o " +
                             program + " " + folder.file("embedder.c") + " " + library +
                             " -Wl,-rpath," + folder.path();
    ASSERT_EQ(std::system(link.c_str()), 0);
    EXPECT_EQ(std::system(program.c_str()), 0);
}

} // namespace
} // namespace tenon::test
