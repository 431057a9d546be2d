// SPDX-License-Identifier: Apache-2.0
// Models that take and give integers.
#include "compiler/quantize/integer_ends.h"
#include "tests/compiler/quantize/quantize_fixture.h"

namespace tenon::compiler {
namespace {

TEST_F(Quantize, LeavesNoFloatsAtTheEnds)
{
    model(kNetwork);
    QuantizeOptions options;
    options.hasIntegerEnds = true;
    const auto made = quantize(images(), options);
    ASSERT_TRUE(made) << made.error().text();
    ASSERT_EQ(made->report.ends.size(), 3u);
    EXPECT_TRUE(made->report.ends[0].isInput);
    tenon_onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(made->bytes));
    const CalibrationData data = images(1);
    const LinearRange& input = made->report.ends[0].range;
    EXPECT_EQ(made->report.ends[0].name, "x");
    const Tensor& given = data[0].inputs[0].second;
    const Tensor integers = Tensor::make(kInt8, given.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < given.size(); ++i)
            out[static_cast<size_t>(i)] = static_cast<std::byte>(input.integer(given.number(i)));
    });
    options.hasIntegerEnds = false;
    const auto real = quantize(images(), options);
    ASSERT_TRUE(real);
    tenon_onnx::ModelProto realModel;
    ASSERT_TRUE(realModel.ParseFromString(real->bytes));
    const auto results = test::evaluated(model, {{"x", integers}});
    const auto expected = test::evaluated(realModel, {{"x", given}});
    ASSERT_EQ(results.size(), 2u);
    for (size_t r = 0; r < 2; ++r) {
        const LinearRange& range = made->report.ends[r + 1].range;
        EXPECT_EQ(results[r].dtype(), kInt8);
        for (int64_t i = 0; i < results[r].size(); ++i)
            EXPECT_NEAR((results[r].number(i) - static_cast<double>(range.zero)) *
                            static_cast<double>(range.scale),
                        expected[r].number(i), static_cast<double>(range.scale) * 0.501)
                << made->report.ends[r + 1].name;
    }
    EXPECT_EQ(model.metadata_props_size(), 6);
}

} // namespace
} // namespace tenon::compiler
