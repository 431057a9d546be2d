// SPDX-License-Identifier: Apache-2.0
// Networks of shapes and types that exporters write now and then: odd channels, groups, dilations,
// batches, gates, joins, layers one scale of which has no zero.
#include "tests/conformance/tflite/odd_layers.h"

#include <span>

namespace tenon::test {
namespace {

const OddKind kAll[] = {{"float32", kFloats, TfliteType::Float32, false},
                        {"int8", kBytes, TfliteType::Int8, true},
                        {"uint8", kUnsigned, TfliteType::UInt8, false},
                        {"int16x8", kWide, TfliteType::Int8, true}};
/// Floats and bytes.
const std::span<const OddKind> kSome(kAll, 3);

const FlatOut kPool =
    FlatOut().number(0, int8_t{0}).number(1, 2).number(2, 2).number(3, 3).number(4, 3);

void addOddChannels(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd network", kind.name, "batch of 4, 13, 29 and 7 channels, dilations");
    OddLayers n(c, kind);
    OddValue x = n.input({4, 9, 11, 13});
    x = n.conv(x, {{29, 3, 3, 13}, {4, 9, 11, 29}, 1, 2, 1, false, kRelu});
    x = n.depthwise(x, {{1, 3, 3, 29}, {4, 9, 11, 29}, 1, 1, 2, false, kRelu6});
    x = n.moved("MAX_POOL_2D", {x.tensor}, x, {4, 5, 6, 29}, kPool);
    n.result(n.conv(x, {{7, 1, 1, 29}, {4, 5, 6, 7}}));
}

void addMultiplied(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd network", kind.name, "3 filters of each channel, flattened");
    OddLayers n(c, kind);
    OddValue x = n.input({1, 10, 7, 5});
    x = n.depthwise(x, {{1, 5, 3, 15}, {1, 6, 5, 15}, 1, 1, 1, true, kRelu});
    x = n.conv(x, {{6, 2, 2, 15}, {1, 3, 3, 6}, 2, 1, 1, false, kNoActivation});
    x = n.moved("RESHAPE", {x.tensor, c.integers({1, 54})}, x, {1, 54});
    n.result(n.dense(x, 9, kRelu));
}

void addGroups(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd network", kind.name, "three groups, joined with their input");
    OddLayers n(c, kind);
    OddValue x = n.conv(n.input({2, 6, 5, 4}), {{9, 1, 1, 4}, {2, 6, 5, 9}});
    const OddValue y = n.conv(x, {{9, 3, 3, 3}, {2, 6, 5, 9}});
    n.result(n.moved("CONCATENATION", {x.tensor, y.tensor}, x, {2, 6, 5, 18},
                     FlatOut().number(0, 3).number(1, int8_t{0})));
}

/// Each channel times a share that depends on all of them.
void addGates(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd network", kind.name, "squeeze and excite");
    OddLayers n(c, kind);
    OddValue x = n.conv(n.input({2, 7, 7, 3}), {{11, 3, 3, 3}, {2, 4, 4, 11}, 2});
    OddValue s = n.moved("MEAN", {x.tensor, c.integers({1, 2})}, x, {2, 1, 1, 11},
                         FlatOut().number(0, uint8_t{1}));
    s = n.conv(s, {{3, 1, 1, 11}, {2, 1, 1, 3}, 1, 1, 1, false, kRelu});
    s = n.logistic(n.conv(s, {{11, 1, 1, 3}, {2, 1, 1, 11}}));
    n.result(
        n.made("MUL", {x.tensor, s.tensor}, {2, 4, 4, 11}, -5, 6, FlatOut().number(0, int8_t{0})));
}

void addShuffle(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd network", kind.name, "shuffled channels, halves");
    OddLayers n(c, kind);
    OddValue x = n.conv(n.input({1, 5, 6, 3}), {{14, 3, 3, 3}, {1, 5, 6, 14}});
    x = n.moved("RESHAPE", {x.tensor, c.integers({1, 5, 6, 2, 7})}, x, {1, 5, 6, 2, 7});
    x = n.moved("TRANSPOSE", {x.tensor, c.integers({0, 1, 2, 4, 3})}, x, {1, 5, 6, 7, 2});
    x = n.moved("RESHAPE", {x.tensor, c.integers({1, 5, 6, 14})}, x, {1, 5, 6, 14});
    const OddValue left = n.moved(
        "STRIDED_SLICE",
        {x.tensor, c.integers({0, 0, 0, 0}), c.integers({1, 5, 6, 7}), c.integers({1, 1, 1, 1})}, x,
        {1, 5, 6, 7});
    n.result(n.conv(left, {{14, 1, 1, 7}, {1, 5, 6, 14}, 1, 1, 1, false, kRelu}));
    n.result(x);
}

/// Down, up and joined with what was there before.
void addUpward(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd network", kind.name, "down and up again");
    OddLayers n(c, kind);
    const OddValue x = n.conv(n.input({1, 8, 6, 3}), {{10, 3, 3, 3}, {1, 8, 6, 10}});
    const OddValue low = n.conv(x, {{12, 3, 3, 10}, {1, 4, 3, 12}, 2, 1, 1, false, kRelu});
    const OddValue up = n.transposed(low, {10, 3, 3, 12}, {1, 8, 6, 10});
    const OddValue both = n.moved("CONCATENATION", {x.tensor, up.tensor}, x, {1, 8, 6, 20},
                                  FlatOut().number(0, 3).number(1, int8_t{0}));
    const OddValue last = n.conv(both, {{5, 1, 1, 20}, {1, 8, 6, 5}});
    n.result(n.moved("RESIZE_NEAREST_NEIGHBOR", {last.tensor, c.integers({16, 12})}, last,
                     {1, 16, 12, 5}));
}

void addBlocks(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd network", kind.name, "space to depth and back, around a layer");
    OddLayers n(c, kind);
    const FlatOut two = FlatOut().number(0, 2);
    OddValue x = n.input({3, 6, 4, 5});
    x = n.moved("SPACE_TO_DEPTH", {x.tensor}, x, {3, 3, 2, 20}, two);
    x = n.conv(x, {{12, 3, 3, 20}, {3, 3, 2, 12}, 1, 1, 1, false, kRelu6});
    n.result(n.moved("DEPTH_TO_SPACE", {x.tensor}, x, {3, 6, 4, 3}, two));
}

/// A picture of one row.
void addRow(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd network", kind.name, "one row of 40, padded, split");
    OddLayers n(c, kind);
    OddValue x = n.input({2, 1, 40, 6});
    x = n.moved("PAD", {x.tensor, c.integers({0, 0, 0, 0, 3, 1, 0, 0}, {4, 2})}, x, {2, 1, 44, 6});
    x = n.conv(x, {{8, 1, 5, 6}, {2, 1, 20, 8}, 2, 1, 1, true, kRelu});
    const OddValue a = n.conv(x, {{8, 1, 3, 8}, {2, 1, 20, 8}, 1, 1, 3});
    const OddValue b =
        n.made("ADD", {a.tensor, x.tensor}, {2, 1, 20, 8}, -6, 7, FlatOut().number(0, kRelu.code));
    n.result(n.moved("SQUEEZE", {b.tensor}, b, {2, 20, 8}, FlatOut().numbers(0, Shape32{1})));
}

void addDenseChain(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd network", kind.name, "dense layers of a batch of 4");
    OddLayers n(c, kind);
    OddValue x = n.dense(n.input({4, 37}), 19, kRelu);
    x = n.logistic(n.dense(x, 23, kNoActivation));
    n.result(n.dense(x, 3, kNoActivation));
}

/// Bytes whose weights have a zero point of their own in each channel; TensorFlow Lite refuses.
void addChannelZeros(TfliteCases& all, bool isDepthwise)
{
    CaseBuilder c(all, "odd network", "int8",
                  isDepthwise ? "depthwise weights with zero points" : "weights with zero points");
    c.mistrust("it takes weights of int8 to have no zero points");
    const Shape32 kernel = isDepthwise ? Shape32{1, 3, 3, 8} : Shape32{8, 3, 3, 8};
    TfliteScale scale{{}, {}, isDepthwise ? 3 : 0};
    for (int i = 0; i < 8; ++i) {
        scale.scales.push_back(static_cast<float>(c.draw(0.001, 0.003)));
        scale.zeros.push_back(20 * i - 70);
    }
    std::vector<uint8_t> bytes(static_cast<size_t>(countOf(kernel)));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(c.draw(0, 256));
    const int x = c.input(kBytes, {1, 6, 6, 8});
    const int w = c.model().constant("w", TfliteType::Int8, kernel, bytes, scale);
    FlatOut options;
    options.number(0, int8_t{0}).number(1, 1).number(2, 1);
    if (isDepthwise) options.number(3, 1);
    c.model().op(isDepthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D", {x, w},
                 {c.output(kBytes.within(-8, 9), {1, 6, 6, 8})}, std::move(options));
}

} // namespace

void addOddCases(TfliteCases& all)
{
    for (const OddKind& kind : kAll) {
        addOddChannels(all, kind);
        addMultiplied(all, kind);
        addGates(all, kind);
        addRow(all, kind);
        addDenseChain(all, kind);
    }
    for (const OddKind& kind : kSome) {
        addShuffle(all, kind);
        addUpward(all, kind);
        addBlocks(all, kind);
    }
    for (const OddKind& kind : {kAll[0], kAll[1]}) addGroups(all, kind);
    addChannelZeros(all, false);
    addChannelZeros(all, true);
}

} // namespace tenon::test
