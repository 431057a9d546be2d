// SPDX-License-Identifier: Apache-2.0
// The Signal.. operators: values by hand, or as the fixed-point kernels of microcontrollers give
// them.
#include "tests/compiler/frontend/tflite/flex_map.h"
#include "tests/compiler/frontend/tflite/operator_run.h"

namespace tenon::test {
namespace {

using Type = TfliteType;
using core::Tensor;
using Numbers = std::vector<double>;
using Options = std::map<std::string, float>;

Tensor samples(const std::vector<int16_t>& values)
{
    return Tensor::of<int16_t>(core::kInt16, {static_cast<int64_t>(values.size())}, values);
}

Tensor words(const std::vector<uint32_t>& values)
{
    return Tensor::of<uint32_t>(core::kUInt32, {static_cast<int64_t>(values.size())}, values);
}

int32_t count(const Tensor& tensor) { return static_cast<int32_t>(tensor.shape()[0]); }

/// An operator of one input and one result of `results` elements.
Numbers spectrumOf(const std::vector<int16_t>& values, float length)
{
    TfliteWriter w;
    const Tensor x = samples(values);
    const int in = w.input("x", Type::Int16, {count(x)});
    const int y = w.output("y", Type::Int16, {static_cast<int32_t>(length) + 2});
    w.op("SignalRfft", {in}, {y}, {}, flexMap({{"T", 7}, {"fft_length", length}}));
    return numbersOf(w, {{"x", x}});
}

Numbers channelsOf(const std::string& op, const std::vector<uint32_t>& values,
                   const Options& options, Type result)
{
    TfliteWriter w;
    const Tensor x = words(values);
    const int in = w.input("x", Type::UInt32, {count(x)});
    const int y = w.output("y", result, {count(x)});
    w.op(op, {in}, {y}, {}, flexMap(options));
    return numbersOf(w, {{"x", x}});
}

TEST(TfliteSignal, WindowsAreMovedDownAndLimited)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int16, {4});
    const int window = w.constant<int16_t>("w", Type::Int16, {4}, {8192, 4096, -2048, 1});
    const int y = w.output("y", Type::Int16, {4});
    w.op("SignalWindow", {x, window}, {y}, {}, flexMap({{"shift", 12}}));
    EXPECT_EQ(numbersOf(w, {{"x", samples({32767, -32768, 100, -1})}}),
              (Numbers{32767, -32768, -50, -1}));
}

TEST(TfliteSignal, SamplesFillTheirBits)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int16, {3});
    const int y = w.output("y", Type::Int16, {3});
    const int bits = w.output("bits", Type::Int32, {});
    w.op("SignalFftAutoScale", {x}, {y, bits});
    const auto loud = resultsOf(w, {{"x", samples({3, -5, 0})}});
    ASSERT_EQ(loud.size(), 2U);
    EXPECT_EQ(loud[0].numbers(), (Numbers{12288, -20480, 0}));
    EXPECT_EQ(loud[1].numbers(), (Numbers{12}));
    EXPECT_EQ(resultsOf(w, {{"x", samples({0, 0, 0})}})[1].numbers(), (Numbers{15}));
    EXPECT_EQ(numbersOf(w, {{"x", samples({-32768, 1, 0})}}), (Numbers{-32768, 1, 0}));
}

TEST(TfliteSignal, SpectraAreThoseOfRadixFourAndTwo)
{
    EXPECT_EQ(
        spectrumOf(
            {1000, -2000, 3000, -32768, 32767, 5, -6, 700, 0, 1, -1, 20000, -15000, 8, 9, -10}, 16),
        (Numbers{481, 0, -1223, -41, -541, 496, 2910, 1665, 985, -630, -3052, -4041, -1553, 871,
                 1614, 6193, 2239, 0}));
}

TEST(TfliteSignal, SpectraOfFewerSamplesEndInSilence)
{
    EXPECT_EQ(spectrumOf({100, -3000, 2000, 32767, -32768, 6}, 8),
              (Numbers{-112, 0, 946, -2881, -4333, 4470, 7268, -2381, -7554, 0}));
}

TEST(TfliteSignal, EnergyIsThatOfTheBinsThatAreAskedFor)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int16, {8});
    const int y = w.output("y", Type::UInt32, {4});
    w.op("SignalEnergy", {x}, {y}, {}, flexMap({{"start_index", 1}, {"end_index", 3}}));
    EXPECT_EQ(numbersOf(w, {{"x", samples({9, 9, 3, -4, -32768, -32768, 9, 9})}}),
              (Numbers{0, 25, 2147483648.0, 0}));
}

TEST(TfliteSignal, ChannelsShareTheBinsBetweenThem)
{
    TfliteWriter w;
    const int x = w.input("x", Type::UInt32, {5});
    const int weights = w.constant<int16_t>("w", Type::Int16, {5}, {1, 2, 3, 4, 5});
    const int rests = w.constant<int16_t>("u", Type::Int16, {5}, {10, 20, 30, 40, 50});
    const int bins = w.constant<int16_t>("b", Type::Int16, {3}, {0, 1, 3});
    const int starts = w.constant<int16_t>("s", Type::Int16, {3}, {0, 1, 3});
    const int widths = w.constant<int16_t>("n", Type::Int16, {3}, {1, 2, 2});
    const int y = w.output("y", Type::UInt64, {2});
    w.op("SignalFilterBank", {x, weights, rests, bins, starts, widths}, {y}, {},
         flexMap({{"num_channels", 2}}));
    // 10 * 1 + 2 * 10 + 3 * 100, and 20 * 10 + 30 * 100 + 4 * 1000 + 5 * 4e9.
    EXPECT_EQ(numbersOf(w, {{"x", words({1, 10, 100, 1000, 4000000000})}}),
              (Numbers{330, 20000007200.0}));
}

TEST(TfliteSignal, RootsAreTheNearest)
{
    const std::vector<uint64_t> values{0,
                                       1,
                                       2,
                                       3,
                                       6,
                                       7,
                                       4294967295,
                                       4294967296,
                                       (uint64_t{1} << 50) + 12345678901,
                                       9223372030926249000};
    TfliteWriter w;
    const int x = w.input("x", Type::UInt64, {10});
    const int bits = w.input("bits", Type::Int32, {});
    const int y = w.output("y", Type::UInt32, {10});
    w.op("SignalFilterBankSquareRoot", {x, bits}, {y});
    const auto at = [&](int32_t down) {
        return numbersOf(w, {{"x", Tensor::of<uint64_t>(core::kUInt64, {10}, values)},
                             {"bits", Tensor::of<int32_t>(core::kInt32, {}, {down})}});
    };
    EXPECT_EQ(at(0), (Numbers{0, 1, 1, 2, 2, 3, 65535, 65536, 33554616, 3037000499.0}));
    EXPECT_EQ(at(1), (Numbers{0, 0, 0, 1, 1, 1, 32767, 32768, 16777308, 1518500249}));
}

TEST(TfliteSignal, NoiseStartsAtZeroAndLeavesAFloor)
{
    TfliteWriter w;
    const int x = w.input("x", Type::UInt32, {3});
    const int y = w.output("y", Type::UInt32, {3});
    const int noise = w.output("noise", Type::UInt32, {3});
    w.op("SignalFilterBankSpectralSubtraction", {x}, {y, noise}, {},
         flexMap({{"smoothing", 4096},
                  {"alternate_smoothing", 20480},
                  {"min_signal_remaining", 1639},
                  {"smoothing_bits", 2},
                  {"spectral_subtraction_bits", 14},
                  {"clamping", 0}}));
    const auto results = resultsOf(w, {{"x", words({1000, 100, 0})}});
    ASSERT_EQ(results.size(), 2U);
    // Of 4000 a quarter is noise; of 400 more than there is, so a tenth of 100 remains.
    EXPECT_EQ(results[0].numbers(), (Numbers{750, 10, 0}));
    EXPECT_EQ(results[1].numbers(), (Numbers{1000, 500, 0}));
}

TEST(TfliteSignal, GainComesFromParabolasOfTheNoise)
{
    std::vector<int16_t> table;
    for (int i = 0; i < 130; ++i)
        table.push_back(static_cast<int16_t>(i * 37 % 911 - 100 + (i % 4 == 0 ? 2000 : 0)));
    TfliteWriter w;
    const int x = w.input("x", Type::UInt32, {8});
    const int noise = w.input("noise", Type::UInt32, {8});
    const int gain = w.constant<int16_t>("gain", Type::Int16, {130}, table);
    const int y = w.output("y", Type::UInt32, {8});
    w.op("SignalPCAN", {x, noise, gain}, {y}, {}, flexMap({{"snr_shift", 6}}));
    EXPECT_EQ(numbersOf(w, {{"x", words({5, 900, 70, 3, 100000, 123456, 9, 40})},
                            {"noise", words({0, 2, 3, 9, 700, 70000, 4000000000, 12})}}),
              (Numbers{0, 4194234, 0, 0, 16146, 12323, 0, 0}));
}

TEST(TfliteSignal, LogarithmsAreLinesAndATable)
{
    const std::vector<uint32_t> values{0, 1, 2, 3, 5, 100, 65535, 65536, 1000003, 4000000000};
    const auto at = [&](float correction) {
        return channelsOf("SignalFilterBankLog", values,
                          {{"output_scale", 64}, {"input_correction_bits", correction}},
                          Type::Int16);
    };
    EXPECT_EQ(at(0), (Numbers{0, 0, 44, 70, 103, 295, 710, 710, 884, 1415}));
    EXPECT_EQ(at(3), (Numbers{0, 133, 177, 203, 236, 428, 843, 843, 1017, 1369}));
}

/// What the import says of a transform with these options.
std::string refusalOf(const Options& options, Type type = Type::Int16)
{
    TfliteWriter w;
    const int x = w.input("x", type, {6});
    const int y = w.output("y", type, {10});
    w.op("SignalRfft", {x}, {y}, {}, flexMap(options));
    const std::vector<std::byte> bytes = w.file();
    const auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "model.tflite", {});
    return loaded && !loaded->diagnostics.empty() ? loaded->diagnostics[0].message : "";
}

TEST(TfliteSignal, RefusesWhatItCannotTransform)
{
    EXPECT_NE(refusalOf({{"length", 8}}).find("`fft_length` is to be"), std::string::npos);
    EXPECT_NE(refusalOf({{"fft_length", 12}}).find("powers of two"), std::string::npos);
    EXPECT_NE(refusalOf({{"fft_length", 8}}, Type::Float32).find("takes int16"), std::string::npos);
}

} // namespace
} // namespace tenon::test
