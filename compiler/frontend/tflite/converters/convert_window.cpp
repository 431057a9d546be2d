// SPDX-License-Identifier: Apache-2.0
// DILATE, REDUCE_WINDOW and STABLEHLO_PAD: gaps between elements, and windows over all axes.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

/// Fails unless there is a number of at least `least`, and no huge one, for each axis of input 0.
bool areSizes(TfliteNode& node, const std::vector<int64_t>& sizes, const char* what,
              int64_t least = 1)
{
    constexpr int64_t kMost = 1 << 24;
    if (node.hasFailed()) return false;
    const bool isUsable = static_cast<int64_t>(sizes.size()) == node.rank(0) &&
                          std::all_of(sizes.begin(), sizes.end(),
                                      [&](int64_t size) { return size >= least && size <= kMost; });
    if (!isUsable)
        node.fail(DiagnosticCode::BadAttribute, std::string(what) + " of (" + join(sizes, ", ") +
                                                    ") are not usable for " + node.type(0).text());
    return isUsable;
}

std::vector<int64_t> longs(TfliteNode& node, int field)
{
    return node.file().options.numbers<int64_t, int64_t>(field);
}

struct Spread
{
    std::vector<int64_t> low, high, strides;
};

/// `data` with gaps between its elements and borders around them; negative ones cut off.
ValueRef spread(Formula& f, ValueRef data, const Spread& by)
{
    ValueRef out = data;
    if (std::any_of(by.strides.begin(), by.strides.end(), [](int64_t s) { return s != 1; }))
        out = f.call("nn.dilate", {out}, {{"strides", by.strides}});
    std::vector<int64_t> widths;
    for (size_t i = 0; i < by.low.size(); ++i) {
        widths.push_back(std::max<int64_t>(by.low[i], 0));
        widths.push_back(std::max<int64_t>(by.high[i], 0));
    }
    out = f.pad(out, widths, 0);
    const std::vector<int64_t> padded = f.shape(out);
    for (size_t i = 0; i < padded.size() && i < by.low.size(); ++i)
        out = f.slice(out, static_cast<int64_t>(i), std::max<int64_t>(-by.low[i], 0),
                      padded[i] - std::max<int64_t>(-by.high[i], 0));
    return out;
}

/// The same with the scalar at input `value` in the gaps and borders.
void outputSpread(TfliteNode& node, size_t value, const Spread& by)
{
    const std::vector<int64_t> shape = node.shape(0);
    const ValueRef data = node.input(0), filler = node.input(value);
    if (node.hasFailed()) return;
    std::vector<int64_t> result;
    for (size_t i = 0; i < shape.size(); ++i)
        result.push_back(std::max<int64_t>((shape[i] - 1) * by.strides[i] + 1, 0) + by.low[i] +
                         by.high[i]);
    const bool isFit = node.rank(value) == 0 && node.type(value).dtype == node.type(0).dtype &&
                       std::all_of(result.begin(), result.end(), [](int64_t n) { return n > 0; }) &&
                       limitedCount(shape) > 0;
    if (!isFit || limitedCount(result) > kMaxMadeUp) {
        node.fail(DiagnosticCode::ShapeMismatch, "a result of (" + join(result, ", ") +
                                                     ") filled by " + node.type(value).text() +
                                                     " is not usable for " + node.type(0).text());
        return;
    }
    Formula f(node);
    const ValueRef mask = spread(f, f.broadcast(f.integers({1}, {}, kInt32), shape), by);
    node.output(0, f.where(f.compare("greater", mask, 0), spread(f, data, by), filler));
}

struct Reduction
{
    const char* reduce;
    const char* join; ///< with the value to start from
};
/// The schema's ReduceWindowFunction.
constexpr std::array<Reduction, 7> kReductions{{{nullptr, nullptr},
                                                {"sum", "add"},
                                                {"prod", "multiply"},
                                                {"min", "minimum"},
                                                {"max", "maximum"},
                                                {"all", "logical_and"},
                                                {"any", "logical_or"}}};

} // namespace

void convertDilate(TfliteNode& node)
{
    const std::vector<int64_t> strides = node.staticIntegers(1);
    if (!areSizes(node, strides, "dilations")) return;
    const std::vector<int64_t> none(strides.size(), 0);
    outputSpread(node, 2, {none, none, strides});
}

void convertStablehloPad(TfliteNode& node)
{
    Spread by{longs(node, 0), longs(node, 1), longs(node, 2)};
    constexpr int64_t kMost = 1 << 24;
    if (!areSizes(node, by.low, "borders", -kMost) || !areSizes(node, by.high, "borders", -kMost) ||
        !areSizes(node, by.strides, "gaps", 0))
        return;
    for (int64_t& stride : by.strides) ++stride;
    outputSpread(node, 1, by);
}

void convertReduceWindow(TfliteNode& node)
{
    const std::vector<int64_t> window = node.staticIntegers(2), strides = node.staticIntegers(3),
                               dilations = node.staticIntegers(4);
    const int64_t function = node.integer(0);
    const ValueRef data = node.input(0), start = node.input(1);
    if (!areSizes(node, window, "windows") || !areSizes(node, strides, "strides") ||
        !areSizes(node, dilations, "dilations"))
        return;
    if (function < 1 || function >= static_cast<int64_t>(kReductions.size())) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "the reduction " + std::to_string(function) + " is not known");
        return;
    }
    const Reduction& by = kReductions[static_cast<size_t>(function)];
    Formula f(node);
    const auto rank = static_cast<int64_t>(window.size());
    const ValueRef windows = f.call("sliding_window", {data},
                                    {{"axis", int64_t{0}},
                                     {"window_shape", window},
                                     {"strides", strides},
                                     {"dilation", dilations}});
    const ValueRef reduced =
        f.reduce(by.reduce, windows, counted(rank, 2 * rank), Formula::Keep::No);
    node.output(0, f.call(by.join, {reduced, f.reshape(start, {})}));
}

} // namespace tenon::compiler
