// SPDX-License-Identifier: Apache-2.0
// Forms of values, there and back, against small tensors written out.
#include "core/compare/value_form.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tenon::core {
namespace {

Tensor counted(DataType dtype, std::vector<int64_t> shape)
{
    return Tensor::make(dtype, shape, [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < elementCount(shape); ++i) storeInteger(dtype, out, i, i);
    });
}

/// The program's tensor of `model`, and that the way back gives the model's again.
Tensor heldOf(const ValueForm& form, const Tensor& model)
{
    Tensor held = toProgram(form, model);
    const Tensor again = toModel(form, held);
    EXPECT_EQ(again.typeText(), model.typeText());
    EXPECT_EQ(again.numbers(), model.numbers());
    return held;
}

TEST(ValueForm, BlocksChannels)
{
    const ValueForm form{{.kind = FormStep::Kind::Unblock, .block = 2}};
    const Tensor held = heldOf(form, counted(kFloat32, {1, 4, 1, 2}));
    EXPECT_EQ(held.shape(), (std::vector<int64_t>{1, 2, 1, 2, 2}));
    EXPECT_EQ(held.numbers(), (std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7}));
    EXPECT_EQ(formText(form), "channels in blocks of 2");
}

TEST(ValueForm, PadsChannelsWithZeros)
{
    const ValueForm form{{.kind = FormStep::Kind::Unblock, .block = 4},
                         {.kind = FormStep::Kind::Leading, .axis = 1, .count = 3, .whole = 4}};
    const Tensor held = heldOf(form, counted(kFloat32, {1, 3, 1, 1}));
    EXPECT_EQ(held.shape(), (std::vector<int64_t>{1, 1, 1, 1, 4}));
    EXPECT_EQ(held.numbers(), (std::vector<double>{0, 1, 2, 0}));
    EXPECT_EQ(formText(form), "channels in blocks of 4, 3 of 4 channels");
}

TEST(ValueForm, PadsIntegersWithWhatStandsForZero)
{
    const ValueForm form{
        {.kind = FormStep::Kind::Unblock, .block = 4},
        {.kind = FormStep::Kind::Leading, .axis = 1, .count = 3, .whole = 4},
        {.kind = FormStep::Kind::Shift, .shift = -128, .dtype = kInt8, .stored = kUInt8}};
    const Tensor model = Tensor::of<int8_t>(kInt8, {1, 3, 1, 1}, {-128, 0, 127});
    const Tensor held = toProgram(form, model, -5);
    EXPECT_EQ(held.integers(), (std::vector<int64_t>{0, 128, 255, 123}));
    EXPECT_EQ(toModel(form, held).integers(), model.integers());
}

TEST(ValueForm, TransposesAndReshapes)
{
    const ValueForm form{{.kind = FormStep::Kind::Reshape, .shape = {3, 2}, .before = {6}},
                         {.kind = FormStep::Kind::Transpose, .axes = {1, 0}}};
    const Tensor held = heldOf(form, counted(kInt32, {2, 3}));
    EXPECT_EQ(held.shape(), (std::vector<int64_t>{6}));
    EXPECT_EQ(held.integers(), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(ValueForm, MovesZeroPoints)
{
    const ValueForm form{
        {.kind = FormStep::Kind::Shift, .shift = -128, .dtype = kInt8, .stored = kUInt8}};
    const Tensor held = heldOf(form, Tensor::of<int8_t>(kInt8, {3}, {-128, 0, 127}));
    EXPECT_EQ(held.dtype(), kUInt8);
    EXPECT_EQ(held.integers(), (std::vector<int64_t>{0, 128, 255}));
    EXPECT_EQ(formText(form), "zero point moved by 128, uint8");
}

TEST(ValueForm, ReadsBitsAsTheOtherType)
{
    const ValueForm form{{.kind = FormStep::Kind::Bits, .dtype = kInt8, .stored = kUInt8}};
    const Tensor held = heldOf(form, Tensor::of<int8_t>(kInt8, {4}, {-128, -1, 0, 127}));
    EXPECT_EQ(held.dtype(), kUInt8);
    EXPECT_EQ(held.integers(), (std::vector<int64_t>{128, 255, 0, 127}));
    EXPECT_EQ(formText(form), "its bits as uint8");
}

TEST(ValueForm, RoundsToTheModelsType)
{
    const ValueForm form{{.kind = FormStep::Kind::Cast, .dtype = kFloat16, .stored = kFloat32}};
    heldOf(form, counted(kFloat16, {4}));
    const Tensor model = toModel(form, Tensor::of<float>(kFloat32, {1}, {2049.0F}));
    EXPECT_EQ(model.number(0), 2048);
}

TEST(ValueForm, LeavesWhatIsTheSame)
{
    const Tensor tensor = counted(kFloat32, {2, 2});
    EXPECT_EQ(toModel({}, tensor).bytes().data(), tensor.bytes().data());
    EXPECT_EQ(formText({}), "");
}

} // namespace
} // namespace tenon::core
