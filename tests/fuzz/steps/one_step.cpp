// SPDX-License-Identifier: Apache-2.0
// One operator whose result jumps, on values next to where it does.
#include "tests/fuzz/steps/step_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::test {
namespace {

using core::kBool;
using core::kFloat32;
using core::kInt64;

void rounding(StepModel& m, const StepValue& x)
{
    static constexpr const char* kOps[] = {"Floor", "Ceil", "Round", "Sign"};
    const char* op = kOps[m.pick(0, 3)];
    m.how += std::string(" -> ") + op;
    m.output(apply(m, op, x));
}

void casting(StepModel& m, const StepValue& x)
{
    static constexpr DataType kTypes[] = {core::kInt32, core::kInt64, kBool, core::kInt16};
    const DataType to = kTypes[m.pick(0, 3)];
    Numbers out;
    const double most = std::ldexp(1.0, to.bits - 1);
    for (const double value : x.tensor.numbers())
        out.push_back(to.isBool() ? value != 0 : std::clamp(std::trunc(value), -most, most - 1));
    m.how += " -> Cast to " + to.text();
    setInt(m.node("Cast", {x}, {tensorOf(to, x.shape(), out)}), "to", core::onnxTypeOf(to));
    m.output(m.last());
}

void comparing(StepModel& m, const StepValue& x)
{
    static constexpr const char* kOps[] = {"Less", "LessOrEqual", "Greater", "GreaterOrEqual",
                                           "Equal"};
    const char* op = kOps[m.pick(0, 4)];
    const std::string name = op;
    const double border = static_cast<double>(m.pick(-5, 5));
    Numbers out;
    for (const double value : x.tensor.numbers())
        out.push_back(name == "Less"             ? value < border
                      : name == "LessOrEqual"    ? value <= border
                      : name == "Greater"        ? value > border
                      : name == "GreaterOrEqual" ? value >= border
                                                 : value == border);
    m.how += std::string(" -> ") + op;
    m.node(op, {x, m.scalar(x.dtype(), border)}, {tensorOf(kBool, x.shape(), out)});
    const StepValue condition = m.last();
    if (m.chance(50)) return m.output(condition);
    m.how += " -> Where";
    Numbers chosen;
    for (size_t i = 0; i < out.size(); ++i)
        chosen.push_back(out[i] != 0 ? x.tensor.number(static_cast<int64_t>(i)) : -1);
    m.node("Where", {condition, x, m.scalar(x.dtype(), -1)},
           {tensorOf(x.dtype(), x.shape(), chosen)});
    m.output(m.last());
}

void remainder(StepModel& m, const StepValue& x)
{
    m.how += " -> Mod";
    static constexpr double kDivisors[] = {1, 0.1, 3, 0.007, -0.3};
    const double divisor = kDivisors[m.pick(0, 4)];
    m.output(apply(m, "Mod", x, m.scalar(x.dtype(), inType(x.dtype(), divisor))));
}

void floorOfQuotient(StepModel& m, const StepValue& x)
{
    m.how += " -> Floor of Div";
    m.output(apply(m, "Floor", apply(m, "Div", x, m.scalar(x.dtype(), m.chance(50) ? 3 : 0.75))));
}

void quantizing(StepModel& m, const StepValue& x)
{
    if (x.dtype() != kFloat32) return rounding(m, x);
    static constexpr DataType kTypes[] = {core::kUInt8, core::kInt8, core::kInt16};
    static constexpr double kScales[] = {1, 0.5, 0.1, 0.02, 3};
    const DataType to = kTypes[m.pick(0, m.chance(80) ? 1 : 2)];
    if (to.bits == 16) m.model.mutable_opset_import(0)->set_version(21);
    const auto scale = static_cast<float>(kScales[m.pick(0, 4)]);
    const double zero = to == core::kInt8 ? -7 : to == core::kUInt8 ? 128 : 0;
    const double least = to == core::kUInt8 ? 0 : to == core::kInt8 ? -128 : -32768;
    const double most = to == core::kUInt8 ? 255 : to == core::kInt8 ? 127 : 32767;
    Numbers out;
    for (const double value : x.tensor.numbers()) {
        const float ratio = static_cast<float>(value) / scale;
        const double whole = static_cast<double>(std::nearbyint(ratio)) + zero;
        out.push_back(std::clamp(whole, least, most));
    }
    m.how += " -> QuantizeLinear to " + to.text() + " by " + std::to_string(scale);
    m.node("QuantizeLinear",
           {x, m.scalar(kFloat32, static_cast<double>(scale)), m.scalar(to, zero)},
           {tensorOf(to, x.shape(), out)});
    m.output(m.last());
}

/// Whole numbers in [0, count) that follow from the value.
StepValue indexOf(StepModel& m, const StepValue& x, int64_t count)
{
    const StepValue whole = apply(m, "Floor", x);
    const StepValue above = apply(m, "Max", whole, m.scalar(x.dtype(), 0));
    const StepValue within =
        apply(m, "Min", above, m.scalar(x.dtype(), static_cast<double>(count - 1)));
    setInt(m.node("Cast", {within}, {tensorOf(kInt64, x.shape(), within.tensor.numbers())}), "to",
           core::onnxTypeOf(kInt64));
    return m.last();
}

void gathering(StepModel& m, const StepValue& x)
{
    constexpr int64_t kRows = 40;
    const StepValue index = indexOf(m, x, kRows);
    Numbers table(kRows);
    std::iota(table.begin(), table.end(), 100);
    Numbers out;
    for (const double at : index.tensor.numbers()) out.push_back(table[static_cast<size_t>(at)]);
    m.how += " -> Gather";
    m.node("Gather", {m.constant(tensorOf(kFloat32, {kRows}, table)), index},
           {tensorOf(kFloat32, x.shape(), out)});
    m.output(m.last());
}

void oneHot(StepModel& m, const StepValue& x)
{
    constexpr int64_t kDepth = 12;
    const StepValue index = indexOf(m, x, kDepth);
    Numbers out;
    for (const double at : index.tensor.numbers())
        for (int64_t d = 0; d < kDepth; ++d) out.push_back(static_cast<double>(d) == at);
    Dims shape = x.shape();
    shape.push_back(kDepth);
    m.how += " -> OneHot";
    m.node("OneHot", {index, m.scalar(kInt64, kDepth), m.constant(tensorOf(kFloat32, {2}, {0, 1}))},
           {tensorOf(kFloat32, shape, out)});
    m.output(m.last());
}

/// Rows of the last dimension; the first of equal numbers.
void extreme(StepModel& m, const StepValue& x)
{
    const bool isMax = m.chance(50);
    const int64_t columns = x.shape().back(), rows = x.size() / columns;
    Numbers out;
    for (int64_t r = 0; r < rows; ++r) {
        int64_t best = 0;
        for (int64_t c = 1; c < columns; ++c) {
            const double value = x.tensor.number(r * columns + c);
            const double known = x.tensor.number(r * columns + best);
            if (isMax ? value > known : value < known) best = c;
        }
        out.push_back(static_cast<double>(best));
    }
    Dims shape = x.shape();
    shape.back() = 1;
    m.how += isMax ? " -> ArgMax" : " -> ArgMin";
    setInt(m.node(isMax ? "ArgMax" : "ArgMin", {x}, {tensorOf(kInt64, shape, out)}), "axis", -1);
    m.output(m.last());
}

void best(StepModel& m, const StepValue& x)
{
    const int64_t columns = x.shape().back(), rows = x.size() / columns;
    const int64_t count = std::min<int64_t>(columns, 5);
    Numbers values, places;
    for (int64_t r = 0; r < rows; ++r) {
        std::vector<int64_t> order(static_cast<size_t>(columns));
        std::iota(order.begin(), order.end(), 0);
        const auto at = [&](int64_t c) { return x.tensor.number(r * columns + c); };
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return at(a) > at(b); });
        for (int64_t k = 0; k < count; ++k) {
            values.push_back(at(order[static_cast<size_t>(k)]));
            places.push_back(static_cast<double>(order[static_cast<size_t>(k)]));
        }
    }
    Dims shape = x.shape();
    shape.back() = count;
    m.how += " -> TopK";
    m.node("TopK", {x, m.constant(tensorOf(kInt64, {1}, {static_cast<double>(count)}))},
           {tensorOf(x.dtype(), shape, values), tensorOf(kInt64, shape, places)});
    const StepValue numbers = m.last(0), indices = m.last(1);
    m.output(numbers);
    m.output(indices);
}

} // namespace

void addStep(StepModel& m, const StepValue& value)
{
    using Step = void (*)(StepModel&, const StepValue&);
    static constexpr Step kSteps[] = {rounding,   rounding,        casting,   comparing, remainder,
                                      quantizing, floorOfQuotient, gathering, oneHot,    extreme,
                                      best};
    kSteps[m.pick(0, std::size(kSteps) - 1)](m, value);
}

} // namespace tenon::test
