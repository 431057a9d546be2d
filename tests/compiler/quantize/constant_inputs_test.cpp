// SPDX-License-Identifier: Apache-2.0
// States of zeros and masks of ones beside inputs that vary.
#include "tests/compiler/quantize/quantize_fixture.h"

namespace tenon::compiler {
namespace {

/// Data for x, with one value for all of z.
CalibrationData withConstant(const std::string& z, float value, size_t count = 8)
{
    CalibrationData out = test::randomData("x", {1, 6}, count);
    for (DataSet& set : out)
        set.inputs.emplace_back(z,
                                Tensor::of<float>(kFloat32, {1, 6}, std::vector<float>(6, value)));
    return out;
}

TEST_F(Quantize, TakesAnInputThatIsTheSameForAllDataBesideOnesThatAreNot)
{
    const std::string head = "opset 13\ninput x float32 1,6\ninput z float32 1,6\n"
                             "init w1 float32 6,6\ninit w2 float32 6,6\n";
    const std::string tail = "output y float32 *\n";
    model(head + "node MatMul d1 x,w1 -> a\nnode MatMul d2 z,w2 -> b\nnode Add s a,b -> y\n" +
          tail);
    for (const float value : {0.0F, 1.0F}) {
        const auto made = quantize(withConstant("z", value));
        ASSERT_TRUE(made) << made.error().text();
        EXPECT_GT(made->report.outputs.at(0).sqnrDb, 30);
        const auto& remarks = made->report.remarks;
        const std::string said = value == 0 ? "`z` is 0 for all data" : "`z` is 1 for all data";
        EXPECT_EQ(std::count_if(remarks.begin(), remarks.end(),
                                [&](const Diagnostic& remark) {
                                    return remark.message.find(said) != std::string::npos;
                                }),
                  1);
    }
    CalibrationData flat = withConstant("z", 1);
    for (DataSet& set : flat)
        set.inputs[0].second = Tensor::of<float>(kFloat32, {1, 6}, std::vector<float>(6, 0.5F));
    EXPECT_NE(refusal(flat).find("`x` are the number 0.5"), std::string::npos) << refusal(flat);
}

} // namespace
} // namespace tenon::compiler
