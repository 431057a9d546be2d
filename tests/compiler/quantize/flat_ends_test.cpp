// SPDX-License-Identifier: Apache-2.0
// Values that no reader tells apart get no integers of their own.
#include "compiler/quantize/flat_ends.h"
#include "tests/compiler/quantize/quantize_fixture.h"

namespace tenon::compiler {
namespace {

/// One channel lies far below zero, where HardSwish gives 0, written as several nodes.
constexpr const char* kFarBelow =
    "opset 13\ninput x float32 1,3,12,12\ninit w1 float32 2,3,1,1\n"
    "floats b1 float32 2 = -40,3\ninit w2 float32 2,2,1,1\n"
    "node Conv c1 x,w1,b1 -> a\nnode HardSigmoid s a -> g alpha=0.16666667f beta=0.5f\n"
    "node Mul m a,g -> h\nnode Conv c2 h,w2 -> y\noutput y float32 *\n";

const TensorAccount& accountOf(const QuantizedModel& made, const std::string& name)
{
    const auto& all = made.report.tensors;
    return *std::find_if(all.begin(), all.end(),
                         [&](const TensorAccount& tensor) { return tensor.name == name; });
}

TEST_F(Quantize, GivesNoIntegersToValuesThatAFunctionDoesNotTellApart)
{
    model(kFarBelow);
    for (const DataType dtype : {kInt8, kInt16}) {
        QuantizeOptions options;
        options.activations.dtype = dtype;
        const auto made = quantize(images(), options);
        ASSERT_TRUE(made) << made.error().text();
        const TensorAccount& tensor = accountOf(*made, "a");
        EXPECT_LT(tensor.least, -38);
        EXPECT_GT(tensor.range.least(), -3.5);
        EXPECT_LE(tensor.range.least(), -2.5);
        EXPECT_LT(tensor.clippedShare, 0.01) << "nobody sees what lies below";
        EXPECT_GT(tensor.expectedSqnrDb, 40);
        EXPECT_GT(tensor.measuredSqnrDb, 25);
    }
}

TEST_F(Quantize, KeepsTheRangeOfWhatOthersRead)
{
    model(std::string(kFarBelow) + "output a float32 *\n");
    const auto result = quantize(images());
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_LT(accountOf(*result, "a").range.least(), -38);
    model(std::string(kFarBelow) + "init w3 float32 2,2,1,1\nnode Conv c3 a,w3 -> z\n"
                                   "output z float32 *\n");
    const auto read = quantize(images());
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_LT(accountOf(*read, "a").range.least(), -38);
}

/// Two products and what comes of them: x and z have sixteen values each.
std::string products(const std::string& behind)
{
    return "opset 13\ninput x float32 1,16\ninput z float32 1,16\ninit w1 float32 16,8\n"
           "init w2 float32 16,8\nints parts int64 2 = 4,4\n"
           "node MatMul d1 x,w1 -> p1\nnode MatMul d2 z,w2 -> p2\n" +
           behind;
}

/// Gates of a cell as exporters write them: one tensor is parted, each part has its function.
constexpr const char* kGates = "node Split part s,parts -> i,g axis=1\nnode Sigmoid o i -> is\n"
                               "node Tanh t g -> gt\noutput is float32 *\noutput gt float32 *\n";

Tensor scaled(const Tensor& tensor, float factor)
{
    std::vector<float> values;
    for (const float value : tensor.as<float>()) values.push_back(value * factor);
    return Tensor::of<float>(kFloat32, tensor.shape(), values);
}

CalibrationData gateData(float ofX, float ofZ)
{
    CalibrationData out;
    for (size_t i = 0; i < 16; ++i)
        out.push_back({"set " + std::to_string(i),
                       {{"x", scaled(test::randomTensor({1, 16}, 200 + i), ofX)},
                        {"z", scaled(test::randomTensor({1, 16}, 300 + i), ofZ)}}});
    return out;
}

double widthOf(const QuantizedModel& made, const std::string& name)
{
    const LinearRange range = accountOf(made, name).range;
    return range.greatest() - range.least();
}

TEST_F(Quantize, GivesNoIntegersToValuesThatNoPartTellsApart)
{
    model(products("node Add a p1,p2 -> s\nnode Transpose turn s -> r perm=[0,1]\n"
                   "node Split part r,parts -> i,g axis=1\nnode Sigmoid o i -> is\n"
                   "node Tanh t g -> gt\noutput is float32 *\noutput gt float32 *\n"));
    const auto made = quantize(gateData(10, 0.1F));
    ASSERT_TRUE(made) << made.error().text();
    for (const char* name : {"s", "r", "i", "g"}) {
        EXPECT_GT(accountOf(*made, name).greatest - accountOf(*made, name).least, 100) << name;
        EXPECT_LT(widthOf(*made, name), 20) << name;
        EXPECT_GT(widthOf(*made, name), 10) << name << ": Sigmoid tells -5 from -4";
    }
}

TEST_F(Quantize, GivesNoIntegersToOperandsThatCannotBringASumBack)
{
    for (const char* sum :
         {"node Add a p1,p2 -> s\n", "node Sub a p1,p2 -> s\n", "node Sub a p2,p1 -> s\n"}) {
        model(products(std::string(sum) + kGates));
        const auto made = quantize(gateData(10, 0.3F));
        ASSERT_TRUE(made) << made.error().text();
        const double small = widthOf(*made, "p2");
        EXPECT_GT(accountOf(*made, "p1").greatest - accountOf(*made, "p1").least, 100) << sum;
        EXPECT_LT(widthOf(*made, "p1"), widthOf(*made, "s") + small + 4) << sum;
        EXPECT_GT(widthOf(*made, "p1"), widthOf(*made, "s") + small - 2) << sum;
        EXPECT_GT(small, 3) << sum << ": all of it counts";
    }
}

TEST_F(Quantize, KeepsTheRangesOfOperandsThatMayCancelOut)
{
    model(products(std::string("node Add a p1,p2 -> s\n") + kGates));
    const auto made = quantize(gateData(10, 10));
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_LT(widthOf(*made, "s"), 20);
    for (const char* name : {"p1", "p2"}) EXPECT_GT(widthOf(*made, name), 100) << name;
}

TEST_F(Quantize, KeepsTheRangeOfAPartThatOthersRead)
{
    model(products(std::string("node Add a p1,p2 -> s\n") + kGates +
                   "init w3 float32 4,4\nnode MatMul d3 i,w3 -> y\noutput y float32 *\n"));
    const auto made = quantize(gateData(10, 0.1F));
    ASSERT_TRUE(made) << made.error().text();
    for (const char* name : {"p1", "s", "i", "g"}) EXPECT_GT(widthOf(*made, name), 100) << name;
}

} // namespace
} // namespace tenon::compiler
