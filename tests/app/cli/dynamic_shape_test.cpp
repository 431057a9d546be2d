// SPDX-License-Identifier: Apache-2.0
// Models compiled for a range of sizes: numbers as of models compiled for each size, sizes outside
// refused, memory planned at the bound.
#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/base/text.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"
#include "tests/zoo/model_builder.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

using nlohmann::json;

/// Seeded values in an ONNX tensor file: floats, or small integers.
std::string tensorFile(const std::vector<int64_t>& shape, bool isInteger)
{
    tenon_onnx::TensorProto tensor;
    int64_t count = 1;
    for (const int64_t dim : shape) {
        tensor.add_dims(dim);
        count *= dim;
    }
    tensor.set_data_type(isInteger ? tenon_onnx::TensorProto::INT64
                                   : tenon_onnx::TensorProto::FLOAT);
    uint64_t state = 7;
    for (int64_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        if (isInteger)
            tensor.add_int64_data(static_cast<int64_t>(state >> 60));
        else
            tensor.add_float_data(static_cast<float>(state >> 40) / (1 << 24) - 0.5f);
    }
    return tensor.SerializeAsString();
}

struct Subject
{
    const char* name;
    std::string (*make)(const test::ZooOptions&);
    test::ZooOptions options;
    std::vector<int64_t> item; ///< shape of one input without the batch
    bool isInteger;
};

std::ostream& operator<<(std::ostream& out, const Subject& subject) { return out << subject.name; }

class DynamicBatch : public ::testing::TestWithParam<Subject>
{
protected:
    void write(const std::string& name, const std::string& content)
    {
        std::filesystem::create_directories(
            std::filesystem::path(m_folder.file(name)).parent_path());
        std::ofstream(m_folder.file(name), std::ios::binary) << content;
    }
    std::string path(const std::string& name) const { return "'" + m_folder.file(name) + "'"; }
    std::string input(int64_t batch) const
    {
        std::vector<int64_t> shape = GetParam().item;
        shape.insert(shape.begin(), batch);
        return tensorFile(shape, GetParam().isInteger);
    }
    void writeModel()
    {
        test::ZooOptions options = GetParam().options;
        options.batch = -1;
        write("case/model.onnx", GetParam().make(options));
    }
    test::TemporaryFolder m_folder;
};

TEST_P(DynamicBatch, GivesTheNumbersOfStaticModels)
{
    writeModel();
    int set = 0;
    for (const int64_t batch : {1, 3, 4}) {
        const std::string folder = "case/test_data_set_" + std::to_string(set++);
        write(folder + "/input_0.pb", input(batch));
        const Outcome run = tenon(
            "run " + path("case/model.onnx") + " --shape batch=" + std::to_string(batch) +
            " --inputs " + path(folder + "/input_0.pb") + " --outputs " + path("out") + " 2>&1");
        ASSERT_EQ(run.code, 0) << run.output;
        std::filesystem::copy_file(m_folder.file("out/output_0.pb"),
                                   m_folder.file(folder + "/output_0.pb"));
    }
    for (const char* level : {"0", "3"}) {
        const Outcome verified =
            tenon("verify --shape batch=1..4 --opt-level " + std::string(level) +
                  " --rtol 1e-4 --atol 1e-5 " + path("case") + " 2>&1");
        EXPECT_EQ(verified.code, 0) << verified.output;
    }
}

TEST_P(DynamicBatch, RefusesSizesOutsideTheBounds)
{
    writeModel();
    const Outcome compiled = tenon("compile --json " + path("case/model.onnx") +
                                   " --shape batch=2..3 -o " + path("m.so") + " 2>/dev/null");
    ASSERT_EQ(compiled.code, 0) << compiled.output;
    const json report = json::parse(compiled.output);
    EXPECT_EQ(report["bounds"]["batch"], "2..3");
    EXPECT_EQ(report["executor"], "vm");
    EXPECT_GT(report["memory"]["workspace_bytes"], 0);
    EXPECT_GE(report["memory"]["workspace_bytes"], report["memory"]["lower_bound_bytes"]);
    EXPECT_EQ(tenon("run " + path("m.so") + " 2>&1").code, 0); // made-up inputs of 3 items
    for (const int64_t batch : {1, 4}) {
        write("in.pb", input(batch));
        const Outcome run = tenon("run " + path("m.so") + " --inputs " + path("in.pb") + " 2>&1");
        EXPECT_NE(run.code, 0);
        EXPECT_NE(run.output.find("dimension 0 (`batch`) is " + std::to_string(batch) +
                                  "; the model was compiled for 2 to 3"),
                  std::string::npos)
            << run.output;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Zoo, DynamicBatch,
    ::testing::Values(
        Subject{"dscnn", test::makeDscnn, {.channelDivisor = 4}, {1, 49, 10}, false},
        Subject{"mobilenet_v2",
                test::makeMobilenetV2,
                {.imageSize = 32, .channelDivisor = 4},
                {3, 32, 32},
                false},
        Subject{"transformer", test::makeTransformer, {.channelDivisor = 2}, {64}, true},
        Subject{"r3d_18",
                test::makeR3d18,
                {.imageSize = 32, .channelDivisor = 16},
                {3, 8, 32, 32},
                false},
        Subject{"tcn", test::makeTcn, {}, {1, 784}, false},
        Subject{"pointnet", test::makePointnet, {.channelDivisor = 16}, {3, 1024}, false},
        Subject{"t5_small_encoder", test::makeT5Encoder, {.channelDivisor = 16}, {64}, true}));

/// Windows of every kind over pictures of unknown rows and columns.
std::string pictureModel(const test::ZooOptions& options)
{
    test::ModelBuilder b("pictures", options, 18);
    using test::Dims;
    std::string x = b.input("x", tenon_onnx::TensorProto::FLOAT, {-1, 3, -2, -3});
    x = b.convBnRelu("/a", x, {.inputs = 3, .outputs = 8, .stride = 2});
    x = b.conv("/b", x, {.inputs = 8, .outputs = 8, .groups = 8});
    x = b.node("MaxPool", "/max", {x},
               {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}});
    const std::string up =
        b.node("ConvTranspose", "/up", {x, b.weight("up.weight", {8, 4, 3, 3}, 0.2)},
               {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}});
    std::string y = b.node("AveragePool", "/mean", {up},
                           {{"ceil_mode", int64_t{1}},
                            {"kernel_shape", Dims{3, 3}},
                            {"pads", Dims{1, 1, 1, 1}},
                            {"strides", Dims{2, 2}}});
    y = b.node("Pad", "/pad", {y, b.integers("pads", {0, 0, 1, 2, 0, 0, 3, 0})},
               {{"mode", std::string("edge")}});
    y = b.node("InstanceNormalization", "/norm",
               {y, b.weight("norm.scale", {4}, 0.1, 1), b.weight("norm.bias", {4}, 0.1)});
    y = b.node("GroupNormalization", "/groups",
               {y, b.weight("groups.scale", {2}, 0.1, 1), b.weight("groups.bias", {2}, 0.1)},
               {{"num_groups", int64_t{2}}});
    y = b.node("LRN", "/neighbours", {y}, {{"size", int64_t{3}}});
    y = b.node("DepthToSpace", "/shuffle", {y}, {{"blocksize", int64_t{2}}});
    y = b.node("SpaceToDepth", "/back", {y}, {{"blocksize", int64_t{2}}});
    y = b.node("Concat", "/both", {y, b.node("Relu", "/positive", {y})}, {{"axis", int64_t{1}}});
    b.output(b.classifier(y, 8, 5), "y", {-1, 5});
    return b.bytes();
}

/// Convolutions in blocks of channels over pictures of unknown rows and columns, which become
/// patches: windows, strides, addends, maxima, enlarging by 2 and by more than the window.
std::string patchModel()
{
    test::ModelBuilder b("patches", {});
    using test::Dims;
    std::string x = b.input("x", tenon_onnx::TensorProto::FLOAT, {-1, 16, -2, -3});
    const std::string first = b.convBnRelu("/first", x, {.inputs = 16, .outputs = 32});
    std::string y = b.conv("/wide", first, {.inputs = 32, .outputs = 32, .kernel = {5, 5}});
    y = b.relu("/sum/act", b.node("Add", "/sum", {y, first}));
    y = b.node("MaxPool", "/max", {y},
               {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}});
    y = b.node("AveragePool", "/mean", {y},
               {{"kernel_shape", Dims{3, 3}},
                {"pads", Dims{1, 1, 1, 1}},
                {"count_include_pad", int64_t{1}}});
    y = b.conv("/depthwise", y, {.inputs = 32, .outputs = 32, .groups = 32});
    y = b.convBnRelu("/point", y, {.inputs = 32, .outputs = 16, .kernel = {1, 1}});
    const std::string up =
        b.node("ConvTranspose", "/up", {y, b.weight("up.weight", {16, 16, 4, 4}, 0.2)},
               {{"kernel_shape", Dims{4, 4}}, {"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}});
    const std::string sparse =
        b.node("ConvTranspose", "/sparse", {up, b.weight("sparse.weight", {16, 8, 1, 2}, 0.2)},
               {{"kernel_shape", Dims{1, 2}}, {"strides", Dims{2, 3}}});
    y = b.conv("/last", sparse, {.inputs = 8, .outputs = 4});
    b.output(y, "y", {-1, 4, -2, -3});
    return b.bytes();
}

/// Operators that are decomposed by their shapes, of which the batch alone is open.
std::string batchModel()
{
    test::ModelBuilder b("batches", {}, 23);
    using test::Dims;
    const std::string x = b.input("x", tenon_onnx::TensorProto::FLOAT, {-1, 16, 4, 6});
    std::string y = b.node("ConvTranspose", "/up", {x, b.weight("up.weight", {16, 32, 2, 2}, 0.2)},
                           {{"strides", Dims{2, 2}}});
    y = b.node("LpPool", "/norm", {y}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
    y = b.node("Reshape", "/film", {y, b.integers("film", {0, 4, 8, 4, 6})});
    y = b.node("AveragePool", "/mean", {y},
               {{"kernel_shape", Dims{2, 3, 3}}, {"pads", Dims{0, 1, 1, 0, 1, 1}}});
    y = b.node("Hardmax", "/best", {y}, {{"axis", int64_t{4}}});
    y = b.node("Reshape", "/words", {y, b.integers("words", {0, 28, 24})});
    const std::string few = b.node("MatMul", "/few", {y, b.weight("few.weight", {24, 12}, 0.2)});
    y = b.node("Attention", "/attention", {y, few, few},
               {{"q_num_heads", int64_t{6}}, {"kv_num_heads", int64_t{3}}});
    b.output(y, "y", {-1, 28, 24});
    return b.bytes();
}

/// Pointwise, depthwise and pointwise convolutions by strips: what is between them outgrows a
/// quarter of the second-level cache of 2 MiB or less.
std::string stripModel(int64_t side)
{
    test::ModelBuilder b("strips", {});
    std::string x =
        b.input("x", tenon_onnx::TensorProto::FLOAT, {-1, 16, side, side < 0 ? side - 1 : side});
    x = b.convBnRelu("/expand", x, {.inputs = 16, .outputs = 64, .kernel = {1, 1}});
    x = b.convBnRelu("/slide", x, {.inputs = 64, .outputs = 64, .groups = 64});
    x = b.convBnRelu("/project", x, {.inputs = 64, .outputs = 16, .kernel = {1, 1}});
    b.output(x, "y", {-1, 16, side, side < 0 ? side - 1 : side});
    return b.bytes();
}

/// With the input x of `open` sizes, numbers as of the model of each of `shapes`.
void expectNumbersOfStaticModels(const std::string& model,
                                 const std::vector<std::vector<int64_t>>& shapes,
                                 const std::string& open)
{
    const test::TemporaryFolder folder;
    const auto write = [&](const std::string& name, const std::string& content) {
        const std::filesystem::path path = folder.file(name);
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << content;
    };
    write("case/model.onnx", model);
    for (size_t i = 0; i < shapes.size(); ++i) {
        const std::string set = "case/test_data_set_" + std::to_string(i);
        write(set + "/input_0.pb", tensorFile(shapes[i], false));
        const Outcome run = tenon("run '" + folder.file("case/model.onnx") +
                                  "' --shape x=" + core::join(shapes[i], ",") + " --inputs '" +
                                  folder.file(set + "/input_0.pb") + "' --outputs '" +
                                  folder.file("out") + "' 2>&1");
        ASSERT_EQ(run.code, 0) << run.output;
        std::filesystem::copy_file(folder.file("out/output_0.pb"),
                                   folder.file(set + "/output_0.pb"));
    }
    for (const char* level : {"0", "3"}) {
        const Outcome verified = tenon("verify '" + folder.file("case") + "' --shape x=" + open +
                                       " --rtol 1e-4 --atol 1e-5 --opt-level " + level + " 2>&1");
        EXPECT_EQ(verified.code, 0) << verified.output;
    }
}

TEST(DynamicShape, WindowsSlideOverAnyRowsAndColumns)
{
    expectNumbersOfStaticModels(pictureModel({}), {{1, 3, 9, 16}, {2, 3, 16, 9}, {2, 3, 13, 13}},
                                "1..2,3,9..16,9..16");
}

TEST(DynamicShape, PicturesAreCutIntoPatches)
{
    for (const char* open : {"1..2,16,7..80,7..80", "1..2,16,7..24,7..50"})
        expectNumbersOfStaticModels(patchModel(), {{1, 16, 7, 9}, {2, 16, 24, 33}, {1, 16, 17, 50}},
                                    open);
}

/// The last patch of one picture ends elsewhere than the first of the next, beside which it is
/// computed.
TEST(DynamicShape, SomePicturesAreCutIntoPatches)
{
    expectNumbersOfStaticModels(patchModel(), {{2, 16, 7, 9}, {2, 16, 33, 17}, {2, 16, 70, 40}},
                                "2,16,7..80,7..80");
}

TEST(DynamicShape, OperatorsOfKnownItemsTakeAnyBatch)
{
    expectNumbersOfStaticModels(batchModel(), {{1, 16, 4, 6}, {3, 16, 4, 6}}, "1..4,16,4,6");
}

TEST(DynamicShape, ImagesGoThroughStripsOneAfterTheOther)
{
    expectNumbersOfStaticModels(stripModel(48), {{1, 16, 48, 48}, {3, 16, 48, 48}},
                                "1..4,16,48,48");
    // Patches of images, of which each ends elsewhere, do not.
    expectNumbersOfStaticModels(stripModel(-2), {{1, 16, 48, 48}, {2, 16, 70, 33}},
                                "1..2,16,30..80,30..80");
}

TEST(DynamicShape, SizesThatMeetAreEqualOrOne)
{
    const test::TemporaryFolder folder;
    const auto write = [&](const std::string& name, const std::string& content) {
        std::ofstream(folder.file(name), std::ios::binary) << content;
    };
    test::ModelBuilder b("sum", {});
    const std::string x = b.input("x", tenon_onnx::TensorProto::FLOAT, {-1, 2});
    const std::string y = b.input("y", tenon_onnx::TensorProto::FLOAT, {-2, 2});
    b.output(b.node("Add", "/sum", {x, y}), "z", {-1, 2});
    write("m.onnx", b.bytes());
    const std::string library = "'" + folder.file("m.so") + "'";
    const std::string open = "'" + folder.file("m.onnx") + "'";
    ASSERT_EQ(tenon("compile " + open + " --executor vm -o " + library).code, 0);
    const auto run = [&](const std::string& model) {
        return tenon("run " + model + " --inputs '" + folder.file("x.pb") + "' '" +
                     folder.file("y.pb") + "' --outputs '" + folder.file("out") + "' 2>&1");
    };
    const auto sum = [&] {
        std::ifstream file(folder.file("out/output_0.pb"), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const auto give = [&](int64_t rows, int64_t others) {
        write("x.pb", tensorFile({rows, 2}, false));
        write("y.pb", tensorFile({others, 2}, false));
    };
    for (const auto& [rows, others] : {std::pair(3, 3), std::pair(1, 4), std::pair(4, 1)}) {
        give(rows, others);
        const Outcome known =
            run("'" + folder.file("m.onnx") + "' --shape x=" + std::to_string(rows) +
                ",2 --shape y=" + std::to_string(others) + ",2");
        ASSERT_EQ(known.code, 0) << known.output;
        const std::string wanted = sum();
        ASSERT_EQ(run(library).code, 0);
        EXPECT_EQ(sum(), wanted) << rows << " and " << others;
    }
    give(3, 4);
    const Outcome wrong = run(library);
    EXPECT_NE(wrong.code, 0);
    EXPECT_NE(wrong.output.find("must be equal, or the first 1: 3 and 4"), std::string::npos)
        << wrong.output;
}

TEST(DynamicShape, ExplainsBoundsThatDoNotFit)
{
    const test::TemporaryFolder folder;
    test::ZooOptions options{.batch = -1, .channelDivisor = 16};
    std::ofstream(folder.file("m.onnx"), std::ios::binary) << test::makeDscnn(options);
    const std::string model = " '" + folder.file("m.onnx") + "' 2>&1";
    const auto says = [&](const std::string& shape, const std::string& text) {
        const Outcome out = tenon("inspect --shape " + shape + model);
        EXPECT_NE(out.code, 0) << shape;
        EXPECT_NE(out.output.find(text), std::string::npos) << out.output;
    };
    says("batch=4..1", "is no binding");
    says("rows=1..4", "the model has no input or dimension `rows`");
    says("features=1..4,1..2,49,10", "dimension 1 is fixed in the model");
    says("features=1..4,1,49", "cannot be bounded by (1..4, 1, 49)");
    for (const char* shape : {"features=1..4,1,49,10", "features=1..4,1,49,10,batch=1..4"}) {
        const Outcome fine = tenon("inspect --json --shape " + std::string(shape) + " '" +
                                   folder.file("m.onnx") + "' 2>/dev/null");
        EXPECT_EQ(json::parse(fine.output)["bounds"]["batch"], "1..4") << shape;
    }
}

} // namespace
} // namespace tenon::cli
