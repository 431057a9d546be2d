// SPDX-License-Identifier: Apache-2.0
// The zoo itself: parses, is deterministic, has the published sizes.
#include "compiler/frontend/onnx/onnx.pb.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tenon::test {
namespace {

struct Summary
{
    int nodes = 0;
    int64_t parameters = 0;
    int64_t trained = 0; ///< without running statistics and constants
    std::map<std::string, int> ops;
    bool areNamesUnique = true;
    bool areInputsDefined = true;
};

bool isTrained(const tenon_onnx::TensorProto& tensor)
{
    const std::string& name = tensor.name();
    return tensor.data_type() == tenon_onnx::TensorProto::FLOAT && tensor.dims_size() > 0 &&
           name.find(".running_") == std::string::npos && !name.ends_with(".scales");
}

Summary summaryOf(const std::string& bytes)
{
    tenon_onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(bytes));
    Summary summary;
    std::set<std::string> defined;
    std::set<std::string> names;
    for (const auto& input : model.graph().input()) defined.insert(input.name());
    for (const auto& tensor : model.graph().initializer()) {
        int64_t count = 1;
        for (const int64_t d : tensor.dims()) count *= d;
        summary.parameters += count;
        if (isTrained(tensor)) summary.trained += count;
        summary.areNamesUnique &= defined.insert(tensor.name()).second;
    }
    for (const auto& node : model.graph().node()) {
        ++summary.nodes;
        ++summary.ops[node.op_type()];
        summary.areNamesUnique &= names.insert(node.name()).second;
        for (const auto& name : node.input())
            summary.areInputsDefined &= name.empty() || defined.count(name) == 1;
        for (const auto& name : node.output())
            summary.areNamesUnique &= defined.insert(name).second;
    }
    for (const auto& output : model.graph().output())
        summary.areInputsDefined &= defined.count(output.name()) == 1;
    return summary;
}

TEST(Zoo, namesEveryNodeOnceAndReadsOnlyWhatIsDefined)
{
    for (const ZooEntry& entry : zooEntries()) {
        const Summary summary = summaryOf(entry.make({.channelDivisor = 8, .nodes = 100}));
        EXPECT_TRUE(summary.areNamesUnique) << entry.name;
        EXPECT_TRUE(summary.areInputsDefined) << entry.name;
    }
}

TEST(Zoo, isEqualForEqualSeedsOnly)
{
    EXPECT_EQ(makeDscnn({.seed = 3}), makeDscnn({.seed = 3}));
    EXPECT_NE(makeDscnn({.seed = 3}), makeDscnn({.seed = 4}));
}

TEST(Zoo, hasThePublishedParameterCounts)
{
    // Published counts are without the running statistics; both are given as sums here.
    const Summary resnet18 = summaryOf(makeResnet18());
    EXPECT_EQ(resnet18.parameters, 11'689'512 + 2 * 4'800);
    EXPECT_EQ(resnet18.ops.at("Conv"), 20);
    const Summary resnet50 = summaryOf(makeResnet50());
    EXPECT_EQ(resnet50.parameters, 25'557'032 + 2 * 26'560);
    EXPECT_EQ(resnet50.ops.at("Conv"), 53);
    const Summary mobilenet = summaryOf(makeMobilenetV2());
    EXPECT_EQ(mobilenet.ops.at("Conv"), 52);
    EXPECT_EQ(mobilenet.ops.at("Clip"), 35);
    EXPECT_EQ(mobilenet.parameters, 3'504'872 + 2 * 17'056 + 2 * 35); // 35 pairs of clip bounds
}

TEST(Zoo, trainsAsManyParametersAsThePapersAndTorchvisionSay)
{
    const std::pair<std::string (*)(const ZooOptions&), int64_t> kPublished[] = {
        {makeConvnextTiny, 28'589'128},
        {makeDcgan, 3'576'704},
        {makeDensenet121, 7'978'856},
        {makeEfficientnetB0, 5'288'548},
        {makeEfficientnetV2Small, 21'458'488},
        {makeMlpMixer, 18'528'264},
        {makeMnasnet, 4'383'312},
        {makeMobilenetV3Large, 5'483'032},
        {makeMobilenetV3Small, 2'542'856},
        {makeR3d18, 33'371'472},
        {makeRegnetX400, 5'495'976},
        {makeRegnetY400, 4'344'144},
        {makeRegnetY800, 6'432'512},
        {makeResnext50, 25'028'904},
        {makeShufflenetV2, 2'278'604},
        {makeSqueezenet, 1'235'496},
        {makeUnetBrain, 7'763'041},
        {makeVitSmall, 22'050'664},
        {makeLraspp, 3'221'538}};
    for (const auto& [make, parameters] : kPublished) {
        tenon_onnx::ModelProto model;
        const std::string bytes = make({});
        model.ParseFromString(bytes);
        EXPECT_EQ(summaryOf(bytes).trained, parameters) << model.graph().name();
    }
}

TEST(Zoo, makesASyntheticModelOfExactlyTheWantedSize)
{
    for (const int64_t nodes : {1, 5, 6, 50, 51, 52, 1000, 10000})
        EXPECT_EQ(summaryOf(makeSynthetic({.nodes = nodes})).nodes, nodes);
}

TEST(Zoo, knowsItsNames)
{
    EXPECT_EQ(makeZooModel("no_such_model"), "");
    EXPECT_EQ(makeZooModel("dscnn"), makeDscnn());
}

} // namespace
} // namespace tenon::test
