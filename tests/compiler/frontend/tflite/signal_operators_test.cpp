// SPDX-License-Identifier: Apache-2.0
// The Signal.. operators: values by hand, or as the fixed-point kernels of microcontrollers give
// them.
#include "tests/compiler/frontend/tflite/flex_map.h"
#include "tests/compiler/frontend/tflite/operator_run.h"

#include <cmath>

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

/// A transform of one row.
Numbers transformOf(const std::string& op, const Tensor& x, Type type, int32_t length)
{
    TfliteWriter w;
    const int in = w.input("x", type, {count(x)});
    const int y = w.output("y", type, {op == "SignalRfft" ? length + 2 : length});
    w.op(op, {in}, {y}, {}, flexMap({{"fft_length", static_cast<float>(length)}}));
    return numbersOf(w, {{"x", x}});
}

Numbers spectrumOf(const std::vector<int16_t>& values, int32_t length)
{
    return transformOf("SignalRfft", samples(values), Type::Int16, length);
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

TEST(TfliteSignal, SpectraWrapAroundWhereTheyAreTooLoud)
{
    EXPECT_EQ(spectrumOf({32767, -32768, 32767, 32767, -32768, -32768, -32768, 32767}, 8),
              (Numbers{0, 0, 8191, -8191, 0, 16380, 8191, 8191, 0, 0}));
}

TEST(TfliteSignal, SamplesComeBackFromTheirSpectrum)
{
    const auto back = [](const std::vector<int16_t>& values, int32_t length) {
        return transformOf("SignalIrfft", samples(values), Type::Int16, length);
    };
    EXPECT_EQ(back({481, 0, -1223, -41, -541, 496, 2910, 1665, 985, -630, -3052, -4041, -1553, 871,
                    1614, 6193, 2239, 0},
                   16),
              (Numbers{63, -124, 187, -2045, 2046, 1, -1, 45, 1, 0, 1, 1249, -938, -1, 1, -1}));
    EXPECT_EQ(back({32767, -32768, 32767, 32767, -32768, 32767, 32767, -32768, -32768, 5}, 8),
              (Numbers{-8192, -19774, 8191, 12989, -8190, 3394, 8191, 3391}));
}

TEST(TfliteSignal, TransformsTakeWordsAndFloats)
{
    const auto wide = [](const std::vector<int32_t>& values) {
        return Tensor::of<int32_t>(core::kInt32, {static_cast<int64_t>(values.size())}, values);
    };
    const std::vector<int32_t> loud{2147483647, -2147483647 - 1, 1000000000,      -5,
                                    77,         123456789,       -2147483647 - 1, 9};
    std::vector<int32_t> bins = loud;
    bins.insert(bins.end(), {4, 5});
    EXPECT_EQ(transformOf("SignalRfft", wide(loud), Type::Int32, 8),
              (Numbers{-128003347, 0, 67710774, -192710782, 411870920, 253003357, 469160116,
                       594160128, 378003365, 0}));
    EXPECT_EQ(transformOf("SignalIrfft", wide(bins), Type::Int32, 8),
              (Numbers{-555306347, 793973013, -268435471, -257102105, 18435475, -318830497,
                       -268435477, 855701409}));
    const Tensor pulse = floats({8}, {0, 1, 0, 0, 0, 0, 0, 0});
    const Numbers spectrum = transformOf("SignalRfft", pulse, Type::Float32, 8);
    ASSERT_EQ(spectrum.size(), 10U);
    EXPECT_NEAR(spectrum[2], std::sqrt(0.5), 1e-6);
    EXPECT_NEAR(spectrum[3], -std::sqrt(0.5), 1e-6);
    const std::vector<float> parts(spectrum.begin(), spectrum.end());
    const Numbers back = transformOf("SignalIrfft", floats({10}, parts), Type::Float32, 8);
    ASSERT_EQ(back.size(), 8U);
    for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(back[i], i == 1 ? 1 : 0, 1e-6) << i;
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

/// The results of an operator on one input.
std::vector<Tensor> streamOf(const std::string& op, const Tensor& x, Type type,
                             const std::vector<std::pair<Type, std::vector<int32_t>>>& results,
                             const Options& options)
{
    TfliteWriter w;
    std::vector<int32_t> shape;
    for (const int64_t extent : x.shape()) shape.push_back(static_cast<int32_t>(extent));
    const int in = w.input("x", type, shape);
    std::vector<int> outs;
    for (size_t i = 0; i < results.size(); ++i)
        outs.push_back(w.output("y" + std::to_string(i), results[i].first, results[i].second));
    w.op(op, {in}, outs, {}, flexMap(options));
    return resultsOf(w, {{"x", x}});
}

TEST(TfliteSignal, DelaysBeginWithSilence)
{
    const Tensor x = Tensor::of<int16_t>(core::kInt16, {2, 3}, {1, 2, 3, 4, 5, 6});
    const auto late =
        streamOf("SignalDelay", x, Type::Int16, {{Type::Int16, {2, 3}}}, {{"delay_length", 2}});
    ASSERT_EQ(late.size(), 1U);
    EXPECT_EQ(late[0].numbers(), (Numbers{0, 0, 1, 0, 0, 4}));
    const auto never =
        streamOf("SignalDelay", x, Type::Int16, {{Type::Int16, {2, 3}}}, {{"delay_length", 9}});
    EXPECT_EQ(never.at(0).numbers(), Numbers(6, 0));
}

TEST(TfliteSignal, FramesOverlap)
{
    const auto framed = [](float prefill) {
        return streamOf("SignalFramer", samples({1, 2, 3, 4, 5, 6}), Type::Int16,
                        {{Type::Int16, {3, 3}}, {Type::Bool, {}}},
                        {{"frame_size", 3}, {"frame_step", 2}, {"prefill", prefill}});
    };
    const auto filled = framed(1);
    ASSERT_EQ(filled.size(), 2U);
    EXPECT_EQ(filled[0].numbers(), (Numbers{0, 1, 2, 2, 3, 4, 4, 5, 6}));
    EXPECT_EQ(filled[1].numbers(), Numbers{1});
    const auto bare = framed(0);
    ASSERT_EQ(bare.size(), 2U);
    EXPECT_EQ(bare[0].numbers(), (Numbers{0, 0, 1, 1, 2, 3, 3, 4, 5}));
    EXPECT_EQ(bare[1].numbers(), Numbers{0}) << "the first frame is not whole";
}

TEST(TfliteSignal, StacksRepeatTheFirstFrame)
{
    const auto stacked = [](float right, int32_t size) {
        return streamOf("SignalStacker", samples({7, -8}), Type::Int16,
                        {{Type::Int16, {size}}, {Type::Bool, {}}},
                        {{"num_channels", 2},
                         {"stacker_left_context", 1},
                         {"stacker_right_context", right},
                         {"stacker_step", 2}});
    };
    const auto whole = stacked(0, 4);
    ASSERT_EQ(whole.size(), 2U);
    EXPECT_EQ(whole[0].numbers(), (Numbers{7, -8, 7, -8}));
    EXPECT_EQ(whole[1].numbers(), Numbers{1});
    EXPECT_EQ(stacked(1, 6).at(1).numbers(), Numbers{0});
}

TEST(TfliteSignal, OverlapsSaturateInOrder)
{
    const Tensor x =
        Tensor::of<int16_t>(core::kInt16, {3, 3}, {1, 2, 30000, 3, 30000, 4, -20000, 5, 6});
    const auto added = streamOf("SignalOverlapAdd", x, Type::Int16, {{Type::Int16, {3}}},
                                {{"T", 7}, {"frame_step", 1}});
    ASSERT_EQ(added.size(), 1U);
    // 30000 + 30000 stays at 32767 before 20000 goes.
    EXPECT_EQ(added[0].numbers(), (Numbers{1, 5, 12767}));
    const auto real =
        streamOf("SignalOverlapAdd", floats({2, 3}, {1, 2, 3, 10, 20, 30}), Type::Float32,
                 {{Type::Float32, {4}}}, {{"T", 1}, {"frame_step", 2}});
    EXPECT_EQ(real.at(0).numbers(), (Numbers{1, 2, 13, 20}));
}

TEST(TfliteSignal, TheNewestEntryOfABufferIsLast)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {1, 1, 1, 2}, {.scales = {0.5F}, .zeros = {3}});
    const int y = w.output("y", Type::Int8, {1, 3, 1, 2}, {.scales = {0.5F}, .zeros = {3}});
    w.op("CIRCULAR_BUFFER", {x}, {y}, {}, flexMap({{"cycles_max", 1}}));
    EXPECT_EQ(numbersOf(w, {{"x", bytes({1, 1, 1, 2}, {-4, 5})}}), (Numbers{3, 3, 3, 3, -4, 5}));
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
    EXPECT_NE(refusalOf({{"fft_length", 8}}, Type::Int8).find("takes int16"), std::string::npos);
}

} // namespace
} // namespace tenon::test
