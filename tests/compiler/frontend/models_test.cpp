// SPDX-License-Identifier: Apache-2.0
// Real models from outside: they import without errors, or with exactly the errors they deserve.
#include "compiler/frontend/import_report.h"
#include "compiler/frontend/load_model.h"
#include "core/ir/graph_verify.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

class GoodModel : public ::testing::TestWithParam<const char*>
{
};

TEST_P(GoodModel, ImportsWithoutErrors)
{
    const std::string path = std::string(GetParam()) + "/model.onnx";
    TENON_NEED_DATA(path);
    const auto loaded = loadModel(test::dataPath(path), {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    for (const Diagnostic& d : loaded->diagnostics)
        EXPECT_NE(d.severity, Severity::Error) << d.text();
    EXPECT_FALSE(hasErrors(verifyModule(loaded->module)));

    // Every node of the file is in the module or in the ledger, never in both.
    std::vector<int> seen(loaded->module.sources().size(), 0);
    std::vector<bool> isAlive(seen.size(), false);
    for (const NodeId id : loaded->module.main().order)
        for (const SourceId source : loaded->module.node(id).origin) isAlive[source.value] = true;
    for (const Change& change : loaded->changes)
        for (const SourceId source : change.origin) ++seen[source.value];
    for (size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(seen[i] + isAlive[i], 1) << loaded->module.sources()[i].name;
}

INSTANTIATE_TEST_SUITE_P(Exported, GoodModel,
                         ::testing::Values("exported/bert_tiny", "exported/bilstm",
                                           "exported/ic_resnet8", "exported/ic_resnet8_bn",
                                           "exported/kws_dscnn", "exported/kws_dscnn_bn",
                                           "exported/mobilenet_v2", "exported/mobilenet_v2_bn",
                                           "exported/resnet18", "exported/squeezenet1_1",
                                           "exported/unet_small", "exported/vit_tiny"));
INSTANTIATE_TEST_SUITE_P(
    Trained, GoodModel,
    ::testing::Values("models/dtln-1-lstm", "models/mlperftiny-ad-autoencoder-int8",
                      "models/mlperftiny-kws-int8", "models/mlperftiny-resnet8-int8",
                      "models/mlperftiny-vww-mobilenetv1-fp32",
                      "models/mlperftiny-vww-mobilenetv1-int8", "models/mnist-cnn",
                      "models/speech-commands-cnn", "models/squeezenet1-fp16",
                      "models/super-resolution-core", "models/ultraface-rfb-320",
                      "models/yolox-nano"));
// Their batch stays open.
INSTANTIATE_TEST_SUITE_P(Dynamic, GoodModel,
                         ::testing::Values("invalid-models/ezkl-nanogpt",
                                           "invalid-models/ezkl-self-attention",
                                           "models/basic-pitch", "models/byte-sb-bidi-lstm",
                                           "models/ezkl-ltsf", "models/magika-v1"));

struct BadModel
{
    const char* name;
    std::vector<std::string> operators; ///< that the errors must name
};

class InvalidModel : public ::testing::TestWithParam<BadModel>
{
};

TEST_P(InvalidModel, OpensAndSaysWhy)
{
    const std::string path = std::string("invalid-models/") + GetParam().name + "/model.onnx";
    TENON_NEED_DATA(path);
    const auto loaded = loadModel(test::dataPath(path), {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_TRUE(hasErrors(loaded->diagnostics));
    for (const std::string& op : GetParam().operators) {
        bool isNamed = false;
        for (const Diagnostic& d : loaded->diagnostics)
            isNamed = isNamed || (d.severity == Severity::Error && d.location.op == op &&
                                  !d.location.node.empty());
        EXPECT_TRUE(isNamed) << op;
    }
    EXPECT_EQ(loaded->module.sources().size(), loaded->facts.nodeCount);
    // Everything that stops the import says what would help.
    for (const NodeReport& node : importReport(*loaded).nodes)
        if (node.verdict == NodeVerdict::Unsupported || node.verdict == NodeVerdict::Invalid) {
            EXPECT_NE(node.why.find_first_of(";:"), std::string::npos) << node.why;
        }
}

INSTANTIATE_TEST_SUITE_P(
    All, InvalidModel,
    ::testing::Values(BadModel{"pcb-aoi-fp32", {"FC", "ImageScaler", "LegacyPadding"}},
                      BadModel{"style-candy", {"Affine", "Crop", "ImageScaler"}},
                      BadModel{"super-resolution-espcn",
                               {"SuperResolutionPostProcess", "SuperResolutionPreProcess"}}));

} // namespace
} // namespace tenon::compiler
