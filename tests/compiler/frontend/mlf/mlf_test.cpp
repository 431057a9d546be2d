// SPDX-License-Identifier: Apache-2.0
// Model Library Format archives: what Tenon wrote is read back, what others wrote is described,
// and what is hostile is refused by name.
#include "compiler/executor/params.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/mlf/model_library_file.h"
#include "core/base/file.h"
#include "core/ir/graph_text.h"
#include "tests/compiler/frontend/mlf/tar_bytes.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

using test::TarPart;

constexpr const char* kModel =
    "def @main(%x: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] {\n"
    "  %0 = nn.relu(%x) : Tensor[(1, 4), float32]\n"
    "  return %0 as \"y\"\n}\n";

/// What Tenon writes, with one text in the place of another.
std::string metadata(const std::string& from = "", const std::string& to = "")
{
    std::string text = R"({"version": 7, "modules": {"default": {
        "model_name": "default", "export_datetime": "2026-01-01 00:00:00Z", "style": "full-model",
        "target": ["c -mcpu=cortex-m4"], "executors": ["aot"],
        "producer": {"name": "Tenon", "version": "1", "model": "net"},
        "memory": {"functions": {"main": [{"device": 1, "workspace_size_bytes": 4096,
            "constants_size_bytes": 12, "io_size_bytes": 32,
            "inputs": {"x": {"size": 16, "dtype": "float32"}},
            "outputs": {"y": {"size": 16, "dtype": "float32"}}}], "operator_functions": []}}}}})";
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    return text;
}

std::string archive(const std::vector<TarPart>& parts)
{
    std::string out;
    for (const TarPart& part : parts) out += test::tarPart(part);
    return out + test::tarEnd();
}

std::vector<TarPart> parts(const std::string& json, const std::string& text = kModel)
{
    return {{"./", "", '5'},
            {"./metadata.json", json},
            {"./src/default.relay", text},
            {"./src/default.constants", paramsBlob({})}};
}

class ModelLibrary : public testing::Test
{
protected:
    Result<Loaded> load(const std::string& bytes)
    {
        m_path = m_folder.file("m.tar");
        EXPECT_TRUE(writeFileAtomically(m_path, bytes));
        return loadModel(m_path, {});
    }
    /// The message, which is of BadModel.
    std::string refusal(const std::string& bytes)
    {
        const auto loaded = load(bytes);
        if (loaded) return "";
        EXPECT_EQ(loaded.error().code, DiagnosticCode::BadModel) << loaded.error().text();
        EXPECT_EQ(loaded.error().location.file, m_path);
        return loaded.error().message;
    }
    std::string refused(std::vector<TarPart> all, TarPart more)
    {
        all.push_back(std::move(more));
        return refusal(archive(all));
    }

    test::TemporaryFolder m_folder;
    std::string m_path;
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(ModelLibrary, IsReadAsTheModelThatItHolds)
{
    const auto loaded = load(archive(parts(metadata())));
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_TRUE(loaded->diagnostics.empty());
    EXPECT_EQ(printModule(loaded->module), kModel);
    EXPECT_EQ(loaded->facts.format, "mlf");
    EXPECT_EQ(loaded->facts.producer, "Tenon");
    const auto& rows = loaded->facts.metadata;
    const auto has = [&](const char* key, const char* value) {
        return std::find(rows.begin(), rows.end(),
                         std::pair<std::string, std::string>(key, value)) != rows.end();
    };
    EXPECT_TRUE(has("workspace", "4,096 bytes"));
    EXPECT_TRUE(has("target", "c -mcpu=cortex-m4"));
    EXPECT_TRUE(has("executor", "aot"));
    EXPECT_TRUE(isModelLibraryFile(m_path));
}

TEST_F(ModelLibrary, OfAnotherToolIsDescribedAndCannotBeCompiled)
{
    const auto loaded = load(archive(
        parts(metadata(R"("name": "Tenon")", R"("name": "x")"), "#[version = \"0.0.5\"]\n")));
    ASSERT_TRUE(loaded) << loaded.error().text();
    ASSERT_EQ(loaded->diagnostics.size(), 1u);
    EXPECT_EQ(loaded->diagnostics[0].code, DiagnosticCode::UnsupportedFeature);
    ASSERT_EQ(loaded->facts.inputs.size(), 1u);
    EXPECT_EQ(loaded->facts.inputs[0].name, "x");
    EXPECT_EQ(loaded->facts.inputs[0].dtype, "float32");
}

TEST_F(ModelLibrary, RefusesMembersThatAreNoFiles)
{
    const auto good = parts(metadata());
    EXPECT_SAYS(refused(good, {"./a", "", '2', "/etc/passwd"}), "member `./a` is a link");
    EXPECT_SAYS(refused(good, {"./a", "", '1', "metadata.json"}), "member `./a` is a link");
    EXPECT_SAYS(refused(good, {"./a", "", '3'}), "neither a file nor a folder");
    EXPECT_SAYS(refused(good, {"../a", "x"}), "leaves the archive");
    EXPECT_SAYS(refused(good, {"./src/../../a", "x"}), "leaves the archive");
    EXPECT_SAYS(refused(good, {"/etc/a", "x"}), "path from the root");
    EXPECT_SAYS(refused(good, {"metadata.json", "{}"}), "`metadata.json` is there twice");
}

TEST_F(ModelLibrary, RefusesSizesThatTheArchiveDoesNotHold)
{
    const auto good = parts(metadata());
    TarPart huge{"./src/a", "x"};
    huge.size = int64_t{1} << 32;
    EXPECT_SAYS(refused(good, huge), "says that it has 4294967296 bytes");
    std::string cut = archive(good);
    cut.resize(1024 + 256); // in the middle of metadata.json
    EXPECT_FALSE(refusal(cut).empty());
    TarPart damaged{"./a", "x"};
    damaged.isDamaged = true;
    EXPECT_SAYS(refused(good, damaged), "damaged");
}

TEST_F(ModelLibrary, RefusesMetadataThatBreaksTheFormat)
{
    EXPECT_SAYS(refusal(archive({{"./default.o", "x"}})), "no member `metadata.json`");
    EXPECT_FALSE(isModelLibraryFile(m_path));
    EXPECT_SAYS(refusal(archive(parts("{\"version\": "))), "metadata.json: is no JSON");
    EXPECT_SAYS(refusal(archive(parts("[]"))), "is no object");
    EXPECT_SAYS(refusal(archive(parts("{}"))), "`version` is no integer");
    EXPECT_SAYS(refusal(archive(parts(metadata("7", "8")))), "`version` is 8; Tenon reads 7");
    EXPECT_SAYS(refusal(archive(parts("{\"version\": 7, \"modules\": {}}"))), "names no model");
    EXPECT_SAYS(refusal(archive(parts(metadata("\"memory\"", "\"x\"")))), "`memory` is missing");
    EXPECT_SAYS(refusal(archive(parts(metadata("4096", "-1")))),
                "`workspace_size_bytes` is no number of bytes");
    EXPECT_SAYS(refusal(archive(parts(metadata("\"inputs\"", "\"x\"")))), "`inputs` is no object");
}

TEST_F(ModelLibrary, RefusesWhatIsNoSingleModel)
{
    const auto two = load(archive(parts(metadata("\"modules\": {", "\"modules\": {\"a\": {}, "))));
    ASSERT_FALSE(two);
    EXPECT_EQ(two.error().code, DiagnosticCode::UnsupportedFeature);
    EXPECT_SAYS(two.error().message, "holds 2 models");
    const auto one = load(archive(parts(R"({"version": 7, "style": "operator"})")));
    ASSERT_FALSE(one);
    EXPECT_SAYS(one.error().message, "a single operator");
}

TEST_F(ModelLibrary, RefusesAModelThatIsNotWhole)
{
    auto noText = parts(metadata());
    noText.erase(noText.begin() + 2);
    EXPECT_SAYS(refusal(archive(noText)), "no member `src/default.relay`");
    auto noConstants = parts(metadata());
    noConstants.pop_back();
    EXPECT_SAYS(refusal(archive(noConstants)), "no member `src/default.constants`");
    noConstants.push_back({"./src/default.constants", "nonsense"});
    EXPECT_FALSE(refusal(archive(noConstants)).empty());
    noConstants.back().content =
        paramsBlob({{"abc", Tensor::make(kFloat32, {1}, [](std::span<std::byte>) {})}});
    EXPECT_SAYS(refusal(archive(noConstants)), "not the one that its name");
    const auto bad = load(archive(parts(metadata(), "def @main(")));
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, DiagnosticCode::BadText);
}

} // namespace
} // namespace tenon::compiler
