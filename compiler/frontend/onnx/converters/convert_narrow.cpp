// SPDX-License-Identifier: Apache-2.0
// Conversions between numbers and the codes of narrow types, decomposed: decoding looks up a table,
// encoding counts the rounding thresholds below a magnitude.
#include "compiler/frontend/onnx/converters/convert_narrow.h"

#include "compiler/frontend/import/formula.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

constexpr const char* kMoves[] = {"Concat",   "Expand",  "Flatten",   "Gather",
                                  "Identity", "Reshape", "Slice",     "Split",
                                  "Squeeze",  "Tile",    "Transpose", "Unsqueeze"};
constexpr const char* kKnows[] = {"Cast",           "CastLike", "DequantizeLinear",
                                  "QuantizeLinear", "Shape",    "Size"};

template <size_t N>
bool isIn(const char* const (&names)[N], const std::string& op)
{
    return std::any_of(std::begin(names), std::end(names), [&](const char* n) { return op == n; });
}

/// The float32 threshold t such that exactly the magnitudes x > t round to a code above `code`.
double thresholdAbove(const NarrowType& type, uint32_t code, const std::string& roundMode)
{
    const double low = type.decode(code);
    // Beyond the highest number the format would go on as before.
    const double step = code > 0 ? low - type.decode(code - 1) : type.decode(1) - low;
    double high = code < type.highestCode() ? type.decode(code + 1) : low + step;
    if (type.specials == NarrowSpecials::NanAtTop) high = 2 * low;
    const auto below = [](double at) {
        return static_cast<double>(std::nextafter(static_cast<float>(at), 0.0f));
    };
    if (type.specials == NarrowSpecials::NanAtTop) {
        if (roundMode == "up") return low;
        return below(roundMode == "down" ? high : (low + high) / 2);
    }
    const double middle = (low + high) / 2;
    const bool tieGoesUp = code % 2 == 1;
    return tieGoesUp ? below(middle) : middle;
}

/// The magnitude code of |x|: how many thresholds lie below it. Without saturation one more leads
/// to the code after the highest number.
ValueRef magnitudeCode(OnnxNode& node, ValueRef magnitude, const NarrowType& type, bool saturates)
{
    Formula f(node);
    const std::string roundMode = node.string("round_mode", "up");
    std::vector<double> thresholds;
    const uint32_t last = type.highestCode() + (saturates ? 0 : 1);
    for (uint32_t code = 0; code < last; ++code)
        thresholds.push_back(thresholdAbove(type, code, roundMode));
    const int64_t rank = f.rank(magnitude);
    std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
    shape.push_back(static_cast<int64_t>(thresholds.size()));
    const ValueRef isAbove =
        f.call("greater", {f.expand(magnitude, rank), f.numbers(thresholds, shape, kFloat32)});
    return f.reduce("sum", f.cast(isAbove, kInt32), {rank}, Formula::Keep::No);
}

ValueRef encodedFloat(OnnxNode& node, ValueRef numbers, const NarrowType& type)
{
    Formula f(node);
    const bool saturates = type.bits < 8 || node.integer("saturate", 1) != 0;
    const ValueRef x = f.cast(numbers, kFloat32);
    const ValueRef isNan = f.apply("isnan", x);
    ValueRef code = magnitudeCode(node, f.apply("abs", x), type, saturates);
    const auto constant = [&](int64_t value) { return f.integers({value}, {}, kInt32); };
    const int64_t signBit = int64_t{1} << (type.bits - 1);
    if (type.specials == NarrowSpecials::NanAtTop)
        return f.cast(f.where(isNan, constant(255), code), kUInt8);
    const ValueRef bits = f.call("reinterpret", {x}, {{"dtype", kInt32}});
    const ValueRef isNegative = f.compare("less", bits, 0);
    if (type.specials == NarrowSpecials::NanAtMinusZero) {
        // The code after the highest number, 0x80, already is the NaN; -0 is 0.
        const ValueRef isPlain =
            f.both(f.compare("greater", code, 0), f.compare("less", code, 128));
        code = f.where(f.both(isNegative, isPlain), f.add(code, constant(signBit)), code);
        return f.cast(f.where(isNan, constant(signBit), code), kUInt8);
    }
    // A type without NaN has -0 for it, as in other implementations; comparisons gave code 0.
    if (type.specials != NarrowSpecials::None)
        code = f.where(isNan, constant(type.specials == NarrowSpecials::Ieee ? 0x7e : 0x7f), code);
    const bool hasNan = type.specials != NarrowSpecials::None;
    const ValueRef isBelow = hasNan ? isNegative : f.call("logical_or", {isNegative, isNan});
    return f.cast(f.where(isBelow, f.add(code, constant(signBit)), code), kUInt8);
}

/// Integers keep their lowest bits.
ValueRef encodedInteger(OnnxNode& node, ValueRef numbers, const NarrowType& type)
{
    Formula f(node);
    const bool isSigned = type.held == kInt8;
    const double period = 1 << type.bits, low = isSigned ? -period / 2 : 0;
    ValueRef x = f.cast(numbers, kInt32);
    x = f.subtract(x, low);
    return f.cast(f.add(f.call("floor_mod", {x, f.number(period, x)}), low), type.held);
}

} // namespace

void admitNarrowInputs(OnnxNode& node)
{
    const NarrowType* type = nullptr;
    for (size_t i = 0; i < node.inputCount(); ++i)
        if (!type) type = node.narrowType(i);
    if (!type || isIn(kKnows, node.op())) return;
    if (isIn(kMoves, node.op()))
        node.markResultsNarrow(type);
    else
        node.fail(DiagnosticCode::UnsupportedDtype,
                  "computing with " + std::string(type->name) +
                      " is not supported; cast to a wider type first");
}

ValueRef decodedNarrow(OnnxNode& node, ValueRef codes, const NarrowType& type, DataType to)
{
    Formula f(node);
    if (!type.isFloat()) return f.cast(codes, to);
    std::vector<double> values;
    for (uint32_t code = 0; code < (1u << type.bits); ++code) values.push_back(type.decode(code));
    const auto count = static_cast<int64_t>(values.size());
    const ValueRef table = f.numbers(values, {count}, kFloat32);
    return f.cast(f.take(table, f.cast(codes, kInt32), 0), to);
}

ValueRef encodedNarrow(OnnxNode& node, ValueRef numbers, const NarrowType& type)
{
    return type.isFloat() ? encodedFloat(node, numbers, type) : encodedInteger(node, numbers, type);
}

} // namespace tenon::compiler
