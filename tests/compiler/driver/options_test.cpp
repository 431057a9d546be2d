// SPDX-License-Identifier: Apache-2.0
// Every option of a target and every key of --pass-config that is read: it changes what is made, or
// says that it does not. The tables below must name each one that is said to change something.
#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/driver/compile.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/passes/pass_config.h"
#include "core/base/file.h"
#include "core/base/option_code.h"
#include "core/ir/tir/text.h"
#include "core/target/ignored_options.h"
#include "core/target/target_kind.h"
#include "tests/support/environment.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

using Models = std::map<std::string, std::shared_ptr<const Loaded>>;

/// Small models that have what the options are about.
std::shared_ptr<const Loaded> model(const std::string& name)
{
    static Models known;
    std::shared_ptr<const Loaded>& found = known[name];
    if (found) return found;
    const test::ZooOptions size = name == "dscnn"    ? test::ZooOptions{.channelDivisor = 4}
                                  : name == "resnet" ? test::ZooOptions{.imageSize = 64}
                                                     : test::ZooOptions{.imageSize = 224};
    const auto bytes =
        std::make_shared<const std::string>(name == "dscnn"    ? test::makeDscnn(size)
                                            : name == "resnet" ? test::makeResnet18(size)
                                                               : test::makeMobilenetV2(size));
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, "", "zoo.onnx", {});
    CHECK(loaded) << loaded.error().text();
    found = std::make_shared<const Loaded>(std::move(*loaded));
    return found;
}

CompileResultPtr compiled(const std::string& name, CompileOptions how)
{
    how.service = schedulingKernelService();
    JobContext job(2);
    auto result = compile(model(name), how, job);
    CHECK(result) << how.target << ": " << result.error().text();
    return *result;
}

/// C source without the comments that name the target.
std::string sourceOf(const CompileResult& result, CInterface interface)
{
    auto sources = programSources(result, interface);
    CHECK(sources) << sources.error().text();
    std::string out;
    for (const SourceFile& source : *sources) {
        const size_t from = source.text.find(" for the target ");
        const size_t to = source.text.find("`.", from);
        out += source.text.substr(0, from) + source.text.substr(to);
    }
    return out;
}

/// Everything that is made: loops, machine code of one kernel, places of values.
std::string productOf(const CompileResult& result)
{
    std::string out;
    for (const CompiledKernel& kernel : result.kernels) out += kernel.scheduledText;
    for (const Placement& placement : result.memory.plan.placements)
        out += std::to_string(placement.offset) + " ";
    if (result.machine.backEnd->sources) return out + sourceOf(result, CInterface::Structs);
    const auto lowered = tir::parsePrimFunc(result.kernels.front().loweredText);
    CHECK(lowered) << lowered.error().text();
    const auto object = emitKernel({*lowered, "kernel", result.facts.vectorBytes}, result.machine,
                                   EmitForm::Object);
    CHECK(object) << object.error().text();
    return out + *object;
}

std::string productFor(const std::string& name, const std::string& target)
{
    return productOf(*compiled(name, {.target = target}));
}

struct Change
{
    const char* name;   ///< of the option
    const char* target; ///< without it
    const char* value;
    const char* model = "dscnn";
};

constexpr const char* kArm64 = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";
constexpr const char* kFourCores = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4";
constexpr const char* kArm32 = "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7";
constexpr const char* kX86 = "llvm -mtriple=x86_64-linux-gnu";
constexpr const char* kRiscv = "llvm -mtriple=riscv64-linux-gnu";

constexpr Change kLlvm[] = {{"mattr", kX86, "+avx,+avx2,+fma"},
                            {"mcpu", kX86, "skylake-avx512"},
                            {"mtriple", "llvm -num-cores=1", "aarch64-linux-gnu"},
                            {"mfloat-abi", kArm32, "softfp"},
                            {"mabi", kRiscv, "lp64"},
                            {"num-cores", kArm64, "4", "resnet"},
                            {"machine", kFourCores, "fork_cycles=100000000", "resnet"},
                            {"opt-level", kArm64, "0"}};
constexpr Change kC[] = {{"mcpu", "c", "cortex-m4"},
                         {"march", "c", "armv7e-m"},
                         {"mfloat-abi", "c", "hard"},
                         {"mfpu", "c", "fpv4-sp-d16"},
                         {"workspace-byte-alignment", "c", "64"},
                         {"constants-byte-alignment", "c", "64"}};
constexpr Change kHexagon[] = {{"mattr", "hexagon", "-packets"},
                               {"mcpu", "hexagon", "v68"},
                               {"num-cores", "hexagon", "4", "resnet"}};
const std::map<std::string, std::span<const Change>> kChanges = {
    {"llvm", kLlvm}, {"c", kC}, {"hexagon", kHexagon}};

TEST(TargetOptions, changeWhatIsMade)
{
    std::map<std::string, std::string> made; // of the targets without the option
    for (const auto& [kind, changes] : kChanges)
        for (const Change& change : changes) {
            SCOPED_TRACE(kind + " -" + change.name);
            std::string& before = made[std::string(change.model) + change.target];
            if (before.empty()) before = productFor(change.model, change.target);
            const std::string with =
                std::string(change.target) + " -" + change.name + "=" + change.value;
            EXPECT_TRUE(noEffectOf(*parseTarget(with), change.name).empty());
            EXPECT_TRUE(before != productFor(change.model, with));
        }
}

/// A value that the option takes.
std::string valueFor(const TargetOption& option)
{
    if (option.name == "jit") return "mcjit";
    if (option.name == "mattr") return "+x";
    if (option.name == "machine") return "cortex-m4";
    if (option.type == OptionType::Integer || option.type == OptionType::Boolean) return "1";
    return option.type == OptionType::Target ? "llvm" : "x";
}

TEST(TargetOptions, sayWhenTheyChangeNothing)
{
    auto manual = readFile(test::sourcePath("resources/manual/targets.md"));
    ASSERT_TRUE(manual);
    for (const TargetKind& kind : allTargetKinds()) {
        if (kind.state != KindState::Generates) continue;
        for (const std::string& name : targetOptionNames(kind)) {
            SCOPED_TRACE(std::string(kind.name) + " -" + name);
            const TargetOption& option = *findTargetOption(kind, name);
            const std::span<const Change> changes = kChanges.at(std::string(kind.name));
            const bool isChange = std::any_of(changes.begin(), changes.end(),
                                              [&](const Change& c) { return c.name == name; });
            EXPECT_EQ(option.noEffect.empty(), isChange || name == "tag");
            if (option.noEffect.empty()) continue;
            EXPECT_NE(manual->find("`-" + name + "`"), std::string::npos) << "not in the manual";
            const auto target = parseTarget(std::string(kind.name) + " -" + name + "=" +
                                            (name == "mtriple" ? "hexagon" : valueFor(option)));
            ASSERT_TRUE(target) << target.error().text();
            const std::vector<Diagnostic> said = ignoredOptions(*target);
            ASSERT_EQ(said.size(), name == "device" ? 1u : said.size());
            ASSERT_FALSE(said.empty());
            EXPECT_EQ(said[0].code, OptionCode::NoEffect);
            EXPECT_NE(said[0].message.find("`-" + name + "`"), std::string::npos)
                << said[0].message;
        }
    }
}

TEST(TargetOptions, saysNothingOfWhatNobodyGave)
{
    for (const char* plain :
         {"llvm -mcpu=native", kArm64, kArm32, kRiscv, "c -mcpu=cortex-m4", "hexagon",
          "raspberry-pi/4b-aarch64", "aws/cpu/c5.large", "llvm -fast-math=0"}) {
        const auto target = parseTarget(plain);
        ASSERT_TRUE(target);
        EXPECT_TRUE(ignoredOptions(*target).empty()) << plain;
        if (target->tag.empty()) {
            EXPECT_TRUE(ignoredOptions(*parseTarget(target->text())).empty()) << target->text();
        }
    }
    EXPECT_EQ(ignoredOptions(*parseTarget(std::string(kArm64) + " -mfloat-abi=hard")).size(), 1u);
}

TEST(TargetOptions, refusesKindsWithTheReason)
{
    for (const TargetKind& kind : allTargetKinds()) {
        EXPECT_EQ(kind.why.empty(), kind.state == KindState::Generates) << kind.name;
        const auto target = parseTarget(kind.name);
        if (!target || kind.state == KindState::Generates) continue;
        JobContext job;
        const auto result = compile(model("dscnn"), {.target = std::string(kind.name)}, job);
        ASSERT_FALSE(result) << kind.name;
        EXPECT_EQ(result.error().code, DiagnosticCode::UnsupportedTarget);
        EXPECT_NE(result.error().message.find(kind.why), std::string::npos);
        const bool isForGood = result.error().message.find("none will be") != std::string::npos;
        EXPECT_EQ(isForGood, kind.state == KindState::Declined) << kind.name;
    }
}

TEST(TargetOptions, refusesWhatCannotBe)
{
    JobContext job;
    const auto errorOf = [&](const std::string& target) {
        const auto result = compile(model("dscnn"), {.target = target}, job);
        return result ? "compiled" : result.error().location.detail;
    };
    EXPECT_EQ(errorOf(std::string(kArm32) + " -mfloat-abi=soft"), "mfloat-abi");
    EXPECT_EQ(errorOf("c -constants-byte-alignment=3"), "constants-byte-alignment");
    EXPECT_EQ(errorOf("c -workspace-byte-alignment=-16"), "workspace-byte-alignment");
    EXPECT_EQ(errorOf("llvm -num-cores=0"), "num-cores");
    EXPECT_EQ(errorOf("llvm -opt-level=9"), "opt-level");
}

struct KeyChange
{
    const char* key;
    const char* value;
    const char* model;
    /// For a processor that nearly all of it is about.
    const char* target = "llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512 -num-cores=1";
};

constexpr KeyChange kKeyChanges[] = {{"fuse_rows", "0", "mobilenet"},
                                     {"relax.FuseOps.max_depth", "1", "dscnn"},
                                     {"relay.FuseOps.max_depth", "1", "dscnn"},
                                     {"tir.disable_vectorize", "1", "dscnn"},
                                     {"tir.usmp.algorithm", "linear_scan", "dscnn"},
                                     {"tir.usmp.enable", "0", "dscnn"},
                                     {"tir.usmp.use_workspace_io", "1", "dscnn", "c"},
                                     {"winograd.max_error", "0", "resnet"},
                                     {"winograd.output_error", "0", "resnet"}};

/// Loops and plan with the configuration.
std::string configured(const KeyChange& change, const std::vector<std::string>& config)
{
    const auto result = compiled(change.model, {.target = change.target, .passConfig = config});
    return result->memory.plan.algorithm + " " + std::to_string(result->memory.workspaceBytes()) +
           productOf(*result);
}

TEST(PassConfigKeys, changeWhatIsMadeOrSayTheyDoNot)
{
    auto manual = readFile(test::sourcePath("resources/manual/targets.md"));
    ASSERT_TRUE(manual);
    std::map<std::string, std::string> made;
    for (const PassConfigKey& key : allPassConfigKeys()) {
        SCOPED_TRACE(key.name);
        EXPECT_NE(manual->find("`" + std::string(key.name) + "`"), std::string::npos);
        const auto* change = std::find_if(std::begin(kKeyChanges), std::end(kKeyChanges),
                                          [&](const KeyChange& c) { return c.key == key.name; });
        EXPECT_EQ(key.noEffect.empty(), change != std::end(kKeyChanges));
        const bool isText = key.type == PassConfigKey::Type::Text;
        const std::string value = change != std::end(kKeyChanges) ? change->value
                                  : isText                        ? "x"
                                                                  : "1";
        const std::string entry = std::string(key.name) + "=" + value;
        const std::vector<Diagnostic> said = ignoredPassConfig(*parsePassConfig({entry}));
        EXPECT_EQ(said.size(), key.noEffect.empty() ? 0u : 1u);
        if (!key.noEffect.empty()) {
            EXPECT_EQ(said[0].code, OptionCode::NoEffect);
            EXPECT_NE(said[0].message.find(key.name), std::string::npos);
            continue;
        }
        std::string& before = made[std::string(change->model) + change->target];
        if (before.empty()) before = configured(*change, {});
        EXPECT_TRUE(before != configured(*change, {entry}));
    }
}

TEST(PassConfigKeys, reachTheResultsRemarks)
{
    const auto result = compiled(
        "dscnn", {.target = "llvm -num-cores=1 -libs=cblas", .passConfig = {"tir.noalias=0"}});
    ASSERT_EQ(result->remarks.size(), 2u);
    EXPECT_NE(result->remarks[0].message.find("`-libs`"), std::string::npos);
    EXPECT_NE(result->remarks[1].message.find("tir.noalias"), std::string::npos);
}

TEST(PassConfigKeys, planMemoryAsTheySay)
{
    const auto planned = [](const std::vector<std::string>& config) {
        return compiled("dscnn", {.target = "llvm -num-cores=1", .passConfig = config})
            ->memory.plan;
    };
    EXPECT_EQ(planned({"tir.usmp.algorithm=greedy_by_size"}).algorithm, "greedy_by_size");
    const MemoryPlan apart = planned({"tir.usmp.enable=0"});
    EXPECT_EQ(apart.algorithm, kNoSharing);
    EXPECT_GT(apart.totalBytes(), planned({}).totalBytes());
    JobContext job;
    for (const std::vector<std::string>& config : std::vector<std::vector<std::string>>{
             {"tir.usmp.algorithm=best"}, {"tir.usmp.algorithm=exact", "tir.usmp.enable=0"}})
        EXPECT_FALSE(compile(model("dscnn"), {.passConfig = config}, job));
    const auto twice =
        compile(model("dscnn"),
                {.passConfig = {"tir.usmp.algorithm=exact"}, .planner = "linear_scan"}, job);
    ASSERT_FALSE(twice);
    EXPECT_NE(twice.error().message.find("contradicts"), std::string::npos);
}

TEST(PassConfigKeys, leaveNoVectorLoops)
{
    const auto result =
        compiled("dscnn", {.target = kArm64, .passConfig = {"tir.disable_vectorize=1"}});
    for (const CompiledKernel& kernel : result->kernels)
        EXPECT_EQ(kernel.scheduledText.find("T.vectorized"), std::string::npos) << kernel.name;
}

TEST(CInterfaces, giveThePointersThemselves)
{
    const auto result = compiled("dscnn", {.target = "c -mcpu=cortex-m4"});
    const std::string source = sourceOf(*result, CInterface::Unpacked);
    EXPECT_NE(source.find("int32_t tvmgen_default_run(void* in_"), std::string::npos);
    EXPECT_EQ(source.find("struct tvmgen_default_inputs"), std::string::npos);
    EXPECT_EQ(source.find("TVMValue"), std::string::npos);
}

} // namespace
} // namespace tenon::compiler
