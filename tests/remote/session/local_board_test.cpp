// SPDX-License-Identifier: Apache-2.0
// "This computer" as a board: runs, times, crashes, cancels and time-outs of artifacts in a child.
#include "core/base/text.h"
#include "remote/deploy/local_link.h"
#include "remote/session/local_board.h"
#include "tests/runtime/artifacts.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace tenon::remote {
namespace {

using core::DiagnosticCode;
using core::JobContext;
using core::Tensor;
using test::aotBlob;
using test::aotSource;
using test::blobSource;
using test::compileLibrary;

const std::vector<float> kExpected{22, 44, 66, 28, 50, 72};

Tensor input() { return Tensor::of<float>(core::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}); }

class LocalBoard : public testing::Test
{
protected:
    void SetUp() override { TENON_NEED_TOOL("cc"); }

    RunRequest graph()
    {
        const std::string blob = test::graphBlob(test::graphFactoryPayload(test::addGraphJson()));
        return {.artifactPath = compileLibrary(m_folder.path(), "graph",
                                               test::addKernelSource() + blobSource(blob)),
                .inputs = {{"x", input()}},
                .threads = 2};
    }
    RunRequest aot(const std::string& source = aotSource())
    {
        return {.artifactPath =
                    compileLibrary(m_folder.path(), "aot", source + blobSource(aotBlob())),
                .inputs = {{"x", input()}}};
    }
    RunRequest sabotaged(const std::string& code) { return aot(test::sabotagedSource(code)); }

    test::TemporaryFolder m_folder;
    JobContext m_job;
};

TEST_F(LocalBoard, runsArtifactsOfBothExecutors)
{
    for (const RunRequest& request : {graph(), aot()}) {
        const auto outputs = runArtifact(request, m_job);
        ASSERT_TRUE(outputs) << outputs.error().text();
        ASSERT_EQ(outputs->size(), 1u);
        const auto values = (*outputs)[0].as<float>();
        EXPECT_EQ(std::vector<float>(values.begin(), values.end()), kExpected);
        EXPECT_EQ((*outputs)[0].shape(), (std::vector<int64_t>{6}));
    }
}

TEST_F(LocalBoard, keepsASessionForManyRuns)
{
    const auto session = LocalSession::open(graph(), m_job);
    ASSERT_TRUE(session) << session.error().text();
    EXPECT_EQ((*session)->inputs().front().name, "x");
    EXPECT_EQ((*session)->outputs().front().shape, (std::vector<int64_t>{6}));
    for (int i = 0; i < 200; ++i) {
        const float value = static_cast<float>(i);
        const Tensor x = Tensor::of<float>(core::kFloat32, {2, 3}, std::vector<float>(6, value));
        ASSERT_TRUE((*session)->setInputs({{"x", x}}, m_job));
        const auto outputs = (*session)->run(m_job);
        ASSERT_TRUE(outputs) << outputs.error().text();
        EXPECT_EQ((*outputs)[0].as<float>()[0], 2 * (value + 10));
    }
}

TEST_F(LocalBoard, timesRunsAndCalls)
{
    for (const RunRequest& request : {graph(), aot()}) {
        const auto timing = measureArtifact(
            request, {.number = 3, .repeat = 12, .perCall = true, .coldCache = false}, m_job);
        ASSERT_TRUE(timing) << timing.error().text();
        EXPECT_EQ(timing->runsMs.size(), 12u);
        EXPECT_GT(timing->summaryMs.median, 0);
        EXPECT_LE(timing->summaryMs.ci95Low, timing->summaryMs.median);
        EXPECT_GE(timing->summaryMs.p95, timing->summaryMs.median);
        EXPECT_EQ(timing->callMs.size(), 2u);
        EXPECT_GT(timing->callSumMs, 0);
        EXPECT_GE(timing->hygiene.involuntarySwitches, 0);
    }
}

TEST_F(LocalBoard, measuresArtifactsWithoutInstrumentation)
{
    std::string source = aotSource();
    source.replace(source.find("___tenon_profile__"), 18, "___other_function__");
    const auto timing = measureArtifact(aot(source), {.repeat = 2, .perCall = true}, m_job);
    ASSERT_TRUE(timing) << timing.error().text();
    EXPECT_TRUE(timing->callMs.empty());
    EXPECT_NE(core::join(timing->hygiene.warnings, "\n").find("no times per call"),
              std::string::npos);
}

TEST_F(LocalBoard, namesTheSignalAndTheCallOfACrash)
{
    const RunRequest request = sabotaged("*(volatile int*)8 = 1;\n");
    const auto outputs = runArtifact(request, m_job);
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, DiagnosticCode::BoardFailure);
    EXPECT_EQ(outputs.error().message, "the compiled code crashed with SIGSEGV in call 1; try opt "
                                       "level 0, and please report this kernel");
    EXPECT_NE(outputs.error().location.detail.find("at address 0x8"), std::string::npos);
    const auto timing = measureArtifact(request, {}, m_job);
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().message, outputs.error().message);
}

TEST_F(LocalBoard, tellsTheEmulatorsAbortFromACrashOfTheModel)
{
    // Runs the server like an emulator does, and aborts where the server ended without a word.
    RunRequest request = sabotaged("send_self(SIGKILL);\n");
    request.emulator = {"/bin/sh", "-c",
                        "\"$@\"; echo 'emulator: assertion failed' >&2; kill -ABRT $$", "sh"};
    const auto outputs = runArtifact(request, m_job);
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, DiagnosticCode::BoardFailure);
    EXPECT_EQ(
        outputs.error().message,
        "the emulator `sh` aborted with \"emulator: assertion failed\"; that is its own fault "
        "and not the model's, try another version of it or a board");
}

TEST_F(LocalBoard, survivesEveryKindOfDeath)
{
    struct Case
    {
        const char* code;
        const char* text;
    };
    for (const Case& each :
         {Case{"__builtin_trap();\n", "SIGILL"}, Case{"send_self(SIGABRT);\n", "SIGABRT"},
          Case{"send_self(SIGKILL);\n", "SIGKILL"},
          Case{"volatile char deep[64 << 20]; deep[0] = 1;\n", "SIGSEGV"},
          Case{"ask(SYS_exit_group, 0, 0);\n", "ended its process"}}) {
        const auto outputs = runArtifact(sabotaged(each.code), m_job);
        ASSERT_FALSE(outputs) << each.code;
        EXPECT_NE(outputs.error().message.find(each.text), std::string::npos)
            << outputs.error().text();
    }
}

TEST_F(LocalBoard, poisonsMemoryThatARunDoesNotWrite)
{
    for (RunRequest request : {graph(), aot()}) {
        request.poison = true;
        const auto outputs = runArtifact(request, m_job);
        ASSERT_TRUE(outputs) << outputs.error().text();
        EXPECT_EQ((*outputs)[0].as<float>()[5], kExpected[5]);
    }
    for (const bool poison : {false, true}) {
        RunRequest request = sabotaged("return 0;\n"); // leaves the output as it is
        request.poison = poison;
        const auto outputs = runArtifact(request, m_job);
        ASSERT_TRUE(outputs) << outputs.error().text();
        EXPECT_EQ(std::isnan((*outputs)[0].as<float>()[0]), poison);
    }
}

TEST_F(LocalBoard, namesACrashWhileLoading)
{
    const RunRequest request =
        aot(aotSource() + "__attribute__((constructor)) static void boom(void)\n"
                          "{ *(volatile int*)8 = 1; }\n");
    const auto outputs = runArtifact(request, m_job);
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, DiagnosticCode::BoardFailure);
    EXPECT_NE(outputs.error().message.find("SIGSEGV"), std::string::npos);
}

TEST_F(LocalBoard, passesOnWhatAKernelComplainsAbout)
{
    const auto outputs =
        runArtifact(sabotaged("__TVMAPISetLastError(\"wrong day\"); return -1;\n"), m_job);
    ASSERT_FALSE(outputs);
    EXPECT_NE(outputs.error().message.find("wrong day"), std::string::npos);
}

TEST_F(LocalBoard, endsAKernelThatNeverReturns)
{
    RunRequest request = sabotaged("for (volatile int i = 0;; ++i) {}\n");
    request.timeout = std::chrono::milliseconds(300);
    const auto late = runArtifact(request, m_job);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, DiagnosticCode::TimedOut);

    request.timeout = std::chrono::minutes(5);
    std::thread user([this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        m_job.requestStop();
    });
    const auto cancelled = measureArtifact(request, {}, m_job);
    user.join();
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, DiagnosticCode::Cancelled);
}

/// Where temporary folders are made while it lives.
class TemporaryPlace
{
public:
    explicit TemporaryPlace(const std::string& path) { ::setenv("TMPDIR", path.c_str(), 1); }
    TemporaryPlace(const TemporaryPlace&) = delete;
    TemporaryPlace& operator=(const TemporaryPlace&) = delete;
    ~TemporaryPlace() { ::unsetenv("TMPDIR"); }
};

TEST_F(LocalBoard, leavesNoFolderBehind)
{
    const test::TemporaryFolder temporary;
    for (const char* code :
         {"", "for (volatile int i = 0;; ++i) {}\n", "*(volatile int*)8 = 1;\n"}) {
        RunRequest request = sabotaged(code);
        request.timeout = std::chrono::milliseconds(*code == 'f' ? 300 : 60000);
        const TemporaryPlace place(temporary.path());
        EXPECT_EQ(static_cast<bool>(measureArtifact(request, {.repeat = 2}, m_job)), !*code);
    }
    const TemporaryPlace place(temporary.path());
    const auto facts = openLocalLink({})->probe(std::chrono::minutes(1), m_job);
    ASSERT_TRUE(facts) << facts.error().text();
    EXPECT_GT(facts->freeDiskBytes, 0);
    EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
}

TEST_F(LocalBoard, explainsWhatCannotRun)
{
    RunRequest request = aot();
    request.inputs = {{"y", input()}};
    EXPECT_EQ(runArtifact(request, m_job).error().code, DiagnosticCode::UnknownName);
    request.inputs = {{"x", Tensor::of<float>(core::kFloat32, {6}, {1, 2, 3, 4, 5, 6})}};
    EXPECT_EQ(runArtifact(request, m_job).error().code, DiagnosticCode::ShapeMismatch);
    request.serverPath = m_folder.file("no-server");
    EXPECT_EQ(runArtifact(request, m_job).error().code, DiagnosticCode::BoardFailure);
    request = {.artifactPath = m_folder.file("none.so")};
    EXPECT_EQ(runArtifact(request, m_job).error().code, DiagnosticCode::IoFailure);
    request.artifactPath = compileLibrary(m_folder.path(), "plain", test::addKernelSource());
    EXPECT_EQ(runArtifact(request, m_job).error().code, DiagnosticCode::BadArtifact);
    request.artifactPath =
        compileLibrary(m_folder.path(), "bad", test::addKernelSource() + blobSource("nonsense"));
    EXPECT_EQ(runArtifact(request, m_job).error().code, DiagnosticCode::BadArtifact);
}

} // namespace
} // namespace tenon::remote
