// SPDX-License-Identifier: Apache-2.0
// Phases, preflight, probe script and patches: what a deployment decides without any board.
#include "core/base/board_code.h"
#include "core/base/file.h"
#include "remote/deploy/file_patch.h"
#include "remote/deploy/preflight.h"
#include "remote/deploy/probe_script.h"
#include "runtime/rpc/patch.h"
#include "runtime/rpc/sha256.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

namespace tenon::remote {
namespace {

using core::BoardCode;
using core::DiagnosticCode;

TEST(DeployPhases, haveALimitAndACodeEach)
{
    const std::pair<DeployPhase, DiagnosticCode> codes[] = {
        {DeployPhase::Connect, BoardCode::ConnectTimedOut},
        {DeployPhase::Probe, BoardCode::ProbeTimedOut},
        {DeployPhase::Upload, BoardCode::UploadTimedOut},
        {DeployPhase::Load, BoardCode::LoadTimedOut},
        {DeployPhase::Run, BoardCode::RunTimedOut},
        {DeployPhase::Benchmark, BoardCode::BenchmarkTimedOut},
        {DeployPhase::Fetch, BoardCode::FetchTimedOut},
        {DeployPhase::CleanUp, BoardCode::CleanUpTimedOut}};
    for (const auto& [phase, code] : codes) {
        const auto late =
            inPhase(core::makeError(DiagnosticCode::TimedOut, "no answer"), phase, "pi");
        EXPECT_EQ(late.code, code);
        EXPECT_NE(late.message.find(phaseText(phase)), std::string::npos);
        EXPECT_GT(PhaseLimits().of(phase).count(), 0);
        const auto other = core::makeError(DiagnosticCode::Cancelled, "cancelled");
        EXPECT_EQ(inPhase(other, phase, "pi").code, DiagnosticCode::Cancelled);
        EXPECT_EQ(inPhase(other, phase, "pi").message, "cancelled");
    }
    const auto full = core::makeError(BoardCode::DiskFull, "no room");
    EXPECT_EQ(inPhase(full, DeployPhase::Upload, "pi").message, "board `pi`: no room");
    const auto model = core::makeError(DiagnosticCode::BadModel, "no graph");
    EXPECT_EQ(inPhase(model, DeployPhase::Compile, "pi").message, "no graph");
    EXPECT_EQ(core::codeText(BoardCode::AuthFailure), "auth-failure");
    EXPECT_EQ(core::codeText(BoardCode::WrongArchitecture), "wrong-architecture");
}

/// An ELF header of a machine, as far as preflight reads it.
std::string elf(uint16_t machine, bool is64Bit, uint32_t flags = 0)
{
    std::string out(64, 0);
    out.replace(0, 6,
                std::string("\x7f"
                            "ELF") +
                    (is64Bit ? '\2' : '\1') + '\1');
    out[18] = static_cast<char>(machine);
    out[19] = static_cast<char>(machine >> 8);
    for (size_t i = 0; i < 4; ++i)
        out[(is64Bit ? 48 : 36) + i] = static_cast<char>(flags >> (8 * i));
    return out;
}

class PreflightTest : public testing::Test
{
protected:
    PreflightTest()
    {
        m_model.path = m_folder.file("model.so");
        write(elf(183, true));
        m_model.manifest.memory.constantBytes = 10 << 20;
    }
    void write(const std::string& content)
    {
        ASSERT_TRUE(core::writeFileAtomically(m_model.path, content));
    }
    static BoardFacts pi4()
    {
        return {.machine = "aarch64",
                .cpu = "cortex-a72",
                .cpuText = "Cortex-A72",
                .features = {"asimd", "crc32", "fp"},
                .freeRamBytes = int64_t{1} << 30,
                .freeDiskBytes = int64_t{1} << 30};
    }
    /// The code of the error, and that its text holds all of `parts`.
    void expectBad(const BoardFacts& facts, DiagnosticCode code,
                   const std::vector<std::string>& parts)
    {
        const Preflight result = preflight(m_model, facts);
        ASSERT_TRUE(result.error);
        EXPECT_EQ(result.error->code, code) << result.error->text();
        for (const std::string& part : parts)
            EXPECT_NE(result.error->message.find(part), std::string::npos) << result.error->message;
    }
    test::TemporaryFolder m_folder;
    BuiltModel m_model;
};

TEST_F(PreflightTest, passesWhatFits)
{
    m_model.features = {"neon", "crc", "fp-armv8"};
    const Preflight result = preflight(m_model, pi4());
    EXPECT_FALSE(result.error) << result.error->text();
    for (const Check& check : result.checks) EXPECT_EQ(check.verdict, Verdict::Good);
}

TEST_F(PreflightTest, namesTheFeatureThatIsMissing)
{
    m_model.features = {"crc", "dotprod"};
    expectBad(pi4(), BoardCode::MissingCpuFeature,
              {"+dotprod", "Cortex-A72 lacks it", "rebuild", "-mcpu=cortex-a72"});
    BoardFacts pi5 = pi4();
    pi5.features = {"asimd", "asimddp", "crc32"};
    EXPECT_FALSE(preflight(m_model, pi5).error);
}

TEST_F(PreflightTest, comparesTheMachine)
{
    write(elf(62, true));
    expectBad(pi4(), BoardCode::WrongArchitecture, {"x86-64", "AArch64", "rebuild"});
    BoardFacts arm = pi4();
    arm.machine = "armv7l";
    write(elf(40, false, 0x05000400));
    EXPECT_FALSE(preflight(m_model, arm).error);
    write(elf(40, false, 0x05000200));
    expectBad(arm, BoardCode::WrongArchitecture, {"floats"});
    for (const std::string& content : {std::string("MZ"), std::string(64, 'x'), std::string()}) {
        write(content + " ");
        expectBad(pi4(), DiagnosticCode::BadArtifact, {});
    }
}

TEST_F(PreflightTest, comparesDiskAndMemory)
{
    BoardFacts full = pi4();
    full.freeDiskBytes = 1000;
    expectBad(full, BoardCode::DiskFull, {"needed", "free"});
    BoardFacts small = pi4();
    small.freeRamBytes = 20 << 20;
    expectBad(small, DiagnosticCode::OutOfMemory, {"26.00 MiB needed, 20.00 MiB free"});
    const Preflight silent = preflight(m_model, BoardFacts{.machine = "aarch64"});
    EXPECT_FALSE(silent.error);
    for (const Check& check : silent.checks)
        EXPECT_EQ(check.verdict == Verdict::Doubtful, check.subject != "machine");
}

TEST(ProbeScript, makesAFolderNobodyElseHas)
{
    EXPECT_NE(probeScript(false), probeScript(false));
    EXPECT_EQ(probeScript(true), probeScript(true));
    EXPECT_NE(probeScript(true).find("$root/store"), std::string::npos);
    EXPECT_EQ(probeScript(true).find('@'), std::string::npos);
    EXPECT_EQ(probeScript(true).find("--tidy"), std::string::npos);
    EXPECT_NE(probeScript(false).find("--tidy"), std::string::npos);
    const BoardFolder folder =
        boardFolderOf("== root\n/h/.tenon\n== folder\n/h/.tenon/run-1\n== files\na\nb\n== end\n");
    EXPECT_EQ(folder.path, "/h/.tenon/run-1");
    EXPECT_EQ(folder.files, (std::vector<std::string>{"a", "b"}));
    // What will be removed as a whole must be below the root the board named.
    EXPECT_EQ(boardFolderOf("== root\n/h\n== folder\n/\n").path, "");
    EXPECT_EQ(boardFolderOf("== root\nh\n== folder\nh/x\n").path, "");
    EXPECT_EQ(boardFolderOf("").path, "");
}

class Patches : public testing::Test
{
protected:
    static std::string noise(size_t size, unsigned seed)
    {
        std::mt19937 random(seed);
        std::string out(size, 0);
        for (char& c : out) c = static_cast<char>(random());
        return out;
    }
    /// Applies a patch as the board does; the bytes of its literals.
    int64_t roundTrip(const std::string& from, const std::string& to)
    {
        const FilePatch patch =
            makePatch(std::as_bytes(std::span(from)), std::as_bytes(std::span(to)));
        EXPECT_TRUE(core::writeFileAtomically(m_folder.file("base"), from));
        char hex[TENON_SHA256_HEX];
        tenon_sha256_hex(to.data(), to.size(), hex);
        EXPECT_EQ(apply(bytesOf(patch), hex), 0);
        EXPECT_TRUE(*core::readFile(m_folder.file("new")) == to);
        return patch.literalBytes;
    }
    static std::string bytesOf(const FilePatch& patch)
    {
        std::string out;
        for (const auto piece : patch.pieces())
            out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        return out + static_cast<char>(kTenonPatchEnd);
    }
    int apply(std::string_view patch, const char* digest) const
    {
        const std::string base = m_folder.file("base");
        const std::string path = m_folder.file("new");
        const auto read = [](void* self, void* data, size_t size) {
            auto* left = static_cast<std::string_view*>(self);
            if (left->size() < size) return -1;
            std::copy_n(left->data(), size, static_cast<char*>(data));
            left->remove_prefix(size);
            return 0;
        };
        char found[TENON_SHA256_HEX];
        const int status =
            tenon_patch_apply(base.c_str(), path.c_str(), {.read = read, .self = &patch}, found);
        if (status != 0) return status;
        if (std::string_view(found) == digest) return 0;
        std::filesystem::remove(path);
        return -1;
    }
    test::TemporaryFolder m_folder;
};

TEST_F(Patches, sendOnlyWhatChanged)
{
    const std::string base = noise(300'000, 1);
    EXPECT_EQ(roundTrip(base, base), 0);
    std::string changed = base;
    changed.replace(100'000, 10, noise(10, 2));
    EXPECT_LT(roundTrip(base, changed), 5000);
    // A kernel that grew moves everything behind it.
    EXPECT_LT(roundTrip(base, base.substr(0, 50'000) + noise(777, 3) + base.substr(50'000)), 6000);
    EXPECT_LT(roundTrip(base, base.substr(200'000) + base.substr(0, 200'000)), 9000);
    EXPECT_EQ(roundTrip(base, ""), 0);
    EXPECT_EQ(roundTrip("", "short"), 5);
    EXPECT_EQ(roundTrip(base, noise(10'000, 4)), 10'000);
    EXPECT_LT(roundTrip(std::string(100'000, 0), std::string(123'456, 0)), 5000);
}

TEST_F(Patches, areRefusedWhenDamaged)
{
    const std::string base = noise(10'000, 1);
    const std::string wanted = base.substr(0, 8192) + "new" + base.substr(8192);
    const FilePatch patch =
        makePatch(std::as_bytes(std::span(base)), std::as_bytes(std::span(wanted)));
    ASSERT_TRUE(core::writeFileAtomically(m_folder.file("base"), base));
    char hex[TENON_SHA256_HEX];
    tenon_sha256_hex(wanted.data(), wanted.size(), hex);
    const std::string whole = bytesOf(patch);
    for (size_t at = 0; at < whole.size(); at += 3) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
        EXPECT_NE(apply(damaged, hex), 0) << at;
        EXPECT_NE(apply(whole.substr(0, at), hex), 0) << at;
        EXPECT_NE(access(m_folder.file("new").c_str(), F_OK), 0);
    }
    EXPECT_EQ(apply(whole, hex), 0);
}

} // namespace
} // namespace tenon::remote
