// SPDX-License-Identifier: Apache-2.0
// Operators that move values, in doubles.
#include "tests/fuzz/quantized/exact_operators.h"

#include <algorithm>
#include <cstdlib>

namespace tenon::test {

using tenon_onnx::NodeProto;

namespace {

Dims wholes(const Array& array) { return {array.data.begin(), array.data.end()}; }

size_t axisOf(const NodeProto& node, size_t rank, int64_t fallback)
{
    const int64_t axis = intOf(node, "axis", fallback);
    return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

Array transposed(const NodeProto& node, const Array& x)
{
    const Dims order = intsOf(node, "perm", {});
    Array out;
    for (const int64_t axis : order) out.shape.push_back(x.shape[static_cast<size_t>(axis)]);
    forEachIndex(out.shape, [&](const Dims& index) {
        Dims from(index.size());
        for (size_t i = 0; i < index.size(); ++i) from[static_cast<size_t>(order[i])] = index[i];
        out.data.push_back(x.data[static_cast<size_t>(flatIndex(x.shape, from))]);
    });
    return out;
}

Array reshaped(const Array& x, Dims shape)
{
    int64_t known = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0) shape[i] = x.shape[i];
        if (shape[i] > 0) known *= shape[i];
    }
    for (int64_t& dim : shape)
        if (dim < 0) dim = countOf(x.shape) / known;
    return {std::move(shape), x.data};
}

/// Starts, ends, axes and steps as ONNX has them; ends are inside and steps are positive.
Array sliced(const Operands& in)
{
    const Array& x = *in[0];
    const Dims starts = wholes(*in[1]), ends = wholes(*in[2]), axes = wholes(*in[3]);
    const Dims steps = wholes(*in[4]);
    Dims first(x.shape.size(), 0), step(x.shape.size(), 1);
    Array out{x.shape, {}};
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = static_cast<size_t>(axes[i]);
        first[axis] = starts[i];
        step[axis] = steps[i];
        out.shape[axis] = (ends[i] - starts[i] + steps[i] - 1) / steps[i];
    }
    forEachIndex(out.shape, [&](Dims index) {
        for (size_t i = 0; i < index.size(); ++i) index[i] = first[i] + step[i] * index[i];
        out.data.push_back(x.data[static_cast<size_t>(flatIndex(x.shape, index))]);
    });
    return out;
}

Array padded(const NodeProto& node, const Operands& in)
{
    const Array& x = *in[0];
    const Dims pads = wholes(*in[1]);
    const std::string mode = textOf(node, "mode");
    const double with = in.size() > 2 && in[2] ? in[2]->data[0] : 0;
    Array out{x.shape, {}};
    for (size_t i = 0; i < x.shape.size(); ++i) out.shape[i] += pads[i] + pads[i + x.shape.size()];
    forEachIndex(out.shape, [&](Dims index) {
        bool isInside = true;
        for (size_t i = 0; i < index.size(); ++i) {
            int64_t& at = index[i];
            at -= pads[i];
            isInside = isInside && at >= 0 && at < x.shape[i];
            if (mode == "reflect") at = std::abs(at);
            if (mode == "reflect" && at >= x.shape[i]) at = 2 * (x.shape[i] - 1) - at;
            at = std::clamp<int64_t>(at, 0, x.shape[i] - 1);
        }
        const bool isCopied = isInside || (!mode.empty() && mode != "constant");
        out.data.push_back(isCopied ? x.data[static_cast<size_t>(flatIndex(x.shape, index))]
                                    : with);
    });
    return out;
}

Array joined(const NodeProto& node, const Operands& in)
{
    const size_t axis = axisOf(node, in[0]->shape.size(), 0);
    Array out{in[0]->shape, {}};
    out.shape[axis] = 0;
    for (const Array* part : in) out.shape[axis] += part->shape[axis];
    forEachIndex(out.shape, [&](Dims index) {
        size_t part = 0;
        while (index[axis] >= in[part]->shape[axis]) index[axis] -= in[part++]->shape[axis];
        out.data.push_back(in[part]->data[static_cast<size_t>(flatIndex(in[part]->shape, index))]);
    });
    return out;
}

Array flattened(const NodeProto& node, const Array& x)
{
    const size_t axis = axisOf(node, x.shape.size(), 1);
    const int64_t rows = countOf({x.shape.begin(), x.shape.begin() + static_cast<int64_t>(axis)});
    return {{rows, countOf(x.shape) / rows}, x.data};
}

} // namespace

bool evaluateMovement(const NodeProto& node, const Operands& in, Array& out)
{
    const std::string& op = node.op_type();
    if (op == "Transpose")
        out = transposed(node, *in[0]);
    else if (op == "Reshape")
        out = reshaped(*in[0], wholes(*in[1]));
    else if (op == "Flatten")
        out = flattened(node, *in[0]);
    else if (op == "Slice")
        out = sliced(in);
    else if (op == "Pad")
        out = padded(node, in);
    else if (op == "Concat")
        out = joined(node, in);
    else
        return false;
    return true;
}

} // namespace tenon::test
