// SPDX-License-Identifier: Apache-2.0
// CaseBuilder: one case with random data, which its name decides.
#pragma once

#include "tests/conformance/tflite/tflite_case.h"

#include <random>

namespace tenon::test {

using Shape32 = std::vector<int32_t>;

/// What a tensor holds: a type, and the real values that random ones are drawn from. Quantized ones
/// get the scale that just holds them.
struct Numbers
{
    const char* name;
    TfliteType type;
    double low = -4, high = 4;
    bool isQuantized = false;

    Numbers within(double newLow, double newHigh) const;
    bool isFloat() const { return type == TfliteType::Float32; }
};

inline constexpr Numbers kFloats{"float32", TfliteType::Float32};
inline constexpr Numbers kBytes{"int8", TfliteType::Int8, -4, 5, true};
inline constexpr Numbers kUnsigned{"uint8", TfliteType::UInt8, -3, 4.5, true};
inline constexpr Numbers kWide{"int16", TfliteType::Int16, -4, 4, true};
inline constexpr Numbers kInts{"int32", TfliteType::Int32, -60, 60};
inline constexpr Numbers kLongs{"int64", TfliteType::Int64, -60, 60};
inline constexpr Numbers kBools{"bool", TfliteType::Bool, 0, 1};
inline constexpr Numbers kPlainBytes{"int8", TfliteType::Int8, -100, 100};
inline constexpr Numbers kPlainUnsigned{"uint8", TfliteType::UInt8, 0, 200};
inline constexpr Numbers kPlainWide{"int16", TfliteType::Int16, -3000, 3000};

/// The scale and the zero point of its integers; nothing for others.
TfliteScale scaleOf(const Numbers& numbers);

class CaseBuilder
{
public:
    CaseBuilder(TfliteCases& all, std::string op, std::string type, std::string what);
    CaseBuilder(const CaseBuilder&) = delete;
    CaseBuilder& operator=(const CaseBuilder&) = delete;
    /// The case joins the others.
    ~CaseBuilder();

    // Tensors; all return their number. Integers of 64 bits come in and go out as 32 bits, behind a
    // CAST: the runtime that is compared with does not hand them over.
    int input(const Numbers& numbers, const Shape32& shape);
    /// An input of these values.
    int input(const Numbers& numbers, const Shape32& shape, const std::vector<double>& values);
    int constant(const Numbers& numbers, const Shape32& shape);
    int constant(const Numbers& numbers, const Shape32& shape, const std::vector<double>& values);
    int integers(const std::vector<int32_t>& values);
    int integers(const std::vector<int32_t>& values, const Shape32& shape);
    int output(const Numbers& numbers, const Shape32& shape);
    int between(const Numbers& numbers, const Shape32& shape);
    int variable(const Numbers& numbers, const Shape32& shape);
    /// Symmetric integers with one scale per element of `axis` (below 0: one in all), or floats.
    int weight(TfliteType type, const Shape32& shape, int axis, double reach = 1);
    /// What a layer of these data and this weight adds: floats, or integers of the sums' scale.
    int bias(const Numbers& data, int weight, int32_t channels);

    /// TensorFlow Lite's results are not to be trusted, and why.
    void mistrust(std::string why) { m_case.mistrust = std::move(why); }

    /// The operator of the case.
    void op(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
            FlatOut options = {});
    TfliteWriter& model() { return m_case.model; }
    double draw(double low, double high);

private:
    std::string nextName();
    int filled(const Numbers& numbers, const Shape32& shape, const std::vector<double>& stored);
    std::vector<double> drawn(const Numbers& numbers, const Shape32& shape);

    TfliteCases& m_all;
    TfliteCase m_case;
    std::mt19937 m_random;
    int m_names = 0;
    std::vector<std::pair<int, int>> m_narrowed; ///< results of 64 bits, and their model outputs
    std::vector<TfliteScale> m_scales;           ///< of weights, by tensor
};

/// "2x3x4".
std::string shapeText(const Shape32& shape);
int64_t countOf(const Shape32& shape);

/// Both values of an option that is a flag.
inline constexpr uint8_t kFlags[] = {0, 1};

/// The schema's fused activations that tests use.
struct Activation
{
    int8_t code;
    const char* name;
};
inline constexpr Activation kNoActivation{0, ""}, kRelu{1, " RELU"}, kReluN1{2, " RELU_N1_TO_1"},
    kRelu6{3, " RELU6"}, kTanh{4, " TANH"};

} // namespace tenon::test
