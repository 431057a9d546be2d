// SPDX-License-Identifier: Apache-2.0
// External data: every way out of the model's folder is refused, every size is checked.
#include "compiler/frontend/onnx/file/external_data.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "core/base/file.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;

class ExternalData : public ::testing::Test
{
protected:
    void SetUp() override
    {
        const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8};
        m_bytes.assign(reinterpret_cast<const char*>(values.data()), 32);
        fs::create_directories(m_root.file("model/sub"));
        write("model/weights.bin");
        write("model/sub/deep.bin");
        write("outside.bin");
    }
    void write(const std::string& name)
    {
        ASSERT_TRUE(writeFileAtomically(m_root.file(name), m_bytes));
    }

    /// The first error of a model whose weight is stored as the entries say, or "".
    std::string errorOf(const std::string& location,
                        const std::vector<std::pair<std::string, std::string>>& more = {})
    {
        auto model = test::modelOf("input x float32 1,8\nexternal w float32 8\n"
                                   "node Add add x,w -> y\noutput y float32 1,8\n");
        auto& tensor = *model.mutable_graph()->mutable_initializer(0);
        const auto add = [&](const std::string& key, const std::string& value) {
            auto& entry = *tensor.add_external_data();
            entry.set_key(key);
            entry.set_value(value);
        };
        add("location", location);
        for (const auto& [key, value] : more) add(key, value);
        EXPECT_TRUE(
            writeFileAtomically(m_root.file("model/model.onnx"), model.SerializeAsString()));
        const auto loaded = loadOnnx(m_root.file("model/model.onnx"), {});
        if (!loaded) return loaded.error().text();
        m_notes = loaded->diagnostics;
        for (const Diagnostic& d : loaded->diagnostics) {
            if (d.severity != Severity::Error) continue;
            EXPECT_EQ(d.code, DiagnosticCode::BadExternalData);
            return d.text();
        }
        return {};
    }

    test::TemporaryFolder m_root;
    std::string m_bytes;
    std::vector<Diagnostic> m_notes;
};

TEST_F(ExternalData, ReadsBesideTheModelAndBelow)
{
    EXPECT_EQ(errorOf("weights.bin"), "");
    EXPECT_EQ(errorOf("sub/deep.bin", {{"offset", "0"}, {"length", "32"}}), "");
    EXPECT_TRUE(m_notes.empty());
}

TEST_F(ExternalData, RefusesEveryWayOut)
{
    const std::string absolute = m_root.file("outside.bin");
    for (const std::string& location : std::vector<std::string>{"../outside.bin",
                                                                "sub/../../outside.bin",
                                                                "sub/..",
                                                                absolute,
                                                                "~/outside.bin",
                                                                "//outside.bin",
                                                                "sub//deep.bin",
                                                                "sub/",
                                                                "./weights.bin",
                                                                "C:\\outside.bin",
                                                                "C:/outside.bin",
                                                                "\\\\host\\share",
                                                                "weights.bin:stream",
                                                                "..\\outside.bin",
                                                                std::string("weights.bin\0x", 13),
                                                                std::string(4097, 'a'),
                                                                "\xff\xfe.bin",
                                                                "",
                                                                "missing.bin",
                                                                "sub",
                                                                "file:///etc/passwd"})
        EXPECT_NE(errorOf(location), "") << location;
}

TEST_F(ExternalData, RefusesLinksAndSpecialFiles)
{
    fs::create_symlink(m_root.file("outside.bin"), m_root.file("model/link.bin"));
    EXPECT_NE(errorOf("link.bin"), "");
    fs::create_symlink("weights.bin", m_root.file("model/inside_link.bin"));
    EXPECT_NE(errorOf("inside_link.bin"), "");
    fs::create_directory_symlink(m_root.path(), m_root.file("model/up"));
    EXPECT_NE(errorOf("up/outside.bin"), "");
    fs::create_hard_link(m_root.file("outside.bin"), m_root.file("model/hard.bin"));
    EXPECT_NE(errorOf("hard.bin"), "");
    ASSERT_EQ(::mkfifo(m_root.file("model/fifo.bin").c_str(), 0600), 0);
    EXPECT_NE(errorOf("fifo.bin"), "");
    fs::create_directory_symlink("/proc/self", m_root.file("model/self"));
    EXPECT_NE(errorOf("self/environ"), "");
}

/// No test may make a device node, so the model lies where there are some.
TEST_F(ExternalData, RefusesDeviceNodes)
{
    for (const std::string device : {"null", "zero", "tty"}) {
        const std::string bytes =
            test::modelOf("input x float32 1,8\nexternal w float32 8 location=" + device +
                          "\nnode Add add x,w -> y\noutput y float32 1,8\n")
                .SerializeAsString();
        const auto loaded =
            loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, "/dev", "model.onnx", {});
        ASSERT_TRUE(loaded) << loaded.error().text();
        ASSERT_FALSE(loaded->diagnostics.empty());
        const Diagnostic& error = loaded->diagnostics.front();
        EXPECT_EQ(error.code, DiagnosticCode::BadExternalData) << error.text();
        // There may be no terminal; what can be opened is looked at before it is read.
        if (device != "tty") {
            EXPECT_NE(error.message.find("is not a regular file"), std::string::npos)
                << error.text();
        }
    }
}

TEST_F(ExternalData, ChecksEverySize)
{
    using Entries = std::vector<std::pair<std::string, std::string>>;
    for (const Entries& more :
         std::vector<Entries>{{{"offset", "-1"}},
                              {{"offset", "abc"}},
                              {{"offset", "4"}},
                              {{"offset", "18446744073709551615"}},
                              {{"length", "-32"}},
                              {{"length", "31"}},
                              {{"length", "1152921504606846976"}},
                              {{"offset", "18446744073709551600"}, {"length", "32"}},
                              {{"offset", ""}},
                              {{"offset", "0x0"}}})
        EXPECT_NE(errorOf("weights.bin", more), "") << more[0].first << more[0].second;
}

TEST_F(ExternalData, NotesUnknownKeys)
{
    EXPECT_EQ(errorOf("weights.bin", {{"__class__", "x"}}), "");
    ASSERT_EQ(m_notes.size(), 1u);
    EXPECT_EQ(m_notes[0].severity, Severity::Warning);
}

TEST_F(ExternalData, NeverMapsAFileSwappedForALink)
{
    // Another process swaps the file for a link as fast as it can; what is read is the file or an
    // error, never what lies outside.
    ASSERT_TRUE(writeFileAtomically(m_root.file("outside.bin"), std::string(32, 'S')));
    const std::string target = m_root.file("model/weights.bin");
    const std::string aside = m_root.file("model/aside.bin");
    const pid_t child = ::fork();
    if (child == 0) {
        for (;;) {
            ::symlink(m_root.file("outside.bin").c_str(), aside.c_str());
            ::rename(aside.c_str(), target.c_str());
            const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            if (fd >= 0) {
                if (::write(fd, m_bytes.data(), m_bytes.size()) != 32) ::_exit(1);
                ::close(fd);
            }
            ::rename(aside.c_str(), target.c_str());
        }
    }
    tenon_onnx::TensorProto tensor;
    auto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value("weights.bin");
    constexpr int kEnough = 500; // of each: the file was read, and the link was met
    int read = 0, refused = 0, leaked = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::min(read, refused) < kEnough && std::chrono::steady_clock::now() < end) {
        ExternalFiles files(m_root.file("model"));
        std::vector<Diagnostic> notes;
        const auto piece = files.read(tensor, 32, notes);
        piece ? ++read : ++refused;
        if (piece && static_cast<char>(piece->bytes[0]) == 'S') ++leaked;
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(leaked, 0);
    EXPECT_GE(read, kEnough);
    EXPECT_GE(refused, kEnough);
}

} // namespace
} // namespace tenon::compiler
