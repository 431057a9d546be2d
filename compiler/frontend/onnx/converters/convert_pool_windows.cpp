// SPDX-License-Identifier: Apache-2.0
// Poolings over any number of axes, decomposed into windows and a reduction over each: what the
// planar pooling operators do not cover. MaxUnpool and Col2Im go the other way by scattering.
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "compiler/frontend/onnx/converters/pool_windows.h"
#include "core/base/text.h"

#include <algorithm>
#include <limits>

namespace tenon::compiler {
namespace {

/// The lowest value of a type, as padding that no maximum ever is.
double lowest(DataType dtype)
{
    if (dtype.isFloat()) return -std::numeric_limits<double>::infinity();
    if (!dtype.isSigned()) return 0;
    return -static_cast<double>(uint64_t{1} << (dtype.bits - 1));
}

} // namespace

PoolWindows::PoolWindows(OnnxNode& node)
    : m_node(node)
    , f(node)
    , m_shape(node.usesOutput(1) ? node.shape(0) : node.batchShape(0))
{
    if (m_node.hasFailed()) return;
    if (m_shape.size() < 3) {
        m_node.fail(DiagnosticCode::ShapeMismatch,
                    "input has the shape " + shapeText(node.type(0).shape) +
                        "; batch, channels and at least one spatial axis are needed");
        return;
    }
    const std::vector<int64_t> kernel = m_node.integers("kernel_shape", {});
    if (!m_node.hasFailed() && kernel.size() != axes()) {
        m_node.fail(DiagnosticCode::BadAttribute,
                    "kernel_shape has " + std::to_string(kernel.size()) +
                        " entries but the input has the shape " + shapeText(node.type(0).shape),
                    "kernel_shape");
        return;
    }
    m_window = readKernelWindow(m_node, kernel);
    if (m_node.hasFailed()) return;
    if (limitedCount(kernel) > kMaxMadeUp) {
        m_node.fail(DiagnosticCode::BadAttribute,
                    "the kernel [" + join(kernel, ", ") + "] is too large", "kernel_shape");
        return;
    }
    const bool roundsUp = m_node.integer("ceil_mode", 0) != 0;
    for (size_t i = 0; i < axes(); ++i) {
        const int64_t stride = m_window.strides[i];
        const int64_t room = m_shape[2 + i] + m_window.padBegin[i] + m_window.padEnd[i] - reach(i);
        if (room < 0) {
            m_node.fail(DiagnosticCode::ShapeMismatch, "a window of " + std::to_string(reach(i)) +
                                                           " does not fit the shape " +
                                                           shapeText(node.type(0).shape));
            return;
        }
        int64_t count = (roundsUp ? (room + stride - 1) / stride : room / stride) + 1;
        // A window that would start in the padding after the data does not count.
        if (roundsUp && (count - 1) * stride >= m_shape[2 + i] + m_window.padBegin[i]) --count;
        m_outputs.push_back(count);
    }
    const bool needsIndices = m_node.usesOutput(1);
    if (needsIndices && (limitedCount({m_shape.begin() + 2, m_shape.end()}) > kMaxMadeUp ||
                         limitedCount({m_shape[0], m_shape[1]}) > kMaxMadeUp))
        m_node.fail(DiagnosticCode::UnsupportedFeature,
                    "indices of maxima are not supported for the shape (" + join(m_shape, ", ") +
                        "), which is too large");
}

std::vector<int64_t> PoolWindows::planes() const
{
    std::vector<int64_t> out{m_shape[0], m_shape[1]};
    out.insert(out.end(), m_outputs.begin(), m_outputs.end());
    return out;
}

ValueRef PoolWindows::windows(ValueRef data, double fill)
{
    std::vector<int64_t> width{0, 0, 0, 0};
    for (size_t i = 0; i < axes(); ++i) {
        width.push_back(m_window.padBegin[i]);
        width.push_back(needed(i) - m_shape[2 + i] - m_window.padBegin[i]);
    }
    return f.call("sliding_window", {f.pad(data, width, fill)},
                  {{"axis", int64_t{2}},
                   {"window_shape", m_window.kernel},
                   {"strides", m_window.strides},
                   {"dilation", m_window.dilations}});
}

ValueRef PoolWindows::reduced(const char* op, ValueRef windows)
{
    const auto first = static_cast<int64_t>(2 + axes());
    return f.reduce(op, windows, counted(first, first + static_cast<int64_t>(axes())),
                    Formula::Keep::No);
}

ValueRef PoolWindows::maximum()
{
    if (const ValueRef planar = ofVolume("nn.max_pool2d", false); planar.node.isValid())
        return planar;
    const ValueRef data = m_node.input(0);
    return reduced("max", windows(data, lowest(f.dtype(data))));
}

ValueRef PoolWindows::indicesOfMaxima()
{
    const ValueRef data = m_node.input(0);
    const int64_t points = elementCount({m_shape.begin() + 2, m_shape.end()});
    std::vector<int64_t> spatial(m_shape.begin() + 2, m_shape.end());
    std::vector<int64_t> positions = counted(0, points);
    const bool isColumnMajor = m_node.integer("storage_order", 0) != 0;
    if (isColumnMajor) {
        for (int64_t flat = 0; flat < points; ++flat) {
            int64_t rest = flat, position = 0, stride = points;
            for (size_t i = axes(); i-- > 0;) {
                stride /= spatial[i];
                position += rest % spatial[i] * stride;
                rest /= spatial[i];
            }
            positions[static_cast<size_t>(flat)] = position;
        }
    }
    spatial.insert(spatial.begin(), {1, 1});
    std::vector<int64_t> flatShape = planes();
    flatShape.push_back(elementCount(m_window.kernel));
    const ValueRef values = f.reshape(windows(data, lowest(f.dtype(data))), flatShape);
    const auto last = static_cast<int64_t>(flatShape.size()) - 1;
    const ValueRef best = f.call("argmax", {values},
                                 {{"axis", std::vector<int64_t>{last}}, {"keepdims", int64_t{1}}});
    std::vector<int64_t> onePlane = flatShape;
    onePlane[0] = onePlane[1] = 1;
    const ValueRef sources =
        f.broadcast(f.reshape(windows(f.integers(positions, spatial), -1), onePlane), flatShape);
    const ValueRef chosen = f.squeeze(f.call("gather", {sources, best}, {{"axis", last}}), {last});
    std::vector<int64_t> planeShape(flatShape.size() - 1, 1);
    planeShape[0] = m_shape[0];
    planeShape[1] = m_shape[1];
    std::vector<int64_t> starts = counted(0, m_shape[0] * m_shape[1]);
    for (int64_t& start : starts) start *= points;
    return f.add(chosen, f.integers(starts, planeShape));
}

ValueRef PoolWindows::average(bool countsPadding)
{
    if (f.dtype(m_node.input(0)).bits >= 32) // halves would be rounded twice
        if (const ValueRef planar = ofVolume("nn.avg_pool2d", countsPadding); planar.node.isValid())
            return planar;
    const ValueRef sum = reduced("sum", windows(m_node.input(0), 0));
    ValueRef count;
    for (size_t i = 0; i < axes(); ++i) {
        const int64_t low = countsPadding ? -m_window.padBegin[i] : 0;
        const int64_t high = m_shape[2 + i] + (countsPadding ? m_window.padEnd[i] : 0);
        std::vector<double> inside;
        for (int64_t o = 0; o < m_outputs[i]; ++o) {
            int64_t n = 0;
            for (int64_t k = 0; k < m_window.kernel[i]; ++k) {
                const int64_t at =
                    o * m_window.strides[i] + k * m_window.dilations[i] - m_window.padBegin[i];
                n += at >= low && at < high;
            }
            inside.push_back(static_cast<double>(std::max<int64_t>(n, 1)));
        }
        std::vector<int64_t> shape(2 + axes(), 1);
        shape[2 + i] = m_outputs[i];
        const ValueRef factor = f.numbers(inside, shape, f.dtype(sum));
        count = count.node.isValid() ? f.multiply(count, factor) : factor;
    }
    return f.divide(sum, count);
}

ValueRef PoolWindows::norm(double p)
{
    ValueRef data = f.apply("abs", m_node.input(0));
    if (p != 1) data = f.call("power", {data, f.number(p, data)});
    const ValueRef sum = reduced("sum", windows(data, 0));
    return p == 1 ? sum : f.call("power", {sum, f.number(1 / p, sum)});
}

void convertLpPool(OnnxNode& node)
{
    // p was a float before opset 2; ours begin later.
    const int64_t p = node.integer("p", 2);
    if (p < 1) {
        node.fail(DiagnosticCode::BadAttribute, "p is " + std::to_string(p), "p");
        return;
    }
    PoolWindows pool(node);
    if (!node.hasFailed()) node.output(0, pool.norm(static_cast<double>(p)));
}

void convertGlobalLpPool(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    const int64_t p = node.integer("p", 2);
    if (rank < 3 || p < 1) {
        node.fail(DiagnosticCode::BadAttribute,
                  "p is " + std::to_string(p) + " and the rank is " + std::to_string(rank), "p");
        return;
    }
    Formula f(node);
    ValueRef x = f.apply("abs", node.input(0));
    x = f.call("power", {x, f.number(static_cast<double>(p), x)});
    x = f.reduce("sum", x, counted(2, rank), Formula::Keep::Yes);
    node.output(0, f.call("power", {x, f.number(1 / static_cast<double>(p), x)}));
}

namespace {

/// Zeros of the shape `inferred`, with the elements of input 0 where input 1 says.
ValueRef unpooled(OnnxNode& node, const std::vector<int64_t>& inferred)
{
    Formula f(node);
    const ValueRef x = node.input(0);
    const int64_t count = elementCount(f.shape(x));
    const ValueRef zeros = f.broadcast(f.number(0, x), {elementCount(inferred)});
    const ValueRef out = f.call("scatter_elements",
                                {zeros, f.reshape(node.input(1), {count}), f.reshape(x, {count})},
                                {{"axis", int64_t{0}}});
    return f.reshape(out, inferred);
}

} // namespace

void convertMaxUnpool(OnnxNode& node)
{
    const std::vector<int64_t> shape = node.shape(0);
    const std::vector<int64_t> kernel = node.integers("kernel_shape", {});
    if (node.hasFailed()) return;
    if (shape.size() < 3 || kernel.size() != shape.size() - 2) {
        node.fail(DiagnosticCode::BadAttribute,
                  "kernel_shape [" + join(kernel, ", ") + "] does not fit the shape (" +
                      join(shape, ", ") + ")",
                  "kernel_shape");
        return;
    }
    const KernelWindow window = readKernelWindow(node, kernel);
    if (node.hasFailed()) return;
    std::vector<int64_t> inferred{shape[0], shape[1]};
    for (size_t i = 0; i < kernel.size(); ++i)
        inferred.push_back((shape[2 + i] - 1) * window.strides[i] - window.padBegin[i] -
                           window.padEnd[i] + kernel[i]);
    const Shape wanted = node.has(2) ? Shape(node.boundDims(2)) : makeShape(inferred);
    const auto known = constantShape(wanted);
    if (node.hasFailed()) return;
    if (wanted.size() != shape.size() || limitedCount(inferred) < 1 ||
        limitedCount(inferred) > kMaxMadeUp || limitedCount(shape) > kMaxMadeUp ||
        (known && (limitedCount(*known) < 1 || limitedCount(*known) > kMaxMadeUp))) {
        node.fail(DiagnosticCode::ShapeMismatch, "the result " + shapeText(wanted) +
                                                     " does not fit the input (" +
                                                     join(shape, ", ") + ")");
        return;
    }
    Formula f(node);
    const ValueRef out = unpooled(node, inferred);
    if (!known) {
        const ValueRef before = node.sizesOf(Shape(wanted.size()));
        return node.output(0, emitSized(node, "dynamic_pad", {out, before, f.number(0, out)},
                                        wanted, {{"pad_mode", std::string("constant")}}));
    }
    std::vector<int64_t> width;
    for (size_t i = 0; i < known->size(); ++i) {
        width.push_back(0);
        width.push_back((*known)[i] - inferred[i]);
    }
    node.output(0, f.pad(out, width, 0));
}

namespace {

/// Where element (block position, block) of Col2Im goes in the flat image; `trash` outside it.
std::vector<int64_t> blockTargets(const KernelWindow& window, const std::vector<int64_t>& image,
                                  const std::vector<int64_t>& blocks, int64_t trash)
{
    std::vector<int64_t> out;
    const int64_t inBlock = elementCount(window.kernel), count = elementCount(blocks);
    for (int64_t element = 0; element < inBlock; ++element)
        for (int64_t block = 0; block < count; ++block) {
            int64_t k = element, b = block, flat = 0, stride = 1;
            for (size_t i = image.size(); i-- > 0;) {
                const int64_t at = b % blocks[i] * window.strides[i] +
                                   k % window.kernel[i] * window.dilations[i] - window.padBegin[i];
                b /= blocks[i];
                k /= window.kernel[i];
                flat = at < 0 || at >= image[i] || flat < 0 ? -1 : flat + at * stride;
                stride *= image[i];
            }
            out.push_back(flat < 0 ? trash : flat);
        }
    return out;
}

} // namespace

void convertCol2Im(OnnxNode& node)
{
    const bool isKnown = constantShape(node.type(0).shape) && node.constant(1) && node.constant(2);
    if (!isKnown && node.has(1) && node.has(2)) return col2ImAtRunTime(node);
    const std::vector<int64_t> columns = node.shape(0);
    const std::vector<int64_t> image = node.staticIntegers(1);
    const std::vector<int64_t> kernel = node.staticIntegers(2);
    if (node.hasFailed()) return;
    const KernelWindow window = readKernelWindow(node, kernel);
    if (node.hasFailed()) return;
    const auto misfit = [&] {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "blocks [" + join(kernel, ", ") + "] of an image [" + join(image, ", ") +
                      "] do not make (" + join(columns, ", ") + ") columns");
    };
    if (columns.size() != 3 || image.size() != kernel.size()) return misfit();
    std::vector<int64_t> blocks;
    for (size_t i = 0; i < image.size(); ++i) {
        const int64_t room = image[i] + window.padBegin[i] + window.padEnd[i] -
                             (kernel[i] - 1) * window.dilations[i] - 1;
        if (room < 0 || image[i] < 1 || image[i] > (int64_t{1} << 20)) return misfit();
        blocks.push_back(room / window.strides[i] + 1);
    }
    if (limitedCount(columns) > kMaxMadeUp || limitedCount(image) > kMaxMadeUp ||
        limitedCount(kernel) > kMaxMadeUp || limitedCount(blocks) > kMaxMadeUp)
        return misfit();
    const int64_t inBlock = elementCount(kernel), points = elementCount(image);
    if (columns[1] % inBlock != 0 || columns[2] != elementCount(blocks)) return misfit();
    Formula f(node);
    const int64_t planes = columns[0] * (columns[1] / inBlock);
    const std::vector<int64_t> flat{planes, inBlock * columns[2]};
    const ValueRef x = f.reshape(node.input(0), flat);
    const ValueRef targets =
        f.broadcast(f.integers(blockTargets(window, image, blocks, points), {1, flat[1]}), flat);
    // One element more per plane takes what falls into the padding.
    ValueRef out =
        f.call("scatter_elements", {f.broadcast(f.number(0, x), {planes, points + 1}), targets, x},
               {{"axis", int64_t{1}}, {"reduction", std::string("add")}});
    std::vector<int64_t> shape{columns[0], columns[1] / inBlock};
    shape.insert(shape.end(), image.begin(), image.end());
    node.output(0, f.reshape(f.slice(out, 1, 0, points), shape));
}

} // namespace tenon::compiler
