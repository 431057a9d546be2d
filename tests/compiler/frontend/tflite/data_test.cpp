// SPDX-License-Identifier: Apache-2.0
// Real .tflite models from outside: each imports without errors, its picture operators stay
// channels first, and every operator of the file is in the module or in the ledger.
#include "compiler/frontend/load_model.h"
#include "core/ir/graph_verify.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace tenon::compiler {
namespace {

/// Every folder of the set that has a model.
std::vector<std::string> modelsOf(const std::string& set)
{
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(test::dataPath(set)))
        if (std::filesystem::is_regular_file(entry.path() / "model.tflite"))
            out.push_back((entry.path() / "model.tflite").string());
    std::sort(out.begin(), out.end());
    return out;
}

void expectWhole(const Loaded& loaded)
{
    for (const Diagnostic& d : loaded.diagnostics)
        EXPECT_NE(d.severity, Severity::Error) << d.text();
    EXPECT_FALSE(hasErrors(verifyModule(loaded.module)));
    std::vector<int> seen(loaded.module.sources().size(), 0);
    std::vector<bool> isAlive(seen.size(), false);
    for (const NodeId id : loaded.module.main().order)
        for (const SourceId source : loaded.module.node(id).origin) isAlive[source.value] = true;
    for (const Change& change : loaded.changes)
        for (const SourceId source : change.origin) ++seen[source.value];
    for (size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(seen[i] + isAlive[i], 1) << loaded.module.sources()[i].name;
}

TEST(TfliteData, EveryModelImportsWhole)
{
    for (const char* set : {"tflite", "tflite-ops"}) {
        TENON_NEED_DATA(set);
        for (const std::string& path : modelsOf(set)) {
            SCOPED_TRACE(path);
            const auto loaded = loadModel(path, {});
            ASSERT_TRUE(loaded) << loaded.error().text();
            expectWhole(*loaded);
        }
    }
}

/// Moves of data, those of weights aside, which are folded.
size_t movesOfData(const Module& module)
{
    size_t count = 0;
    for (const NodeId id : module.main().order) {
        const NodeRecord& node = module.node(id);
        if (node.op != "transpose") continue;
        count += module.node(node.operands[0].node).kind != NodeKind::Constant;
    }
    return count;
}

TEST(TfliteData, PicturesStayChannelsFirst)
{
    TENON_NEED_DATA("tflite");
    // One move where the model's picture comes in and has several channels, and none inside.
    const std::pair<const char*, size_t> kWanted[] = {{"kws-dscnn-int8", 0},
                                                      {"kws-dscnn-float", 0},
                                                      {"resnet8-fp32", 1},
                                                      {"resnet8-int8", 1},
                                                      {"vww-mobilenetv1-int8", 1},
                                                      {"mobilenet-v1-025-128-uint8", 1},
                                                      {"mobilenet-v2-tf2-ptq-uint8", 1},
                                                      {"person-detect-int8", 0}};
    for (const auto& [name, wanted] : kWanted) {
        const auto loaded =
            loadModel(test::dataPath("tflite/" + std::string(name) + "/model.tflite"), {});
        ASSERT_TRUE(loaded) << loaded.error().text();
        EXPECT_EQ(movesOfData(loaded->module), wanted) << name;
    }
}

} // namespace
} // namespace tenon::compiler
