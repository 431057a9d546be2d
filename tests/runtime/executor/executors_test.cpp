// SPDX-License-Identifier: Apache-2.0
// Hand-made graph and AOT artifacts run, and every kind of damage to them is refused.
#include "tests/runtime/artifacts.h"
#include "tests/runtime/handles.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tenon::test {
namespace {

constexpr DLDevice kCpu{kDLCPU, 0};
const std::vector<float> kInput{1, 2, 3, 4, 5, 6};
const std::vector<float> kExpected{22, 44, 66, 28, 50, 72};

class Executor : public testing::Test
{
protected:
    void SetUp() override { TENON_NEED_TOOL("cc"); }

    std::string graphLibrary()
    {
        return compileLibrary(m_folder.path(), "graph",
                              addKernelSource() +
                                  blobSource(graphBlob(graphFactoryPayload(addGraphJson()))));
    }
    std::string aotLibrary()
    {
        return compileLibrary(m_folder.path(), "aot", aotSource() + blobSource(aotBlob()));
    }
    static Handle create(const Handle& factory)
    {
        CallResult made = call(moduleFunction(factory, "default"), {kCpu});
        EXPECT_EQ(made.code, kTVMModuleHandle) << made.error;
        return std::move(made.handle);
    }
    static void expectRuns(const Handle& executor)
    {
        const Handle input = makeArray({2, 3}, kInput);
        EXPECT_EQ(call(moduleFunction(executor, "set_input"), {"x", &input}).error, "");
        EXPECT_EQ(call(moduleFunction(executor, "run")).error, "");
        const CallResult output = call(moduleFunction(executor, "get_output"), {int64_t{0}});
        ASSERT_EQ(output.code, kTVMNDArrayHandle) << output.error;
        EXPECT_EQ(floatsOf(output.handle.get()), kExpected);
    }

    TemporaryFolder m_folder;
};

TEST_F(Executor, runsTheSmallestGraphArtifact)
{
    const Handle factory = loadModule(graphLibrary());
    ASSERT_TRUE(factory) << TVMGetLastError();
    expectRuns(create(factory));
}

TEST_F(Executor, runsTheSmallestAotArtifact)
{
    const Handle factory = loadModule(aotLibrary());
    ASSERT_TRUE(factory) << TVMGetLastError();
    expectRuns(create(factory));
}

TEST_F(Executor, outlivesTheModuleItCameFrom)
{
    for (const std::string& path : {graphLibrary(), aotLibrary()}) {
        Handle factory = loadModule(path);
        const Handle executor = create(factory);
        factory.reset();
        expectRuns(executor);
    }
}

TEST_F(Executor, answersQuestionsAboutInputsAndOutputs)
{
    for (const std::string& path : {graphLibrary(), aotLibrary()}) {
        const Handle executor = create(loadModule(path));
        const bool isGraph = path.find("graph.so") != std::string::npos;
        EXPECT_EQ(call(moduleFunction(executor, "get_num_inputs")).integer, isGraph ? 2 : 1);
        EXPECT_EQ(call(moduleFunction(executor, "get_num_outputs")).integer, 1);
        EXPECT_EQ(call(moduleFunction(executor, "get_input_index"), {"x"}).integer, 0);
        EXPECT_EQ(call(moduleFunction(executor, "get_input_index"), {"none"}).integer, -1);
        EXPECT_EQ(call(moduleFunction(executor, "get_input_info")).text,
                  isGraph ? R"({"inputs":[{"name":"x","dtype":"float32","shape":[2,3]},)"
                            R"({"name":"p0","dtype":"float32","shape":[3]}],)"
                            R"("outputs":[{"name":"double","dtype":"float32","shape":[6]}]})"
                          : R"({"inputs":[{"name":"x","dtype":"float32","shape":[2,3]}],)"
                            R"("outputs":[{"name":"output","dtype":"float32","shape":[6]}]})");
    }
}

TEST_F(Executor, usesLentMemoryInPlace)
{
    for (const std::string& path : {graphLibrary(), aotLibrary()}) {
        const Handle executor = create(loadModule(path));
        const Handle input = makeArray({2, 3}, kInput);
        const Handle output = makeArray({6}, {0, 0, 0, 0, 0, 0});
        EXPECT_EQ(call(moduleFunction(executor, "set_input_zero_copy"), {"x", &input}).error, "");
        EXPECT_EQ(
            call(moduleFunction(executor, "set_output_zero_copy"), {int64_t{0}, &output}).error,
            "");
        EXPECT_EQ(call(moduleFunction(executor, "run")).error, "");
        EXPECT_EQ(floatsOf(output.get()), kExpected);
        // A copying set_input ends the loan and leaves the caller's memory alone.
        const Handle other = makeArray({2, 3}, {0, 0, 0, 0, 0, 0});
        EXPECT_EQ(call(moduleFunction(executor, "set_input"), {"x", &other}).error, "");
        EXPECT_EQ(call(moduleFunction(executor, "run")).error, "");
        EXPECT_EQ(floatsOf(output.get()), (std::vector<float>{20, 40, 60, 20, 40, 60}));
        EXPECT_EQ(floatsOf(input.get()), kInput);
    }
}

TEST_F(Executor, refusesInputsThatDoNotFit)
{
    for (const std::string& path : {graphLibrary(), aotLibrary()}) {
        const Handle executor = create(loadModule(path));
        const Handle wrong = makeArray({3, 2}, kInput);
        const Handle setInput = moduleFunction(executor, "set_input");
        EXPECT_NE(call(setInput, {"x", &wrong}).status, 0);
        EXPECT_NE(call(setInput, {"y", &wrong}).error.find("`y`"), std::string::npos);
        EXPECT_NE(call(setInput, {int64_t{9}, &wrong}).status, 0);
        EXPECT_NE(call(setInput, {"x"}).status, 0);
        EXPECT_NE(call(moduleFunction(executor, "get_output"), {int64_t{1}}).status, 0);
    }
}

TEST_F(Executor, changesParameters)
{
    const Handle executor = create(loadModule(graphLibrary()));
    const Handle zeros = makeArray({3}, {0, 0, 0});
    EXPECT_EQ(call(moduleFunction(executor, "set_input"), {"p0", &zeros}).error, "");
    const Handle input = makeArray({2, 3}, kInput);
    call(moduleFunction(executor, "set_input"), {"x", &input});
    EXPECT_EQ(call(moduleFunction(executor, "run")).error, "");
    const CallResult output = call(moduleFunction(executor, "get_output"), {int64_t{0}});
    EXPECT_EQ(floatsOf(output.handle.get()), (std::vector<float>{2, 4, 6, 8, 10, 12}));

    Stream params;
    params.u64(0xF7E58D4F05049CB7ull).u64(0).u64(1).text("p0").u64(1).array({3}, {10, 20, 30});
    const std::string bytes = params.bytes();
    TVMByteArray borrowed{bytes.data(), bytes.size()};
    TVMValue value{.v_handle = &borrowed};
    int code = kTVMBytes;
    const Handle loadParams = moduleFunction(executor, "load_params");
    EXPECT_EQ(TVMFuncCall(loadParams.get(), &value, &code, 1, nullptr, nullptr), 0);
    expectRuns(executor);
    for (size_t size = 0; size < bytes.size(); ++size) {
        borrowed.size = size;
        EXPECT_NE(TVMFuncCall(loadParams.get(), &value, &code, 1, nullptr, nullptr), 0) << size;
    }
}

TEST_F(Executor, sharesParameters)
{
    Handle lender = create(loadModule(graphLibrary()));
    const Handle executor = create(loadModule(graphLibrary()));
    Stream params;
    params.u64(0xF7E58D4F05049CB7ull).u64(0).u64(2).text("p0").text("none").u64(2);
    const std::string bytes = params.array({3}, {7, 7, 7}).array({1}, {7}).bytes();
    TVMByteArray borrowed{bytes.data(), bytes.size()};
    TVMValue values[2] = {{.v_handle = lender.get()}, {.v_handle = &borrowed}};
    int codes[2] = {kTVMModuleHandle, kTVMBytes};
    const Handle share = moduleFunction(executor, "share_params");
    const Handle zeros = makeArray({3}, {0, 0, 0}); // of the lender, not of the file
    EXPECT_EQ(call(moduleFunction(lender, "set_input"), {"p0", &zeros}).error, "");
    EXPECT_EQ(TVMFuncCall(share.get(), values, codes, 2, nullptr, nullptr), 0);
    lender.reset(); // its memory stays
    const CallResult ours = call(moduleFunction(executor, "get_input"), {"p0"});
    EXPECT_EQ(floatsOf(ours.handle.get()), (std::vector<float>{0, 0, 0}));
    values[0].v_handle = executor.get();
    EXPECT_NE(TVMFuncCall(share.get(), values, codes, 2, nullptr, nullptr), 0);
}

TEST_F(Executor, timesEveryCall)
{
    const CallResult graph =
        call(moduleFunction(create(loadModule(graphLibrary())), "profile"), {int64_t{3}});
    EXPECT_EQ(graph.text.size(), 2 * sizeof(double)) << graph.error;
    const CallResult aot =
        call(moduleFunction(create(loadModule(aotLibrary())), "profile"), {int64_t{3}});
    ASSERT_EQ(aot.text.size(), 2 * sizeof(double)) << aot.error;
    double seconds[2];
    std::memcpy(seconds, aot.text.data(), sizeof seconds);
    EXPECT_GT(seconds[0] + seconds[1], 0);
}

TEST_F(Executor, timesRunsAsTheTimeEvaluatorDoes)
{
    const Handle executor = create(loadModule(aotLibrary()));
    TVMValue values[12] = {};
    int codes[12] = {kTVMModuleHandle, kTVMStr};
    values[0].v_handle = executor.get();
    values[1].v_str = "run";
    const int64_t settings[] = {1, 0, 5, 4, 0, 100, 0, 1, 0};
    for (int i = 0; i < 9; ++i) values[2 + i].v_int64 = settings[i];
    values[11].v_str = "";
    codes[11] = kTVMStr;
    TVMValue made{};
    int madeCode = 0;
    const Handle create = globalFunction("runtime.RPCTimeEvaluator");
    ASSERT_EQ(TVMFuncCall(create.get(), values, codes, 12, &made, &madeCode), 0)
        << TVMGetLastError();
    ASSERT_EQ(madeCode, kTVMPackedFuncHandle);
    const Handle evaluator(made.v_handle, {TVMFuncFree});
    EXPECT_EQ(call(evaluator).text.size(), 4 * sizeof(double));
    values[1].v_str = "no_such_function";
    EXPECT_NE(TVMFuncCall(create.get(), values, codes, 12, &made, &madeCode), 0);
}

TEST_F(Executor, refusesABlobCutOffAnywhere)
{
    const std::string whole = graphBlob(graphFactoryPayload(addGraphJson()));
    // The library is built once; its blob is then patched in the file, so that cc runs only once.
    const std::string path = graphLibrary();
    ASSERT_FALSE(path.empty());
    std::string file;
    {
        FILE* in = std::fopen(path.c_str(), "rb");
        char buffer[4096];
        while (const size_t got = std::fread(buffer, 1, sizeof buffer, in))
            file.append(buffer, got);
        std::fclose(in);
    }
    const size_t at = file.find(whole);
    ASSERT_NE(at, std::string::npos);
    for (size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 7) {
        std::string damaged = file;
        const std::string count = Stream().u64(size).bytes();
        damaged.replace(at - 8, 8, count);
        const std::string copy = m_folder.file("cut" + std::to_string(size) + ".so");
        FILE* out = std::fopen(copy.c_str(), "wb");
        std::fwrite(damaged.data(), 1, damaged.size(), out);
        std::fclose(out);
        EXPECT_FALSE(loadModule(copy)) << size;
        std::remove(copy.c_str());
    }
}

TEST_F(Executor, saysWhichKernelIsMissing)
{
    std::string json = addGraphJson();
    json.replace(json.find("fused_double"), 12, "fused_triple");
    const Handle factory = loadModule(
        compileLibrary(m_folder.path(), "missing",
                       addKernelSource() + blobSource(graphBlob(graphFactoryPayload(json)))));
    const CallResult made = call(moduleFunction(factory, "default"), {kCpu});
    EXPECT_NE(made.error.find("fused_triple"), std::string::npos) << made.error;
    EXPECT_NE(call(moduleFunction(factory, "default"), {DLDevice{kDLCUDA, 0}}).status, 0);
    EXPECT_NE(call(moduleFunction(factory, "default")).status, 0);
}

TEST_F(Executor, hidesWhatBelongsToOtherLibraries)
{
    const Handle library = loadModule(compileLibrary(m_folder.path(), "plain", addKernelSource()));
    ASSERT_TRUE(library) << TVMGetLastError();
    EXPECT_TRUE(moduleFunction(library, "fused_add"));
    EXPECT_FALSE(moduleFunction(library, "system"));
    EXPECT_FALSE(moduleFunction(library, "none"));
}

TEST_F(Executor, refusesFilesThatAreNoLibraries)
{
    EXPECT_FALSE(loadModule(m_folder.file("none.so")));
    EXPECT_FALSE(loadModule("model.tar"));
    EXPECT_NE(std::string(TVMGetLastError()).find("`tar`"), std::string::npos);
}

} // namespace
} // namespace tenon::test
