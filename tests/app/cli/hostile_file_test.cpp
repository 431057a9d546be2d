// SPDX-License-Identifier: Apache-2.0
// Memory while hostile models are refused: at most 64 MiB and four times the file beyond what a
// small model takes.
#include "core/base/file.h"
#include "tests/support/environment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace tenon::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsInstrumented = true;
#else
constexpr bool kIsInstrumented = false;
#endif

constexpr size_t kFileBytes = size_t{8} << 20;

std::string varint(uint64_t value)
{
    std::string out;
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    return out + static_cast<char>(value);
}

/// A length-delimited field.
std::string field(unsigned number, const std::string& content)
{
    return varint(number << 3 | 2) + varint(content.size()) + content;
}

std::string times(const std::string& piece)
{
    std::string out;
    while (out.size() < kFileBytes) out += piece;
    return out;
}

std::string model(const std::string& graph)
{
    return std::string("\x08\x08", 2) + field(8, std::string("\x10\x11", 2)) + field(7, graph);
}

std::string node(const std::string& inside) { return field(1, field(4, "Relu") + inside); }

struct Bomb
{
    const char* name;
    std::string (*make)();
};

void PrintTo(const Bomb& bomb, std::ostream* out) { *out << bomb.name; }

const Bomb kBombs[] = {
    {"EmptyNodes", [] { return model(times(field(1, ""))); }},
    {"EmptyAttributes", [] { return model(node(times(field(5, "")))); }},
    {"SmallAttributes", [] { return model(node(times(field(5, field(1, "a"))))); }},
    {"EmptyOperands", [] { return model(node(times(field(1, "")))); }},
    {"SmallIntegers", [] { return model(node(field(5, field(8, times("\x01"))))); }},
    {"IntegersOneByOne", [] { return model(node(field(5, times("\x40\x01")))); }},
    {"EmptyTensors", [] { return model(times(field(5, ""))); }},
    {"EmptyValues", [] { return model(times(field(13, ""))); }},
    {"EmptyDimensions",
     [] { return model(field(13, field(2, field(1, field(2, times(field(1, ""))))))); }},
    {"EmptyProperties", [] { return model("") + times(field(14, "")); }},
    {"EmptyFunctions", [] { return model("") + times(field(25, "")); }},
    {"EmptyStrings", [] { return model(field(5, times(field(6, "")))); }},
    {"ManyDimensions", [] { return model(field(5, field(1, times("\x01")))); }},
    {"UnknownFields", [] { return model("") + times(field(1000, "")); }},
    {"OnePetabyte",
     [] {
         return model(field(5, "\x08" + varint(uint64_t{1} << 48) + "\x10\x01" + field(8, "w")));
     }},
    {"OneLongName", [] { return model(node(field(3, times("n")))); }},
};

/// Largest resident memory of `tenon inspect`, in KiB, and how it ended.
struct Ended
{
    long kib = 0;
    int status = 0;
};

Ended inspected(const std::string& path)
{
    const pid_t child = ::fork();
    if (child == 0) {
        const int nowhere = ::open("/dev/null", O_WRONLY);
        ::dup2(nowhere, STDOUT_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
        ::execl(TENON_PROGRAM, TENON_PROGRAM, "inspect", path.c_str(), nullptr);
        ::_exit(127);
    }
    Ended out;
    rusage usage{};
    ::wait4(child, &out.status, 0, &usage);
    out.kib = usage.ru_maxrss;
    return out;
}

class HostileFile : public ::testing::TestWithParam<Bomb>
{
};

TEST_P(HostileFile, IsRefusedWithinTheMemoryLimit)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("model.onnx");
    size_t size = 0;
    {
        const std::string bytes = GetParam().make();
        size = bytes.size();
        ASSERT_TRUE(core::writeFileAtomically(path, bytes));
    }
    const Ended small = inspected(sourcePath("resources/sample/digits/model.onnx"));
    ASSERT_EQ(small.status, 0);
    const Ended ended = inspected(path);
    ASSERT_TRUE(WIFEXITED(ended.status)) << "signal " << WTERMSIG(ended.status);
    EXPECT_TRUE(WEXITSTATUS(ended.status) == 4 || WEXITSTATUS(ended.status) == 0)
        << WEXITSTATUS(ended.status);
    if (kIsInstrumented) return;
    EXPECT_LE(ended.kib, small.kib + 64 * 1024 + static_cast<long>(4 * size / 1024));
}

INSTANTIATE_TEST_SUITE_P(All, HostileFile, ::testing::ValuesIn(kBombs),
                         [](const auto& bomb) { return std::string(bomb.param.name); });

} // namespace
} // namespace tenon::test
