// SPDX-License-Identifier: Apache-2.0
// Who is to blame among tensors that the reference rounds elsewhere.
#include "core/compare/rounded_tensors.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

/// Integers of 20 dB below and above, and steps that their kernel alone is off by.
ComparedTensor rounded(double cumulativeDb, std::optional<OwnSteps> alone)
{
    ComparedTensor out;
    out.cumulative = {.sqnrDb = cumulativeDb, .isRounded = true, .isOutside = true};
    if (alone)
        out.isolated =
            TensorError{.steps = alone, .isRounded = true, .isOutside = alone->isBeyond({})};
    return out;
}

constexpr OwnSteps kFine{.mean = 0.3, .part = 1, .meanInRange = 0.3, .partInRange = 1};
constexpr OwnSteps kOff{.mean = 5, .part = 31, .meanInRange = 5, .partInRange = 31};
constexpr OwnSteps kClipped{.mean = 9, .part = 31, .meanInRange = 0.3, .partInRange = 1};

/// Each reads the one before; the last is the model's result.
Comparison judged(std::vector<ComparedTensor> tensors)
{
    Comparison out;
    out.tensors = std::move(tensors);
    std::vector<TensorReaders> readers(out.tensors.size());
    for (size_t i = 0; i + 1 < readers.size(); ++i) readers[i].tensors = {i + 1};
    readers.back().isResult = true;
    judgeRounded(out, readers);
    return out;
}

TEST(RoundedTensors, NamesTheKernelThatIsOffAloneThoughLittleIsLost)
{
    EXPECT_EQ(judged({rounded(12, kFine), rounded(20.3, kOff), rounded(25, kFine)}).first(), 1U);
}

TEST(RoundedTensors, BlamesNobodyForWhatAddsUp)
{
    EXPECT_FALSE(judged({rounded(12, kFine), rounded(8, kFine), rounded(25, kFine)}).first());
}

TEST(RoundedTensors, BlamesNobodyForWhatIntegersThatAreAStepOffMove)
{
    const auto moved = [](double decibels) {
        ComparedTensor out;
        out.cumulative = {.sqnrDb = decibels, .isOutside = true};
        out.isolated = TensorError{};
        return out;
    };
    ComparedTensor stepped = moved(60);
    stepped.cumulative.isOutside = false;
    EXPECT_EQ(judged({stepped, moved(50), moved(40)}).first(), 1U);
    stepped.cumulative.isSteppedInside = true;
    EXPECT_FALSE(judged({stepped, moved(50), moved(40)}).first());
    EXPECT_EQ(judged({stepped, moved(50), moved(19)}).first(), 2U); // a result
    ComparedTensor faulty = moved(50);
    faulty.isolated->isOutside = true;
    EXPECT_EQ(judged({stepped, faulty, moved(40)}).first(), 1U);
}

TEST(RoundedTensors, HoldsResultsToDecibels)
{
    EXPECT_EQ(judged({rounded(12, kFine), rounded(19, kFine)}).first(), 1U);
}

TEST(RoundedTensors, HoldsToDecibelsWhatCannotBeComputedAlone)
{
    EXPECT_EQ(judged({rounded(30, {}), rounded(19, {}), rounded(25, kFine)}).first(), 1U);
}

TEST(RoundedTensors, ForgivesClippingThatNoReaderNotices)
{
    const Comparison vain = judged({rounded(15, kClipped), rounded(25, kFine)});
    EXPECT_FALSE(vain.first());
    EXPECT_FALSE(vain.tensors[0].isolated->isOutside);
    EXPECT_EQ(judged({rounded(15, kClipped), rounded(15, kOff)}).first(), 0U);
    EXPECT_EQ(judged({rounded(25, kFine), rounded(25, kClipped)}).first(), 1U) << "a result";
    EXPECT_EQ(judged({rounded(15, kClipped), rounded(25, {})}).first(), 0U)
        << "nobody knows whether the reader notices";
}

TEST(RoundedTensors, LeavesOthersAsTheyAre)
{
    ComparedTensor exact = rounded(90, {});
    exact.cumulative.isRounded = false;
    EXPECT_EQ(judged({exact}).first(), 0U);
}

TEST(RoundedTensors, LeaveToleranceWithTheirKernelWhereNothingIsRoundedElsewhere)
{
    Comparison out;
    out.tensors.resize(2);
    out.tensors[1].isolated = TensorError{.isOutside = true};
    judgeRounded(out, std::vector<TensorReaders>(2));
    EXPECT_EQ(out.first(), 1U);
}

} // namespace
} // namespace tenon::core
