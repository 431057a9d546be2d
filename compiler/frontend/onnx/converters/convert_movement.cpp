// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: Transpose, Concat, Pad, Gather, Tile, DepthToSpace.
#include "compiler/frontend/import/sized.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

void transposeBy(OnnxNode& node, ValueRef value, const std::vector<int64_t>& axes, bool isLast)
{
    const ValueRef out = node.emit("transpose", {value}, {{"axes", axes}});
    if (isLast) node.output(0, out);
}

/// pads of an ONNX Pad (begins then ends) as our flat [b0, e0, b1, e1, ...].
std::vector<int64_t> interleaved(OnnxNode& node, const std::vector<int64_t>& pads,
                                 std::vector<int64_t> axes)
{
    const int64_t rank = node.rank(0);
    if (axes.empty()) {
        axes.resize(static_cast<size_t>(rank));
        std::iota(axes.begin(), axes.end(), 0);
    }
    axes = node.axesOf(axes, rank);
    if (node.hasFailed()) return {};
    if (pads.size() != 2 * axes.size()) {
        node.fail(DiagnosticCode::BadAttribute,
                  "pads has " + std::to_string(pads.size()) + " entries but needs " +
                      std::to_string(2 * axes.size()),
                  "pads");
        return {};
    }
    std::vector<int64_t> out(static_cast<size_t>(2 * rank), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
        out[static_cast<size_t>(2 * axes[i])] = pads[i];
        out[static_cast<size_t>(2 * axes[i] + 1)] = pads[axes.size() + i];
    }
    return out;
}

/// Position in [0, extent) that stands at `at` when the axis is continued beyond its ends.
int64_t continued(const std::string& mode, int64_t at, int64_t extent)
{
    if (mode == "edge" || extent == 1) return std::clamp<int64_t>(at, 0, extent - 1);
    const int64_t period = mode == "wrap" ? extent : 2 * (extent - 1);
    const int64_t rest = (at % period + period) % period;
    return rest < extent ? rest : period - rest;
}

/// Whether nn.pad's own edge and reflect modes do: no cropping, and one reflection is enough.
bool isPaddedByMirror(OnnxNode& node, const std::vector<int64_t>& width, const std::string& mode)
{
    const Shape& shape = node.type(0).shape;
    for (size_t i = 0; i < width.size(); ++i) {
        const auto extent = shape[i / 2].constant();
        if (width[i] < 0 || (width[i] > 0 && extent && *extent < 1)) return false;
        if (mode == "reflect" && extent && width[i] >= *extent) return false;
    }
    return mode != "wrap";
}

/// Modes other than constant: axes are cropped, then read at constant positions.
ValueRef padByReading(OnnxNode& node, const std::vector<int64_t>& width, const std::string& mode)
{
    constexpr int64_t kMaxExtent = int64_t{1} << 22;
    const std::vector<int64_t> shape = node.shape(0);
    ValueRef out = node.input(0);
    for (size_t axis = 0; axis < shape.size() && !node.hasFailed(); ++axis) {
        const int64_t before = width[2 * axis], after = width[2 * axis + 1];
        const int64_t extent = before + shape[axis] + after;
        if (before == 0 && after == 0) continue;
        const int64_t first = std::max<int64_t>(-before, 0);
        const int64_t kept = shape[axis] + std::min<int64_t>(after, 0) - first;
        if (kept < 1 || extent > kMaxExtent) {
            node.fail(DiagnosticCode::BadAttribute,
                      "an axis of " + std::to_string(shape[axis]) + " cannot be padded by " +
                          std::to_string(before) + " and " + std::to_string(after),
                      "pads");
            return {};
        }
        std::vector<int64_t> sources(static_cast<size_t>(extent), first);
        for (size_t i = 0; i < sources.size(); ++i)
            sources[i] += continued(mode, static_cast<int64_t>(i) - before - first, kept);
        const ValueRef from = node.constantNode(Tensor::of<int64_t>(kInt64, {extent}, sources));
        const auto along = static_cast<int64_t>(axis);
        out = node.emit("take", {out, from}, {{"axis", along}, {"mode", std::string("clip")}});
    }
    return out;
}

void padBy(OnnxNode& node, const std::vector<int64_t>& pads, const std::vector<int64_t>& axes,
           double value)
{
    if (node.hasFailed()) return;
    const std::string mode = node.string("mode", "constant");
    if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
        node.fail(DiagnosticCode::BadAttribute,
                  "mode is " + quoted(mode) + "; it may be constant, reflect, edge or wrap",
                  "mode");
        return;
    }
    constexpr int64_t kLimit = int64_t{1} << 31;
    for (const int64_t pad : pads)
        if (pad <= -kLimit || pad >= kLimit) {
            node.fail(DiagnosticCode::BadAttribute, "pads has the entry " + std::to_string(pad),
                      "pads");
            return;
        }
    std::vector<int64_t> width = interleaved(node, pads, axes);
    if (node.hasFailed()) return;
    if (std::all_of(width.begin(), width.end(), [](int64_t p) { return p == 0; })) {
        node.forward(0, 0);
        return;
    }
    if (mode == "constant" || isPaddedByMirror(node, width, mode))
        node.output(0, node.emit("nn.pad", {node.input(0)},
                                 {{"pad_width", width}, {"pad_value", value}, {"pad_mode", mode}}));
    else
        node.output(0, padByReading(node, width, mode));
}

void depthShuffle(OnnxNode& node, bool toSpace)
{
    const int64_t rank = node.rank(0), block = node.integer("blocksize", 0);
    const std::string mode = node.string("mode", "DCR");
    if (node.hasFailed()) return;
    const Shape shape = node.type(0).shape;
    if (rank == 4 && !shape[1].isConst()) node.shape(0); // says what to bind
    if (node.hasFailed()) return;
    const auto isMultiple = [&](size_t axis, int64_t of) {
        const auto extent = shape[axis].constant();
        return !extent || *extent % of == 0;
    };
    const bool fits =
        rank == 4 && block >= 1 && block < (int64_t{1} << 15) &&
        (toSpace ? isMultiple(1, block * block) : isMultiple(2, block) && isMultiple(3, block));
    if (!fits || (mode != "DCR" && mode != "CRD")) {
        node.fail(DiagnosticCode::BadAttribute,
                  "blocksize " + std::to_string(block) + " and mode " + quoted(mode) +
                      " do not fit the shape " + shapeText(shape),
                  "blocksize");
        return;
    }
    const Dim n = shape[0], c = shape[1], h = shape[2], w = shape[3], b(block);
    const Dim fewer = floorDiv(c, b * b), rows = floorDiv(h, b), columns = floorDiv(w, b);
    Shape split{n, c, rows, b, columns, b};
    std::vector<int64_t> axes{0, 3, 5, 1, 2, 4};
    if (toSpace && mode == "DCR") {
        split = {n, b, b, fewer, h, w};
        axes = {0, 3, 4, 1, 5, 2};
    } else if (toSpace) {
        split = {n, fewer, b, b, h, w};
        axes = {0, 1, 4, 2, 5, 3};
    }
    const Shape merged =
        toSpace ? Shape{n, fewer, h * b, w * b} : Shape{n, c * b * b, rows, columns};
    ValueRef out = reshapedTo(node, node.input(0), split);
    out = node.emit("transpose", {out}, {{"axes", axes}});
    node.output(0, reshapedTo(node, out, merged));
}

} // namespace

void convertTranspose(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    std::vector<int64_t> axes(static_cast<size_t>(rank));
    for (int64_t i = 0; i < rank; ++i) axes[static_cast<size_t>(i)] = rank - 1 - i;
    axes = node.axesOf(node.integers("perm", axes), rank);
    if (static_cast<int64_t>(axes.size()) != rank) {
        node.fail(DiagnosticCode::BadAttribute,
                  "perm has " + std::to_string(axes.size()) +
                      " entries but the input has the shape " + shapeText(node.type(0).shape),
                  "perm");
        return;
    }
    transposeBy(node, node.input(0), axes, true);
}

/// More are joined in groups first: a kernel tells its parts apart one after the other, and code
/// generation takes more than twice as long for twice as many.
constexpr int64_t kMostParts = 48;

void convertConcat(OnnxNode& node)
{
    const int64_t axis = node.axisOf(node.integer("axis", 1), node.rank(0));
    if (node.inputCount() == 1) {
        node.forward(0, 0);
        return;
    }
    std::vector<ValueRef> parts;
    for (size_t i = 0; i < node.inputCount(); ++i) parts.push_back(node.input(i));
    while (parts.size() > kMostParts && !node.hasFailed()) {
        std::vector<ValueRef> joined;
        for (size_t i = 0; i < parts.size(); i += kMostParts) {
            const auto first = parts.begin() + static_cast<std::ptrdiff_t>(i);
            const auto last = parts.size() - i <= kMostParts ? parts.end() : first + kMostParts;
            joined.push_back(last - first == 1
                                 ? *first
                                 : node.emit("concatenate", {first, last}, {{"axis", axis}}));
        }
        parts = std::move(joined);
    }
    node.output(0, node.emit("concatenate", parts, {{"axis", axis}}));
}

void convertPadAttr(OnnxNode& node)
{
    const std::vector<int64_t> old = node.integers("paddings", {});
    padBy(node, node.integers("pads", old), {}, node.number("value", 0));
}

void convertPad(OnnxNode& node)
{
    if (node.isOpen(1) || node.isOpen(2) || node.isOpen(3)) return padAtRunTime(node);
    const std::vector<int64_t> pads = node.staticIntegers(1);
    const std::vector<double> value = node.has(2) ? node.staticNumbers(2) : std::vector<double>{};
    const std::vector<int64_t> axes = node.has(3) ? node.staticIntegers(3) : std::vector<int64_t>{};
    padBy(node, pads, axes, value.empty() ? 0 : value[0]);
}

void convertGather(OnnxNode& node)
{
    const int64_t axis = node.axisOf(node.integer("axis", 0), node.rank(0));
    if (node.hasFailed()) return;
    const Dim extent = node.type(0).shape[static_cast<size_t>(axis)];
    const Tensor* indices = node.constant(1);
    if (!indices || !extent.isConst()) {
        // Negative indices count from the end; wrapping does exactly that.
        node.output(0, node.emit("take", {node.input(0), node.input(1)},
                                 {{"axis", axis}, {"mode", std::string("wrap")}}));
        return;
    }
    std::vector<int64_t> values = indices->integers();
    for (int64_t& index : values) {
        if (index < -extent.value() || index >= extent.value()) {
            node.fail(DiagnosticCode::BadModel,
                      "index " + std::to_string(index) + " is outside an axis of " + extent.text());
            return;
        }
        if (index < 0) index += extent.value();
    }
    const ValueRef chosen =
        values == indices->integers() && indices->dtype() == kInt64
            ? node.input(1)
            : node.constantNode(Tensor::of<int64_t>(kInt64, indices->shape(), values));
    node.output(0, node.emit("take", {node.input(0), chosen},
                             {{"axis", axis}, {"mode", std::string("clip")}}));
}

void convertCenterCropPad(OnnxNode& node)
{
    const std::vector<Dim> wanted = node.boundDims(1);
    const Shape given = node.type(0).shape;
    if (node.hasFailed()) return;
    std::vector<int64_t> axes(given.size());
    std::iota(axes.begin(), axes.end(), 0);
    axes = node.axesOf(node.integers("axes", axes), static_cast<int64_t>(given.size()));
    if (node.hasFailed()) return;
    if (axes.size() != wanted.size()) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the new shape has " + std::to_string(wanted.size()) + " entries for " +
                      std::to_string(axes.size()) + " axes");
        return;
    }
    Shape result = given;
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto size = wanted[i].constant();
        if (size && (*size < 0 || *size >= (int64_t{1} << 31)))
            return node.fail(DiagnosticCode::ShapeMismatch,
                             "the new shape has the entry " + std::to_string(*size));
        result[static_cast<size_t>(axes[i])] = wanted[i];
    }
    const auto known = constantShape(result);
    if (result == given) return node.forward(0, 0);
    if (!known || !constantShape(given)) return centerCropPadAtRunTime(node, result);
    const std::vector<int64_t> shape = node.shape(0);
    // Cropping is padding by a negative width; the odd element goes to the end.
    std::vector<int64_t> width;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const int64_t gained = (*known)[axis] - shape[axis];
        width.push_back(gained / 2);
        width.push_back(gained - gained / 2);
    }
    node.output(
        0, node.emit(
               "nn.pad", {node.input(0)},
               {{"pad_width", width}, {"pad_value", 0.0}, {"pad_mode", std::string("constant")}}));
}

void convertDepthToSpace(OnnxNode& node) { depthShuffle(node, true); }
void convertSpaceToDepth(OnnxNode& node) { depthShuffle(node, false); }

} // namespace tenon::compiler
