// SPDX-License-Identifier: Apache-2.0
// The static server of each processor, under user-mode emulation: its loader and whole sessions.
#include "core/target/board_server.h"
#include "remote/rpc/rpc_session.h"
#include "remote/session/child_process.h"
#include "remote/session/local_board.h"
#include "tests/runtime/artifacts.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tenon::remote {
namespace {

using core::JobContext;
using core::Tensor;
using test::aotBlob;
using test::aotSource;
using test::blobSource;
using test::compileLibrary;

struct Board
{
    const char* processor;
    const char* compiler;
    const char* emulator;
    const char* cpu;
};

void PrintTo(const Board& board, std::ostream* out) { *out << board.processor; }

constexpr Board kBoards[] = {
    {"aarch64", "aarch64-linux-gnu-gcc", "qemu-aarch64", "cortex-a53"},
    {"armv7", "arm-linux-gnueabihf-gcc", "qemu-arm", "cortex-a7"},
    {"riscv64", "riscv64-linux-gnu-gcc", "qemu-riscv64", "rv64"},
    {"x86_64", "x86_64-linux-gnu-gcc", "", ""},
};

/// How long an emulated step may take on a busy machine.
constexpr std::chrono::minutes kPatience{3};

std::string contentOf(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class BoardServer : public testing::TestWithParam<Board>
{
protected:
    void SetUp() override
    {
        TENON_NEED_TOOL(GetParam().compiler);
        const std::string emulator = GetParam().emulator;
        if (!emulator.empty()) {
            TENON_NEED_TOOL(emulator);
            m_emulator = {test::toolPath(emulator), "-cpu", GetParam().cpu};
        }
        const auto server = core::boardServerPath(GetParam().processor);
        ASSERT_TRUE(server) << server.error().text();
        m_server = *server;
    }
    std::string compiled(const std::string& name, const std::string& source,
                         const std::string& flags = "")
    {
        return compileLibrary(m_folder.path(), name, source, flags, GetParam().compiler);
    }
    RunRequest request(const std::string& source)
    {
        RunRequest request;
        request.artifactPath = compiled("model", source);
        request.inputs = {{"x", Tensor::of<float>(core::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6})}};
        request.threads = 2;
        request.serverPath = m_server;
        request.emulator = m_emulator;
        request.timeout = kPatience;
        return request;
    }
    /// What loading this library says.
    std::string loadError(const std::string& path)
    {
        RunRequest wanted = request(aotSource() + blobSource(aotBlob()));
        wanted.artifactPath = path;
        const auto outputs = runArtifact(wanted, m_job);
        return outputs ? "loaded" : outputs.error().text();
    }

    test::TemporaryFolder m_folder;
    std::vector<std::string> m_emulator;
    std::string m_server;
    JobContext m_job;
};

TEST_P(BoardServer, runsArtifactsOfBothExecutors)
{
    const std::string graph = test::graphBlob(test::graphFactoryPayload(test::addGraphJson()));
    for (const std::string& source :
         {test::addKernelSource() + blobSource(graph), aotSource() + blobSource(aotBlob())}) {
        const auto outputs = runArtifact(request(source), m_job);
        ASSERT_TRUE(outputs) << outputs.error().text();
        ASSERT_EQ(outputs->size(), 1u);
        const auto values = (*outputs)[0].as<float>();
        EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
                  (std::vector<float>{22, 44, 66, 28, 50, 72}));
    }
}

TEST_P(BoardServer, measuresWithTheBoardsClock)
{
    const RunRequest wanted = request(aotSource() + blobSource(aotBlob()));
    const auto timing =
        measureArtifact(wanted, {.number = 2, .repeat = 3, .perCall = true, .pin = false}, m_job);
    ASSERT_TRUE(timing) << timing.error().text();
    EXPECT_EQ(timing->runsMs.size(), 3u);
    EXPECT_GT(timing->summaryMs.median, 0);
    EXPECT_EQ(timing->callMs.size(), 2u);
}

TEST_P(BoardServer, loadsWhatWasUploaded)
{
    const std::string library = contentOf(compiled("add", test::addKernelSource()));
    std::vector<std::string> command = m_emulator;
    command.insert(command.end(), {m_server, "--fd", "3"});
    auto child = ChildProcess::start(command.front(), {command.begin() + 1, command.end()});
    ASSERT_TRUE(child) << child.error().text();
    const auto session = RpcSession::open(child->takeSocket(), {kPatience, &m_job});
    ASSERT_TRUE(session) << session.error().text();
    RpcSession& rpc = **session;
    const auto bytes = std::as_bytes(std::span(library));
    ASSERT_TRUE(rpc.callGlobal("tvm.rpc.server.upload", PackedArgs().text("add.so").bytes(bytes)));
    const auto back = rpc.callGlobal("tvm.rpc.server.download", PackedArgs().text("add.so"));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_TRUE(back->text == library);
    const auto module = rpc.callGlobal("tvm.rpc.server.load_module", PackedArgs().text("add.so"));
    ASSERT_TRUE(module) << module.error().text();
    EXPECT_TRUE(rpc.moduleFunction(module->handle, "fused_add"));
    EXPECT_FALSE(rpc.moduleFunction(module->handle, "fused_nothing"));
    // Handles stay good after many openings and closings of the same place.
    for (int i = 0; i < 5000; ++i) {
        const auto function = rpc.moduleFunction(module->handle, "fused_add");
        ASSERT_TRUE(function);
        ASSERT_TRUE(rpc.release(*function));
        const bool isReleasedTwice = i % 1000 == 0 && rpc.release(*function);
        ASSERT_FALSE(isReleasedTwice);
    }
    ASSERT_TRUE(rpc.callGlobal("tvm.rpc.server.remove", PackedArgs().text("add.so")));
}

TEST_P(BoardServer, runsConstructorsAndReachesTheAbiByName)
{
    const std::string source = R"(
        extern void TVMAPISetLastError(const char*);
        extern int absent(void) __attribute__((weak));
        int table[3];
        int* const places[] = {&table[0], &table[2]};
        static int zeros[100000];
        __attribute__((constructor)) static void start(void) { table[2] = 7; }
        int check(void* a, int* c, int n, void* r, int* rc, void* h)
        {
            if (absent || zeros[99999] || *places[1] != 7) return -1;
            TVMAPISetLastError("all is well");
            return -1;
        })";
    for (const char* hash : {"-Wl,--hash-style=gnu", "-Wl,--hash-style=sysv"}) {
        RunRequest wanted = request(aotSource() + blobSource(aotBlob()));
        const std::string path = compiled("check", source, hash);
        std::vector<std::string> command = m_emulator;
        command.insert(command.end(), {m_server, "--fd", "3", "--trust-paths"});
        auto child = ChildProcess::start(command.front(), {command.begin() + 1, command.end()});
        ASSERT_TRUE(child) << child.error().text();
        const auto rpc = RpcSession::open(child->takeSocket(), {kPatience, &m_job});
        ASSERT_TRUE(rpc) << rpc.error().text();
        const auto module =
            (*rpc)->callGlobal("tvm.rpc.server.load_module", PackedArgs().text(path));
        ASSERT_TRUE(module) << module.error().text();
        const auto check = (*rpc)->moduleFunction(module->handle, "check");
        ASSERT_TRUE(check) << check.error().text();
        const auto reply = (*rpc)->call(*check, {});
        ASSERT_FALSE(reply);
        EXPECT_NE(reply.error().message.find("all is well"), std::string::npos)
            << hash << ": " << reply.error().message;
    }
}

/// A folder with a library, and what leads out of it.
void fillTrusted(const std::string& inside, const std::string& outside, const std::string& library)
{
    namespace fs = std::filesystem;
    fs::create_directories(inside);
    fs::create_directories(outside);
    fs::copy_file(library, outside + "/good.so");
    fs::copy_file(library, inside + "/good.so");
    fs::create_symlink(outside + "/good.so", inside + "/link.so");
    fs::create_symlink(outside, inside + "/linked");
    fs::create_symlink("round.so", inside + "/round.so");
    fs::create_symlink("/dev/zero", inside + "/zero.so");
    ASSERT_EQ(::mkfifo((inside + "/fifo.so").c_str(), 0600), 0);
}

TEST_P(BoardServer, loadsNothingOutsideOfTheFolderThatItTrusts)
{
    const std::string inside = m_folder.file("inside"), outside = m_folder.file("inside out");
    fillTrusted(inside, outside, compiled("good", test::addKernelSource()));
    std::vector<std::string> command = m_emulator;
    command.insert(command.end(), {m_server, "--fd", "3", "--trust-path", inside, "--no-sandbox"});
    auto child = ChildProcess::start(command.front(), {command.begin() + 1, command.end()});
    ASSERT_TRUE(child) << child.error().text();
    const auto rpc = RpcSession::open(child->takeSocket(), {kPatience, &m_job});
    ASSERT_TRUE(rpc) << rpc.error().text();
    const auto load = [&](const std::string& path) {
        const auto module =
            (*rpc)->callGlobal("tvm.rpc.server.load_module", PackedArgs().text(path));
        return module ? "loaded" : module.error().message;
    };
    EXPECT_EQ(load(inside + "/good.so"), "loaded");
    for (const std::string& path :
         {inside + "/link.so", inside + "/linked/good.so", inside + "/zero.so",
          inside + "/../inside out/good.so", inside + "/linked/../inside out/good.so",
          outside + "/good.so", std::string("/dev/zero"), std::string("/proc/self/exe")})
        EXPECT_NE(load(path).find("which is all that may be loaded"), std::string::npos)
            << path << ": " << load(path);
    for (const char* name : {"/fifo.so", "/", "/round.so", "/none.so", "", "/.."})
        EXPECT_NE(load(inside + name), "loaded") << name;
    EXPECT_EQ(load(inside + "/good.so"), "loaded"); // the session goes on
}

TEST_P(BoardServer, saysWhyALibraryCannotBeLoaded)
{
    const std::string good = contentOf(compiled("good", test::addKernelSource()));
    const auto damaged = [&](const char* name, const std::string& content) {
        const std::string path = m_folder.file(name);
        std::ofstream(path, std::ios::binary) << content;
        return loadError(path);
    };
    const auto expect = [](const std::string& said, const std::string& part) {
        EXPECT_NE(said.find(part), std::string::npos) << said;
    };
    expect(loadError(compiled("puts", "int puts(const char*); int f(void) { return puts(0); }")),
           "needs `puts`");
    expect(loadError(compiled("tls", "_Thread_local int x; int* f(void) { return &x; }")),
           "thread-local");
    expect(damaged("empty.so", ""), "no ELF");
    expect(damaged("text.so", "#!/bin/sh\necho no library at all, just a text of some length\n"),
           "no ELF");
    expect(damaged("cut.so", good.substr(0, 100)), "cut off");
    expect(damaged("half.so", good.substr(0, good.size() / 8)), "cut off");
    std::string other = good;
    other[18] = 8; // EM_MIPS
    expect(damaged("mips.so", other), "code for another machine");
    expect(loadError(m_folder.file("none.so")), "cannot read");
}

INSTANTIATE_TEST_SUITE_P(All, BoardServer, testing::ValuesIn(kBoards),
                         [](const auto& board) { return std::string(board.param.processor); });

TEST(BoardServerPath, knowsTriplesAndMachineNames)
{
    EXPECT_EQ(*core::serverProcessor("aarch64-linux-gnu"), "aarch64");
    EXPECT_EQ(*core::serverProcessor("armv7l-unknown-linux-gnueabihf"), "armv7");
    EXPECT_EQ(*core::serverProcessor("armv7l"), "armv7");
    EXPECT_EQ(*core::serverProcessor("x86_64-pc-linux-gnu"), "x86_64");
    const auto unknown = core::serverProcessor("mips-linux-gnu");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, core::DiagnosticCode::UnsupportedTarget);
}

} // namespace
} // namespace tenon::remote
