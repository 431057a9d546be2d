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

} // namespace
} // namespace tenon::compiler
