// SPDX-License-Identifier: Apache-2.0
// Resize whose scales, sizes or region are data, or which resizes open dimensions: positions and
// weights are computed by the graph, after the same formulas as those of resize_axes.cpp.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/import/resize_axes.h"
#include "compiler/frontend/onnx/converters/dynamic.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tenon::compiler {
namespace {

constexpr int64_t kMostScale = 1 << 24; ///< and size

/// One axis; the numbers are float64 scalars.
struct Axis
{
    int64_t dimension = 0;
    Dim input;
    std::optional<Dim> output;
    ValueRef scale;
    bool isKept = false;       ///< not resized at all
    ValueRef roiBegin, roiEnd; ///< tf_crop_and_resize only
};

/// Weights over input elements that an output element sums up: a place and a weight per output.
struct Tap
{
    ValueRef at;
    ValueRef weight;
};

class RunTimeResize
{
public:
    RunTimeResize(OnnxNode& node, const Resampling& how, size_t scales,
                  const std::vector<double>& known)
        : m_node(node)
        , f(node)
        , m_how(how)
        , m_scales(scales)
        , m_known(known)
    {
    }

    void run()
    {
        readAxes();
        if (m_node.hasFailed()) return;
        if (m_axes.empty()) return m_node.forward(0, 0);
        const DataType own = m_node.type(0).dtype;
        const bool isMixed = m_how.method != "nearest" && !own.isFloat();
        ValueRef x = isMixed ? f.cast(m_node.input(0), kFloat32) : m_node.input(0);
        for (const Axis& axis : inOrder()) x = resampled(x, axis);
        if (isCrop())
            for (const Axis& axis : m_axes) x = extrapolated(x, axis);
        m_node.output(0, f.cast(x, own));
    }

private:
    /// What grows, does so along columns first: those gather element by element, of as few rows as
    /// there are before, where rows are copied whole.
    std::vector<Axis> inOrder() const
    {
        const auto shrinks = [](double scale) { return scale < 1; };
        std::vector<Axis> axes = m_axes;
        if (std::none_of(m_known.begin(), m_known.end(), shrinks))
            std::reverse(axes.begin(), axes.end());
        return axes;
    }

    bool isCrop() const { return m_how.transformation == "tf_crop_and_resize"; }

    ValueRef real(const Dim& dim) { return f.cast(m_node.sizeOf(dim), kFloat64); }
    /// Entry `i` of a vector as a scalar.
    ValueRef entry(ValueRef vector, int64_t i)
    {
        return f.squeeze(f.slice(vector, 0, i, i + 1), {0});
    }

    /// Axes that the attribute names, or all.
    std::vector<int64_t> namedAxes()
    {
        const int64_t rank = m_node.rank(0);
        std::vector<int64_t> axes = m_node.axesOf(m_node.integers("axes", {}), rank);
        return axes.empty() ? counted(0, rank) : axes;
    }

    void readAxes()
    {
        const std::vector<int64_t> named =
            m_known.empty() ? namedAxes() : counted(0, m_node.rank(0));
        for (const int64_t axis : named)
            m_axes.push_back(
                {.dimension = axis, .input = m_node.type(0).shape[static_cast<size_t>(axis)]});
        if (!m_known.empty())
            readKnownScales();
        else if (m_node.has(m_scales + 1) && m_node.type(m_scales + 1).shape != Shape{Dim(0)})
            readSizes();
        else
            readScales();
        bindOutputs();
        readRegion(static_cast<int64_t>(named.size()));
        if (isCrop()) return; // there the region counts, too
        std::erase_if(m_axes, [](const Axis& axis) { return axis.isKept; });
    }

    void readKnownScales()
    {
        if (!hasEntries(makeShape({static_cast<int64_t>(m_known.size())}))) return;
        for (size_t i = 0; i < m_axes.size(); ++i) {
            if (!(m_known[i] > 0 && m_known[i] <= kMostScale))
                return m_node.fail(DiagnosticCode::BadAttribute,
                                   "the scale " + std::to_string(m_known[i]) + " of axis " +
                                       std::to_string(i) + " is not usable");
            m_axes[i].scale = m_node.scalar(m_known[i], kFloat64);
            m_axes[i].output = scaled(m_axes[i].input, m_known[i]);
            m_axes[i].isKept = m_known[i] == 1;
        }
    }

    void readScales()
    {
        const ValueRef given = f.cast(m_node.input(m_scales), kFloat64);
        if (!hasEntries(m_node.hasFailed() ? Shape() : m_node.typeOf(given).shape)) return;
        for (size_t i = 0; i < m_axes.size(); ++i)
            m_axes[i].scale = entry(given, static_cast<int64_t>(i));
    }

    void readSizes()
    {
        const Shape wanted = m_node.boundDims(m_scales + 1);
        if (!hasEntries({Dim(static_cast<int64_t>(wanted.size()))})) return;
        for (size_t i = 0; i < m_axes.size(); ++i) {
            if (wanted[i].isConst() && (wanted[i].value() < 0 || wanted[i].value() > kMostScale))
                return m_node.fail(DiagnosticCode::BadAttribute,
                                   "the size " + wanted[i].text() + " of axis " +
                                       std::to_string(i) + " is not usable");
            m_axes[i].output = wanted[i];
            m_axes[i].isKept = wanted[i] == m_axes[i].input;
            m_axes[i].scale = f.divide(real(wanted[i]), real(m_axes[i].input));
        }
        keepAspect();
    }

    bool hasEntries(const Shape& shape)
    {
        if (!m_node.hasFailed() && shape != makeShape({static_cast<int64_t>(m_axes.size())}))
            m_node.fail(DiagnosticCode::ShapeMismatch, "scales or sizes need one entry per axis");
        return !m_node.hasFailed();
    }

    /// floor(extent * scale) where that is a formula of the extent.
    static std::optional<Dim> scaled(const Dim& extent, double scale)
    {
        if (extent.isConst())
            return Dim(
                static_cast<int64_t>(std::floor(static_cast<double>(extent.value()) * scale)));
        if (scale >= 1 && scale == std::floor(scale))
            return extent * Dim(static_cast<int64_t>(scale));
        const double inverse = 1 / scale;
        const bool isPart = inverse >= 1 && inverse <= kMostScale &&
                            inverse == std::floor(inverse) && inverse * scale == 1;
        if (isPart) return floorDiv(extent, Dim(static_cast<int64_t>(inverse)));
        return std::nullopt;
    }

    /// One scale for all axes, so that no size is exceeded or fallen short of.
    void keepAspect()
    {
        const std::string policy = m_node.string("keep_aspect_ratio_policy", "stretch");
        if (policy == "stretch" || m_node.hasFailed()) return;
        if (policy != "not_larger" && policy != "not_smaller")
            return m_node.fail(DiagnosticCode::BadAttribute,
                               "keep_aspect_ratio_policy is " + policy, "keep_aspect_ratio_policy");
        ValueRef scale = m_axes[0].scale;
        for (const Axis& axis : m_axes)
            scale = f.call(policy == "not_larger" ? "minimum" : "maximum", {scale, axis.scale});
        for (Axis& axis : m_axes) {
            axis.scale = scale;
            axis.output.reset();
            axis.isKept = false;
        }
        m_isRounded = true;
    }

    /// Names for the outputs that only the run knows.
    void bindOutputs()
    {
        std::vector<ValueRef> sizes;
        for (const Axis& axis : m_axes) {
            if (axis.output) continue;
            const ValueRef exact = f.multiply(axis.scale, real(axis.input));
            const ValueRef size = f.apply("floor", m_isRounded ? f.add(exact, 0.5) : exact);
            sizes.push_back(f.expand(f.cast(size, kInt64), 0));
        }
        if (sizes.empty() || m_node.hasFailed()) return;
        Shape shape = m_node.boundDims(f.concat(sizes, 0));
        if (m_node.hasFailed()) return;
        auto next = shape.begin();
        for (Axis& axis : m_axes)
            if (!axis.output) axis.output = *next++;
    }

    void readRegion(int64_t count)
    {
        if (!isCrop() || m_node.hasFailed()) return;
        const ValueRef roi = f.cast(m_node.input(1), kFloat64);
        for (int64_t i = 0; i < count; ++i) {
            m_axes[static_cast<size_t>(i)].roiBegin = entry(roi, i);
            m_axes[static_cast<size_t>(i)].roiEnd = entry(roi, count + i);
        }
    }

    /// first, first + 1, .. as many as the dimension says, float64.
    ValueRef places(const Dim& count, ValueRef first)
    {
        return f.cast(emitSized(m_node, "arange", {first, wholeNumber(m_node, 1)}, {count}),
                      kFloat64);
    }

    /// Where each output element falls in the input.
    ValueRef source(const Axis& axis)
    {
        const std::string& mode = m_how.transformation;
        const ValueRef x = places(*axis.output, wholeNumber(m_node, 0));
        const ValueRef input = real(axis.input), last = f.subtract(input, 1.0);
        const ValueRef length = f.multiply(axis.scale, input); // not rounded
        const ValueRef isOne = f.compare("equal", length, 1);
        const ValueRef steps = f.subtract(length, 1.0);
        if (mode == "align_corners")
            return f.where(isOne, f.multiply(x, 0.0), f.divide(f.multiply(x, last), steps));
        if (mode == "asymmetric") return f.divide(x, axis.scale);
        const ValueRef middle = f.divide(f.add(x, 0.5), axis.scale);
        if (mode == "tf_half_pixel_for_nn") return middle;
        if (isCrop()) {
            const ValueRef part = f.multiply(f.subtract(axis.roiEnd, axis.roiBegin), last);
            const ValueRef inside =
                f.where(isOne, f.divide(part, 2.0), f.divide(f.multiply(x, part), steps));
            return f.add(f.multiply(axis.roiBegin, last), inside);
        }
        const ValueRef centre = f.subtract(middle, 0.5);
        if (mode == "pytorch_half_pixel") return f.where(isOne, f.number(-0.5, centre), centre);
        if (mode != "half_pixel_symmetric") return centre;
        const ValueRef share = f.divide(real(*axis.output), length);
        const ValueRef shift =
            f.multiply(f.divide(input, 2.0), f.subtract(f.number(1, share), share));
        return f.add(shift, centre);
    }

    ValueRef clampedIndex(ValueRef place, const Axis& axis)
    {
        const ValueRef last = f.subtract(real(axis.input), 1.0);
        const ValueRef low = f.call("maximum", {place, f.number(0, place)});
        return f.cast(f.call("minimum", {low, last}), kInt64);
    }

    ValueRef nearest(ValueRef position)
    {
        const ValueRef below = f.apply("floor", position);
        const ValueRef ratio = f.subtract(position, below);
        const std::string& rounding = m_how.rounding;
        if (rounding == "floor") return below;
        const char* relation = rounding == "round_prefer_ceil" ? "greater_equal" : "greater";
        const ValueRef goesUp = f.compare(relation, ratio, rounding == "ceil" ? 0 : 0.5);
        return f.add(below, f.cast(goesUp, kFloat64));
    }

    ValueRef taken(ValueRef x, ValueRef indices, const Axis& axis)
    {
        return f.call("take", {x, indices},
                      {{"axis", axis.dimension}, {"mode", std::string("clip")}});
    }

    ValueRef resampled(ValueRef x, const Axis& axis)
    {
        if (m_node.hasFailed()) return {};
        const ValueRef position = source(axis);
        if (m_how.method == "nearest") return taken(x, clampedIndex(nearest(position), axis), axis);
        if (m_how.isAntialiased) return byMatrix(x, axis, position);
        ValueRef sum;
        for (const Tap& tap : taps(position, axis)) {
            const ValueRef part =
                f.multiply(taken(x, tap.at, axis), along(f.cast(tap.weight, f.dtype(x)), axis));
            sum = sum.node.isValid() ? f.add(sum, part) : part;
        }
        return sum;
    }

    /// A vector along the axis, to be broadcast over the dimensions behind it.
    ValueRef along(ValueRef vector, const Axis& axis)
    {
        const int64_t behind = m_node.rank(0) - 1 - axis.dimension;
        return behind == 0 ? vector : f.expand(vector, 1, behind);
    }

    std::vector<Tap> taps(ValueRef position, const Axis& axis)
    {
        const ValueRef before = f.subtract(f.apply("ceil", position), 1.0);
        const ValueRef ratio = f.subtract(position, before);
        const bool isLinear = m_how.method == "linear";
        std::vector<Tap> out;
        ValueRef total;
        for (int64_t i = isLinear ? 0 : -1; i <= (isLinear ? 1 : 2); ++i) {
            const ValueRef place = f.add(before, static_cast<double>(i));
            ValueRef weight = weightAt(f.subtract(f.number(static_cast<double>(i), ratio), ratio));
            if (m_how.excludesOutside)
                weight = f.where(isOutside(place, axis), f.number(0, weight), weight);
            total = total.node.isValid() ? f.add(total, weight) : weight;
            out.push_back({clampedIndex(place, axis), weight});
        }
        if (m_how.excludesOutside)
            for (Tap& tap : out) tap.weight = f.divide(tap.weight, total);
        return out;
    }

    ValueRef isOutside(ValueRef place, const Axis& axis)
    {
        return f.call("logical_or", {f.compare("less", place, 0),
                                     f.call("greater_equal", {place, real(axis.input)})});
    }

    ValueRef weightAt(ValueRef distance)
    {
        const ValueRef x = f.apply("abs", distance);
        if (m_how.method == "linear") return f.clip(f.subtract(f.number(1, x), x), 0, 1);
        const double a = m_how.cubicAlpha;
        const ValueRef square = f.multiply(x, x);
        const ValueRef near =
            f.add(f.multiply(f.subtract(f.multiply(x, a + 2), a + 3), square), 1.0);
        const ValueRef inner = f.add(f.multiply(f.subtract(f.multiply(x, a), 5 * a), x), 8 * a);
        const ValueRef far = f.subtract(f.multiply(inner, x), 4 * a);
        const ValueRef none = f.number(0, x);
        return f.where(f.compare("less_equal", x, 1), near,
                       f.where(f.compare("less", x, 2), far, none));
    }

    /// Downsampling without aliasing: the filter is as wide as the pixels that it replaces, so its
    /// taps are counted at run time, too. What falls beyond an edge counts for the edge.
    ValueRef byMatrix(ValueRef x, const Axis& axis, ValueRef position)
    {
        const double radius = m_how.method == "linear" ? 1 : 2;
        const ValueRef stretch = f.call("minimum", {axis.scale, f.number(1, axis.scale)});
        const ValueRef reach = f.cast(
            f.add(f.apply("ceil", f.divide(f.number(radius, stretch), stretch)), 1.0), kInt64);
        const std::vector<Dim> beyond = m_node.boundDims(f.expand(reach, 0));
        if (m_node.hasFailed()) return {};
        const ValueRef place = places(axis.input + Dim(2) * beyond[0], f.apply("negative", reach));
        // [output, place]
        const ValueRef distance = f.subtract(f.expand(place, 0), f.expand(position, 1));
        ValueRef weight = weightAt(f.multiply(distance, stretch));
        weight = f.divide(weight, f.reduce("sum", weight, {1}, Formula::Keep::Yes));
        if (m_how.excludesOutside) {
            weight = f.where(isOutside(place, axis), f.number(0, weight), weight);
            weight = f.divide(weight, f.reduce("sum", weight, {1}, Formula::Keep::Yes));
        }
        const ValueRef pixel = countedTo(m_node, axis.input);
        const ValueRef isSame = f.call("equal", {f.expand(clampedIndex(place, axis), 1), pixel});
        const ValueRef matrix = f.cast(f.matmul(weight, f.cast(isSame, kFloat64)), f.dtype(x));
        std::vector<int64_t> order = counted(0, m_node.rank(0));
        std::swap(order[static_cast<size_t>(axis.dimension)], order.back());
        const ValueRef out = f.matmul(f.transpose(x, order), f.transpose(matrix, {1, 0}));
        return f.transpose(out, order);
    }

    /// What falls beyond the input has a value of its own.
    ValueRef extrapolated(ValueRef x, const Axis& axis)
    {
        const ValueRef position = source(axis);
        const ValueRef last = f.subtract(real(axis.input), 1.0);
        const ValueRef isBeyond = f.call(
            "logical_or", {f.compare("less", position, 0), f.call("greater", {position, last})});
        return f.where(along(isBeyond, axis), f.number(m_how.extrapolation, x), x);
    }

    OnnxNode& m_node;
    Formula f;
    const Resampling& m_how;
    size_t m_scales; ///< input
    const std::vector<double>& m_known;
    bool m_isRounded = false; ///< one scale for all
    std::vector<Axis> m_axes;
};

} // namespace

void resizeAtRunTime(OnnxNode& node, const Resampling& how, size_t scales,
                     const std::vector<double>& known)
{
    RunTimeResize(node, how, scales, known).run();
}

} // namespace tenon::compiler
