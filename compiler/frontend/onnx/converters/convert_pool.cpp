// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool and the global poolings.
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/kernel_window.h"
#include "compiler/frontend/onnx/converters/pool_windows.h"
#include "core/base/text.h"

#include <numeric>

namespace tenon::compiler {
namespace {

void convertPool(OnnxNode& node, std::string_view op, bool countsPadding)
{
    if (!hasSpatialAxis(node)) return;
    const std::vector<int64_t> kernel = node.integers("kernel_shape", {});
    if (node.hasFailed()) return;
    if (kernel.size() != static_cast<size_t>(node.rank(0)) - 2) {
        node.fail(DiagnosticCode::BadAttribute,
                  "kernel_shape has " + std::to_string(kernel.size()) +
                      " entries but the input has the shape " + shapeText(node.type(0).shape),
                  "kernel_shape");
        return;
    }
    KernelWindow window = readKernelWindow(node, kernel);
    if (node.hasFailed()) return;
    const bool isLinear = kernel.size() == 1;
    ValueRef data = node.input(0);
    if (isLinear) {
        data = liftTo2d(node, data);
        window.lift();
    }
    Attrs attrs{{"pool_size", window.kernel},
                {"strides", window.strides},
                {"padding", window.padding()},
                {"dilation", window.dilations},
                {"ceil_mode", int64_t{node.integer("ceil_mode", 0) != 0}}};
    if (op == "nn.avg_pool2d") attrs.set("count_include_pad", int64_t{countsPadding});
    ValueRef out = node.emit(std::string(op), {data}, std::move(attrs));
    if (isLinear) out = dropFrom2d(node, out);
    node.output(0, out);
}

void convertGlobal(OnnxNode& node, std::string_view planar, std::string_view general)
{
    const int64_t rank = node.rank(0);
    if (node.hasFailed()) return;
    if (rank == 4) {
        node.output(0, node.emit(std::string(planar), {node.input(0)}));
        return;
    }
    if (rank < 3) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "input has the shape " + shapeText(node.type(0).shape) + " and no spatial axis");
        return;
    }
    std::vector<int64_t> axes(static_cast<size_t>(rank) - 2);
    std::iota(axes.begin(), axes.end(), 2);
    node.output(0, node.emit(std::string(general), {node.input(0)},
                             {{"axis", axes}, {"keepdims", int64_t{1}}}));
}

} // namespace

void convertMaxPool(OnnxNode& node)
{
    if (node.rank(0) <= 4 && !node.usesOutput(1)) {
        convertPool(node, "nn.max_pool2d", false);
        return;
    }
    PoolWindows pool(node);
    if (node.hasFailed()) return;
    node.output(0, pool.maximum());
    if (node.usesOutput(1)) node.output(1, pool.indicesOfMaxima());
}

void convertAveragePool(OnnxNode& node)
{
    const bool countsPadding = node.integer("count_include_pad", 0) != 0;
    if (node.rank(0) <= 4) {
        convertPool(node, "nn.avg_pool2d", countsPadding);
        return;
    }
    PoolWindows pool(node);
    if (!node.hasFailed()) node.output(0, pool.average(countsPadding));
}

void convertGlobalAveragePool(OnnxNode& node)
{
    convertGlobal(node, "nn.global_avg_pool2d", "mean");
}

void convertGlobalMaxPool(OnnxNode& node) { convertGlobal(node, "nn.global_max_pool2d", "max"); }

} // namespace tenon::compiler
