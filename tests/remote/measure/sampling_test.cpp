// SPDX-License-Identifier: Apache-2.0
// When a measurement ends: by a clock that goes only when the test says so.
#include "remote/measure/sampling.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

/// Takes samples of the given lengths as long as the sampling asks; each portion costs one more
/// run.
class Bench
{
public:
    /// `saidS`: what the sampling is told that a sample takes; 0: the truth.
    Bench(const SamplingLimits& limits, double sampleS, double saidS = 0)
        : m_sampleS(sampleS)
        , m_sampling(limits, saidS > 0 ? saidS : sampleS, [this] { return m_now; })
    {
    }
    /// `spread`: samples lie so far around the length, as a share of it.
    void run(double spread = 0)
    {
        for (int portion = 0; (portion = m_sampling.next()) > 0;) {
            std::vector<double> runs;
            for (int i = 0; i < portion; ++i)
                runs.push_back(m_sampleS * 1e3 * (1 + spread * (m_count++ % 2 == 0 ? 1 : -1)));
            m_now += m_sampleS * (portion + 1);
            m_sampling.add(runs);
        }
    }
    int samples() const { return m_count; }
    double now() const { return m_now; }
    const Sampling& sampling() const { return m_sampling; }

private:
    double m_sampleS;
    double m_now = 100;
    int m_count = 0;
    Sampling m_sampling;
};

TEST(Sampling, takesWhatIsAskedForWithoutABudget)
{
    Bench bench({.samples = 37}, 3);
    bench.run(0.5);
    EXPECT_EQ(bench.samples(), 37);
    EXPECT_EQ(bench.sampling().ending(), "37 samples were taken");
    EXPECT_EQ(bench.sampling().state().fraction, 1);
    EXPECT_EQ(bench.sampling().state().leftS, -1);
}

TEST(Sampling, endsWhenTheIntervalIsSmallEnough)
{
    Bench bench(kUsualSampling, 0.001);
    bench.run(0.01);
    EXPECT_GE(bench.samples(), 10);
    EXPECT_LT(bench.now(), 102);
    EXPECT_EQ(bench.sampling().ending(), "the interval is within 2 %");
}

TEST(Sampling, endsWithItsBudget)
{
    for (const double sampleS : {0.01, 0.3, 0.9, 2.5}) {
        Bench bench({.samples = 100000, .budgetS = 10, .precision = 0.02}, sampleS);
        bench.run(0.3);
        EXPECT_LE(bench.now(), 110 + 1e-6) << sampleS;
        EXPECT_GE(bench.now(), 105) << sampleS;
        EXPECT_EQ(bench.sampling().ending(), "the time budget was used up");
        EXPECT_EQ(bench.sampling().state().leftS, 0);
    }
}

TEST(Sampling, takesOneSampleWhateverTheBudgetIs)
{
    Bench bench({.samples = 100, .budgetS = 10, .precision = 0.02}, 60);
    bench.run();
    EXPECT_EQ(bench.samples(), 1);
    EXPECT_FALSE(bench.sampling().state().summaryMs.hasInterval());
    EXPECT_EQ(samplingText(bench.sampling().state()),
              "1 sample, median 60000.000 ms, at most 0 s left");
}

TEST(Sampling, learnsWhatASampleTakes)
{
    // Said to take a minute, it takes a millisecond: there is time for many.
    Bench bench({.samples = 100000, .budgetS = 10, .precision = 0}, 0.001, 60);
    bench.run(0.3);
    EXPECT_GT(bench.samples(), 5000);
}

TEST(Sampling, tellsSamplesMedianAndTimeLeft)
{
    double now = 0;
    Sampling sampling({.samples = 1000, .budgetS = 10, .precision = 0.02}, 0.5,
                      [&] { return now; });
    EXPECT_EQ(sampling.next(), 5);
    now = 3;
    sampling.add(std::vector<double>{500, 510, 490, 505, 495});
    now = 6;
    sampling.add(std::vector<double>{600, 400, 600, 400, 600});
    EXPECT_NEAR(sampling.state().fraction, 0.6, 1e-9);
    EXPECT_EQ(samplingText(sampling.state()),
              "10 samples, median 502.500 ms ± 102.500, at most 4 s left");
}

} // namespace
} // namespace tenon::remote
