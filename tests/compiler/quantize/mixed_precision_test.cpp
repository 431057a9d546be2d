// SPDX-License-Identifier: Apache-2.0
// Which layers get more than 8 bits, by losses and prices that are known.
#include "compiler/quantize/mixed_precision.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::compiler {
namespace {

class MixedPrecision : public ::testing::Test
{
protected:
    void SetUp() override
    {
        const std::array<double, 4> harms{0.1, 0.4, 0.2, 0.05};
        for (size_t i = 0; i < harms.size(); ++i) {
            m_harms.push_back(harms[i]);
            LayerCost layer{.layer = std::string(1, static_cast<char>('a' + i))};
            layer.weightBytes = {100, 400, 400};
            m_layers.layers.push_back(layer);
        }
        m_tools = {.lossOf = [this](const PrecisionChoice& choice) -> Result<double> {
                       ++m_trials;
                       return loss(choice);
                   },
                   .write = [](const PrecisionChoice& choice) -> Result<std::string> {
                       std::string bytes;
                       for (const Precision precision : choice) bytes += nameOf(precision).front();
                       return bytes;
                   }};
        m_question.price = [](const std::string& bytes, JobContext&) -> Result<PricedModel> {
            PricedModel out{.cost = {.flashBytes = 1000}, .place = "a board", .timeUnit = "us"};
            for (size_t i = 0; i < bytes.size(); ++i) {
                const bool isFloat = bytes[i] == 'f';
                out.cost.flashBytes += isFloat ? 400 : 100;
                const double time = isFloat ? 30 : 10;
                out.cost.time += time;
                out.calls.push_back({{std::string(1, static_cast<char>('a' + i)), "relu"}, time});
            }
            return out;
        };
    }
    /// Energies add up; 16 bits leave a tenth of a loss.
    double loss(const PrecisionChoice& choice) const
    {
        double sum = 0;
        for (size_t i = 0; i < choice.size(); ++i)
            sum +=
                std::pow(m_harms[i] * std::array{1.0, 0.1, 0.0}[static_cast<size_t>(choice[i])], 2);
        return std::sqrt(sum);
    }
    std::string chosen()
    {
        JobContext job(1);
        const auto out = choosePrecisions(m_layers, m_question, m_tools, job);
        if (!out) return out.error().message;
        m_curve = out->curve;
        m_costs = out->costs;
        std::string text;
        for (const Precision precision : out->choice) text += "86f"[static_cast<size_t>(precision)];
        return text;
    }

    std::vector<double> m_harms;
    PrecisionCosts m_layers, m_costs;
    MixTools m_tools;
    MixQuestion m_question;
    std::vector<CurvePoint> m_curve;
    int m_trials = 0;
};

TEST_F(MixedPrecision, TakesAsFewLayersAsTheLossNeeds)
{
    m_question.price = {};
    m_question.limits.loss = 0.15;
    EXPECT_EQ(chosen(), "8ff8") << "b costs most, c next";
    EXPECT_LE(m_trials, 4 + 1 + 2);
    m_question.limits.loss = 0.9;
    EXPECT_EQ(chosen(), "8888");
    JobContext job(1);
    job.requestStop();
    EXPECT_FALSE(choosePrecisions(m_layers, m_question, m_tools, job));
}

TEST_F(MixedPrecision, TakesAsManyLayersAsSizeAndTimeHaveRoomFor)
{
    m_question.limits.flashBytes = 1000 + 4 * 100 + 2 * 300;
    EXPECT_EQ(chosen(), "8ff8");
    m_question.limits = {.time = 79};
    EXPECT_EQ(chosen(), "8f88");
    m_question.limits = {.time = 1000};
    EXPECT_EQ(chosen(), "ffff");
    m_question.limits = {.time = 39};
    EXPECT_NE(chosen().find("takes 1400 bytes and 40 us on a board, more than the 39 us "
                            "that it may"),
              std::string::npos)
        << chosen();
    m_question.limits = {.loss = 0.15, .time = 79};
    EXPECT_NE(chosen().find("needs 2 layers with more than 8 bits, but size and time have room for "
                            "1 only"),
              std::string::npos)
        << chosen();
}

TEST_F(MixedPrecision, KeepsWhatIsPinned)
{
    m_layers.layers[1].pinned = Precision::Int8;
    m_layers.layers[3].pinned = Precision::Float;
    m_question.limits.loss = 0.42;
    EXPECT_EQ(chosen(), "88ff") << "d is pinned to float";
}

TEST_F(MixedPrecision, WidensTo16Bits)
{
    m_layers.wider = Precision::Int16;
    m_question.measures16Bits = true;
    m_question.limits.loss = 0.15;
    EXPECT_EQ(chosen(), "8668");
    EXPECT_NEAR(m_costs.layers[1].loss[1], 0.04, 1e-9);
    m_question.limits.loss = 0.001;
    EXPECT_NE(chosen().find("with every layer wider the outputs still lose"), std::string::npos)
        << chosen();
}

TEST_F(MixedPrecision, PredictsTheCurveThatItMeasures)
{
    m_question.measuresCurve = true;
    m_question.curvePoints = 5;
    ASSERT_EQ(chosen(), "8888");
    ASSERT_EQ(m_curve.size(), 5u);
    for (const CurvePoint& point : m_curve) {
        ASSERT_TRUE(point.measured) << point.widerLayers;
        EXPECT_NEAR(point.predicted.loss, point.measured->loss, 1e-9) << point.widerLayers;
        EXPECT_EQ(point.predicted.flashBytes, point.measured->cost.flashBytes);
        EXPECT_NEAR(point.predicted.time, point.measured->cost.time, 1e-9);
    }
    EXPECT_GT(m_curve.front().predicted.loss, m_curve.back().predicted.loss);
    EXPECT_NEAR(decibelsOf(0.1), 20, 1e-9);
}

} // namespace
} // namespace tenon::compiler
