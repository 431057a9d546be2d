// SPDX-License-Identifier: Apache-2.0
// Recurrent layers with their directions and options, and signal windows.
#include "tests/fuzz/graphs/graph_builder.h"

#include <iterator>

namespace tenon::test {
namespace {

void layer(GraphBuilder& b)
{
    static const char* const kOps[] = {"RNN", "GRU", "LSTM"};
    static const char* const kDirections[] = {"forward", "reverse", "bidirectional"};
    const int64_t kind = b.pick(0, 2), direction = b.pick(0, 2), gates = kind == 0 ? 1 : kind + 2;
    const int64_t directions = direction == 2 ? 2 : 1, hidden = b.pick(1, 6);
    const GraphValue x = b.addInput({b.pick(1, 5), b.pick(1, 3), b.pick(1, 5)});
    const int64_t length = x.shape[0], batch = x.shape[1], size = x.shape[2];
    std::vector<GraphValue> operands{
        x, b.addConstant({directions, gates * hidden, size}, -0.5, 0.5),
        b.addConstant({directions, gates * hidden, hidden}, -0.5, 0.5)};
    const GraphValue none{"", core::kFloat32, {}};
    if (b.chance(60)) {
        operands.push_back(b.addConstant({directions, 2 * gates * hidden}));
        const bool isShort = b.chance(30);
        if (isShort)
            operands.push_back(b.addWhole(core::kInt32, {batch}, 1, length));
        else if (b.chance(50))
            operands.push_back(none);
        if (operands.size() == 5) operands.push_back(b.addConstant({directions, batch, hidden}));
    }
    const std::string all = b.newName(), last = b.newName();
    auto& node = b.addNode(kOps[kind], operands, {all, last});
    setInt(node, "hidden_size", hidden);
    setText(node, "direction", kDirections[direction]);
    if (kind == 1) setInt(node, "linear_before_reset", b.chance(50));
    b.remember({all, core::kFloat32, {length, directions, batch, hidden}, false});
    b.remember({last, core::kFloat32, {directions, batch, hidden}, false});
}

void window(GraphBuilder& b)
{
    if (b.opset() < 17) return layer(b);
    static const char* const kOps[] = {"HannWindow", "HammingWindow", "BlackmanWindow"};
    const int64_t size = b.pick(2, 12);
    setInt(b.apply(kOps[b.pick(0, 2)], {b.addIntegers({size}, true)}, {size}), "periodic",
           b.chance(50));
}

void spectrum(GraphBuilder& b)
{
    if (b.opset() < 17) return layer(b);
    const int64_t n = b.pick(1, 2), length = b.pick(2, 9);
    const GraphValue x = b.addInput({n, length, 1});
    if (b.opset() >= 20) {
        b.apply("DFT", {x, {"", core::kInt64, {}}, b.addIntegers({1}, true)}, {n, length, 2});
    } else {
        setInt(b.apply("DFT", {x}, {n, length, 2}), "axis", 1);
    }
}

} // namespace

void addRecurrentNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {layer, layer, layer, window, spectrum};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
