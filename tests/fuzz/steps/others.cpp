// SPDX-License-Identifier: Apache-2.0
// Operators that compute positions and quotients of their own.
#include "tests/fuzz/steps/step_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tenon::test {
namespace {

using core::kFloat32;
using core::kInt64;

int64_t floorQuotient(int64_t a, int64_t b)
{
    const int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a % b < 0) != (b < 0));
}

/// The whole number that ONNX's nearest_mode makes of the rational over / under.
int64_t nearestOf(int64_t over, int64_t under, const std::string& mode)
{
    if (mode == "floor") return floorQuotient(over, under);
    if (mode == "ceil") return -floorQuotient(-over, under);
    const int64_t half = mode == "round_prefer_ceil" ? under : under - 1;
    return floorQuotient(2 * over + half, 2 * under);
}

/// Where output `o` falls in the input, by real numbers: over / under.
std::pair<int64_t, int64_t> positionOf(const std::string& mode, int64_t o, int64_t in, int64_t out)
{
    if (mode == "asymmetric") return {o * in, out};
    if (mode == "align_corners")
        return out == 1 ? std::pair<int64_t, int64_t>{0, 1} : std::pair(o * (in - 1), out - 1);
    if (mode == "pytorch_half_pixel" && out == 1) return {0, 1};
    if (mode == "tf_half_pixel_for_nn") return {(2 * o + 1) * in, 2 * out};
    return {(2 * o + 1) * in - out, 2 * out};
}

void resize(StepModel& m)
{
    static constexpr const char* kPositions[] = {"asymmetric",           "half_pixel",
                                                 "align_corners",        "pytorch_half_pixel",
                                                 "half_pixel_symmetric", "tf_half_pixel_for_nn"};
    static constexpr const char* kNearest[] = {"floor", "ceil", "round_prefer_floor",
                                               "round_prefer_ceil"};
    const std::string mode = kPositions[m.pick(0, 5)], rounding = kNearest[m.pick(0, 3)];
    const int64_t in = m.pick(1, 48), out = m.pick(1, 48);
    const bool isPlane = m.chance(50); // the other axes decide which lowering it gets
    const Dims shape = isPlane ? Dims{1, 1, in, 3} : Dims{in, 3};
    const Dims wanted = isPlane ? Dims{1, 1, out, 3} : Dims{out, 3};
    Numbers data(static_cast<size_t>(3 * in)), values;
    std::iota(data.begin(), data.end(), 0);
    for (int64_t o = 0; o < out; ++o) {
        const auto [over, under] = positionOf(mode, o, in, out);
        const int64_t row = std::clamp<int64_t>(nearestOf(over, under, rounding), 0, in - 1);
        for (int64_t c = 0; c < 3; ++c) values.push_back(static_cast<double>(3 * row + c));
    }
    m.how =
        "Resize " + std::to_string(in) + " to " + std::to_string(out) + " " + mode + " " + rounding;
    const StepValue x = m.input(tensorOf(kFloat32, shape, data));
    const StepValue sizes = m.constant(tensorOf(kInt64, {static_cast<int64_t>(wanted.size())},
                                                Numbers(wanted.begin(), wanted.end())));
    const StepValue none{"", {}};
    auto& node = m.node("Resize", {x, none, none, sizes}, {tensorOf(kFloat32, wanted, values)});
    setText(node, "mode", "nearest");
    setText(node, "coordinate_transformation_mode", mode);
    setText(node, "nearest_mode", rounding);
    m.output(m.last());
}

using Corners = std::array<float, 4>;

bool overlaps(const Corners& a, const Corners& b, float threshold)
{
    const auto length = [](float from, float to) { return std::max(to - from, 0.0f); };
    const float areaA = length(a[0], a[2]) * length(a[1], a[3]);
    const float areaB = length(b[0], b[2]) * length(b[1], b[3]);
    const float shared = length(std::max(a[0], b[0]), std::min(a[2], b[2])) *
                         length(std::max(a[1], b[1]), std::min(a[3], b[3]));
    const float all = areaA + areaB - shared;
    return all > 0 && shared / all > threshold;
}

/// start + i * step, each operation rounded.
void range(StepModel& m)
{
    static constexpr float kSteps[] = {0.1f, 0.3f, 0.02f, 1.7f};
    const float start = static_cast<float>(m.pick(-5, 5)) * 0.1f, step = kSteps[m.pick(0, 3)];
    const int64_t count = m.pick(5, 70);
    const float limit = start + step * (static_cast<float>(count) - 0.5f);
    Numbers out;
    for (int64_t i = 0; i < count; ++i) {
        const float product = static_cast<float>(i) * step;
        out.push_back(static_cast<double>(start + product));
    }
    m.how = "Range";
    m.node("Range",
           {m.scalar(kFloat32, static_cast<double>(start)),
            m.scalar(kFloat32, static_cast<double>(limit)),
            m.scalar(kFloat32, static_cast<double>(step))},
           {tensorOf(kFloat32, {count}, out)});
    const StepValue places = m.last();
    m.how += " -> Floor of Div";
    const StepValue divisor = m.scalar(kFloat32, static_cast<double>(step));
    m.output(apply(m, "Floor", apply(m, "Div", places, divisor)));
}

/// Truncating quotients and both remainders, by constants and by data.
void integers(StepModel& m)
{
    static constexpr int64_t kDivisors[] = {3, 7, -7, 10, 641, -1, 1, 64, 1000003};
    const DataType dtype = m.chance(50) ? core::kInt32 : kInt64;
    const int64_t divisor = kDivisors[m.pick(0, 8)];
    const bool isData = m.chance(30);
    Numbers values, divisors, out;
    static constexpr const char* kOps[] = {"Div", "Mod", "fmod"};
    const std::string op = kOps[m.pick(0, 2)];
    for (int64_t i = 0; i < 67; ++i) {
        const int64_t limit = dtype.bits == 32 ? 2147483647 / 2000 : int64_t{1} << 40;
        int64_t a = m.pick(-limit, limit);
        if (std::abs(divisor) < 1000) a = a / divisor * divisor + m.pick(-1, 1);
        const int64_t b = isData ? divisor + 2 * m.pick(0, 9) * (divisor < 0 ? -1 : 1) : divisor;
        values.push_back(static_cast<double>(a));
        divisors.push_back(static_cast<double>(b));
        out.push_back(static_cast<double>(op == "Div"   ? a / b
                                          : op == "Mod" ? a - b * floorQuotient(a, b)
                                                        : a % b));
    }
    m.how = op + " of " + dtype.text() + " by " + std::to_string(divisor);
    const StepValue x = m.input(tensorOf(dtype, {67}, values));
    const StepValue y = isData ? m.input(tensorOf(dtype, {67}, divisors))
                               : m.scalar(dtype, static_cast<double>(divisor));
    auto& node = m.node(op == "Div" ? "Div" : "Mod", {x, y}, {tensorOf(dtype, {67}, out)});
    if (op == "fmod") setInt(node, "fmod", 1);
    m.output(m.last());
}

/// 64-bit integers next to where two binary32 numbers are equally far.
void wideIntegers(StepModel& m)
{
    Numbers out;
    std::vector<int64_t> values;
    for (int64_t i = 0; i < 67; ++i) {
        const int64_t shift = m.pick(25, 38);
        const int64_t top = m.pick(1 << 23, (1 << 24) - 1);
        const int64_t value = (top << shift) + (int64_t{1} << (shift - 1)) + m.pick(-1, 1);
        values.push_back(m.chance(50) ? value : -value);
        out.push_back(static_cast<double>(static_cast<float>(values.back())));
    }
    m.how = "Cast of int64 to float32";
    setInt(m.node("Cast", {m.input(Tensor::of(kInt64, {67}, values))},
                  {tensorOf(kFloat32, {67}, out)}),
           "to", core::onnxTypeOf(kFloat32));
    m.output(m.last());
}

/// Numbers at, next to and far beyond the limits of the type, and none.
void farCasts(StepModel& m)
{
    static constexpr DataType kTypes[] = {core::kInt8,  core::kUInt8,  core::kInt16,
                                          core::kInt32, core::kUInt32, kInt64};
    const DataType to = kTypes[m.pick(0, 5)];
    const DataType from = m.chance(60) ? kFloat32 : core::kFloat64;
    const int bits = to.bits - (to.isSigned() ? 1 : 0);
    const double beyond = std::ldexp(1.0, bits), least = to.isSigned() ? -beyond : 0;
    Numbers values;
    std::vector<int64_t> whole;
    for (int64_t i = 0; i < 67; ++i) {
        double value = m.chance(50) ? beyond : least;
        if (m.chance(60)) value *= m.uniform(0.9999999, 1.0000001);
        if (m.chance(30)) value = std::ldexp(m.uniform(-2, 2), static_cast<int>(m.pick(0, 90)));
        if (from == kFloat32) value = static_cast<double>(static_cast<float>(value));
        if (m.chance(10)) value = m.chance(50) ? NAN : m.chance(50) ? HUGE_VAL : -HUGE_VAL;
        values.push_back(value);
        whole.push_back(std::isnan(value) ? 0
                        : value >= beyond ? (bits == 63 ? INT64_MAX : (int64_t{1} << bits) - 1)
                        : value <= least  ? static_cast<int64_t>(least)
                                          : static_cast<int64_t>(value));
    }
    m.how = "Cast of far " + from.text() + " to " + to.text();
    const Tensor out = Tensor::make(to, {67}, [&](std::span<std::byte> bytes) {
        for (size_t i = 0; i < whole.size(); ++i)
            core::storeInteger(to, bytes, static_cast<int64_t>(i), whole[i]);
    });
    setInt(m.node("Cast", {m.input(tensorOf(from, {67}, values))}, {out}), "to",
           core::onnxTypeOf(to));
    m.output(m.last());
}

} // namespace

void addOther(StepModel& m)
{
    using Other = void (*)(StepModel&);
    static constexpr Other kOthers[] = {resize,   resize,       resize,   range,   range,
                                        integers, wideIntegers, farCasts, farCasts};
    kOthers[m.pick(0, std::size(kOthers) - 1)](m);
}

/// Pairs of boxes whose overlap is the threshold, or next to it.
void addSuppression(StepModel& m)
{
    m.needsVm = true;
    constexpr int64_t kBoxes = 24;
    static constexpr float kThresholds[] = {0.5f, 1.0f / 3, 0.25f, 0.6f};
    const float threshold = kThresholds[m.pick(0, 3)];
    std::vector<Corners> boxes;
    Numbers numbers, scores;
    for (int64_t i = 0; i < kBoxes; ++i) {
        const auto side = static_cast<float>(m.pick(1, 30)) * 0.1f;
        const auto at = static_cast<float>(i / 2) * 50.0f;
        // Two squares shifted by d overlap by (s - d) / (s + d).
        const float d = side * (1 - threshold) / (1 + threshold);
        float shift = i % 2 ? d : 0;
        if (i % 2 && m.chance(50)) shift = std::nextafter(shift, m.chance(50) ? 0.0f : 99.0f);
        boxes.push_back({at + shift, 0, at + shift + side, side});
        numbers.insert(numbers.end(), boxes.back().begin(), boxes.back().end());
        scores.push_back(static_cast<double>(kBoxes - i) / 64);
    }
    Numbers rows;
    std::vector<size_t> kept;
    for (size_t i = 0; i < boxes.size(); ++i) {
        const bool goes = std::any_of(kept.begin(), kept.end(), [&](size_t k) {
            return overlaps(boxes[i], boxes[k], threshold);
        });
        if (!goes) kept.push_back(i);
    }
    // All of them are asked for one by one, so that the number of rows is known.
    constexpr int64_t kMost = 12;
    for (size_t k = 0; k < kMost; ++k) {
        rows.insert(rows.end(), {0, 0, static_cast<double>(kept[k])});
    }
    m.how = "NonMaxSuppression at " + std::to_string(threshold);
    m.node("NonMaxSuppression",
           {m.input(tensorOf(kFloat32, {1, kBoxes, 4}, numbers)),
            m.input(tensorOf(kFloat32, {1, 1, kBoxes}, scores)),
            m.constant(tensorOf(kInt64, {1}, {kMost})),
            m.constant(tensorOf(kFloat32, {1}, {static_cast<double>(threshold)}))},
           {tensorOf(kInt64, {kMost, 3}, rows)});
    m.output(m.last());
}

} // namespace tenon::test
