// SPDX-License-Identifier: Apache-2.0
// Golden imports, good and bad, from model text.
#include "compiler/frontend/onnx/load_onnx.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"
#include "core/ir/graph_verify.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

Result<Loaded> load(const std::string& modelText, const ImportOptions& options = {})
{
    const auto bytes = std::make_shared<std::string>(test::modelOf(modelText).SerializeAsString());
    return loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, "", "model.onnx", options);
}

std::string diagnosticsText(const Loaded& loaded)
{
    std::string out;
    for (const Diagnostic& d : loaded.diagnostics) out += d.text() + "\n";
    return out;
}

std::string ledgerText(const Loaded& loaded)
{
    std::string out;
    for (const Change& change : loaded.changes)
        out += "folded " + loaded.module.sources()[change.origin[0].value].name + ": " +
               change.reason + "\n";
    return out;
}

std::string scopesText(const Loaded& loaded)
{
    std::string out;
    for (const SourceNode& source : loaded.module.sources())
        if (!source.scope.empty()) out += source.name + " in " + join(source.scope, " > ") + "\n";
    return out;
}

TEST(ImportOnnx, Goldens)
{
    test::expectGolden("tests/compiler/frontend/import.txt", [](const test::GoldenCase& c) {
        const auto loaded = load(c.input);
        if (!loaded) return loaded.error().text() + "\n";
        EXPECT_FALSE(hasErrors(verifyModule(loaded->module))) << c.title;
        return printModule(loaded->module) + ledgerText(*loaded) + scopesText(*loaded) +
               diagnosticsText(*loaded);
    });
}

TEST(ImportOnnx, BadModels)
{
    test::expectGolden("tests/compiler/frontend/bad_import.txt", [](const test::GoldenCase& c) {
        const auto loaded = load(c.input);
        if (!loaded) return loaded.error().text() + "\n";
        EXPECT_TRUE(hasErrors(loaded->diagnostics)) << c.title;
        // The model opens all the same: every node of the file is there.
        EXPECT_GE(loaded->module.sources().size(), loaded->facts.nodeCount);
        return diagnosticsText(*loaded);
    });
}

TEST(ImportOnnx, EverySourceIsInTheModuleOrTheLedger)
{
    const auto loaded = load("input x float32 2,3\n"
                             "ints zero int64 () = 0\n"
                             "node Shape shape x -> s\n"
                             "node Gather gather s,zero -> d\n"
                             "node Constant half () -> h value=t:float32:0.5\n"
                             "node Mul scale x,h -> m\n"
                             "node Identity id m -> y\n"
                             "output y float32 2,3\n");
    ASSERT_TRUE(loaded) << loaded.error().text();
    std::vector<int> seen(loaded->module.sources().size(), 0);
    std::vector<bool> isInModule(seen.size(), false);
    for (const NodeId id : loaded->module.main().order)
        for (const SourceId source : loaded->module.node(id).origin)
            isInModule[source.value] = true;
    for (size_t i = 0; i < seen.size(); ++i) seen[i] += isInModule[i];
    for (const Change& change : loaded->changes)
        for (const SourceId source : change.origin) ++seen[source.value];
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(ImportOnnx, BindsDynamicDimensions)
{
    const std::string text = "input x float32 n,3\ninput z float32 n,3\nnode Add add x,z -> y\n"
                             "output y float32 n,3\n";
    const auto open = load(text);
    ASSERT_TRUE(open);
    EXPECT_EQ(dynamicInputErrors(open->module).size(), 2u);

    // Binding one input fixes the dimension of the other, too.
    const auto bound = load(text, {.shapes = {{"z", {4, 3}}}});
    ASSERT_TRUE(bound);
    EXPECT_TRUE(bound->diagnostics.empty());
    EXPECT_TRUE(dynamicInputErrors(bound->module).empty());

    const auto byName = load(text, {.shapes = {{"n", {5}}}});
    ASSERT_TRUE(byName);
    EXPECT_TRUE(dynamicInputErrors(byName->module).empty());

    const auto wrong = load(text, {.shapes = {{"x", {4, 4}}}});
    ASSERT_TRUE(wrong);
    ASSERT_EQ(wrong->diagnostics.size(), 1u);
    EXPECT_EQ(wrong->diagnostics[0].code, DiagnosticCode::ShapeMismatch);

    const auto contradictory = load(text, {.shapes = {{"x", {4, 3}}, {"z", {5, 3}}}});
    ASSERT_TRUE(contradictory);
    EXPECT_TRUE(hasErrors(contradictory->diagnostics));

    const auto unknown = load(text, {.shapes = {{"w", {1, 3}}}});
    ASSERT_TRUE(unknown);
    ASSERT_TRUE(hasErrors(unknown->diagnostics));
    EXPECT_EQ(unknown->diagnostics[0].code, DiagnosticCode::UnknownName);
}

TEST(ImportOnnx, KeepsFacts)
{
    auto model = test::modelOf("opset 13\nopset com.example 2\ninput x float32 n,3\n"
                               "init w float32 3\nnode Add add x,w -> y\noutput y float32 n,3\n");
    auto& entry = *model.add_metadata_props();
    entry.set_key("Image.BitmapPixelFormat");
    entry.set_value("Gray8");
    const auto bytes = std::make_shared<std::string>(model.SerializeAsString());
    const auto loaded = loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, "", "m", {});
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->facts.irVersion, 8);
    EXPECT_EQ(loaded->facts.opsets.size(), 2u);
    EXPECT_EQ(loaded->facts.metadata.at(0).second, "Gray8");
    EXPECT_EQ(shapeText(loaded->facts.inputs.at(0).shape), "(n, 3)");
    EXPECT_EQ(loaded->facts.parameterCount, 3);
    EXPECT_EQ(loaded->facts.opCounts.at("Add"), 1u);
}

} // namespace
} // namespace tenon::compiler
