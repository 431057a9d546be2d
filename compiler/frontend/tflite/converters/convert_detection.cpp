// SPDX-License-Identifier: Apache-2.0
// TFLite_Detection_PostProcess: boxes relative to anchors, then the best that do not overlap.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/detection_options.h"
#include "compiler/frontend/tflite/converters/quantized.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Fails for what no detection can do.
DetectionOptions usableOptions(TfliteNode& node)
{
    const auto read = readDetectionOptions(node.file().customOptions);
    if (!read) {
        node.fail(DiagnosticCode::BadAttribute, "its options are no map of numbers");
        return {};
    }
    const DetectionOptions& out = *read;
    const bool isUsable =
        out.most >= 1 && out.most <= 65536 && out.classes >= 1 && out.perClass >= 1 &&
        std::none_of(out.scales.begin(), out.scales.end(), [](double scale) { return scale == 0; });
    if (!isUsable)
        node.fail(DiagnosticCode::BadAttribute,
                  "max_detections, num_classes and scales must be positive");
    else if (!out.isRegular && out.classesPerBox != 1)
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "several classes of one box are supported with use_regular_nms only");
    return out;
}

class Detection
{
public:
    Detection(TfliteNode& node, const DetectionOptions& options)
        : m_node(node)
        , f(node)
        , m_options(options)
    {
    }

    void run()
    {
        const ValueRef scores = classScores();
        const ValueRef corners = decoded();
        if (m_node.hasFailed()) return;
        const ValueRef all = f.transpose(scores, {1, 0}); // [classes, boxes]
        const ValueRef best =
            m_options.isRegular ? all : f.reduce("max", all, {0}, Formula::Keep::Yes);
        const ValueRef rows = suppressed(corners, f.expand(best, 0));
        if (m_node.hasFailed()) return;
        m_options.isRegular ? keepBest(rows, scores, corners) : keepFirst(rows, scores, corners);
    }

private:
    /// [boxes, classes] without the background, which comes first.
    ValueRef classScores()
    {
        const std::vector<int64_t> shape = m_node.shape(1);
        const std::vector<int64_t> boxes = m_node.shape(0), anchors = m_node.shape(2);
        if (m_node.hasFailed()) return {};
        const bool fits = shape.size() == 3 && boxes.size() == 3 && anchors.size() == 2 &&
                          shape[0] == 1 && boxes[0] == 1 && boxes[1] == shape[1] &&
                          anchors[0] == shape[1] && anchors[1] == 4 && boxes[2] >= 4 &&
                          shape[2] >= m_options.classes;
        if (!fits) {
            m_node.fail(DiagnosticCode::ShapeMismatch,
                        "boxes " + m_node.type(0).text() + ", scores " + m_node.type(1).text() +
                            " and anchors " + m_node.type(2).text() + " do not fit " +
                            std::to_string(m_options.classes) + " classes");
            return {};
        }
        m_boxes = shape[1];
        const ValueRef flat = f.reshape(realInput(m_node, 1), {shape[1], shape[2]});
        return f.slice(flat, 1, shape[2] - m_options.classes, shape[2]);
    }

    /// Corners [boxes, 4]: top, left, bottom, right.
    ValueRef decoded()
    {
        const std::vector<int64_t> shape = m_node.shape(0);
        if (m_node.hasFailed()) return {};
        const ValueRef boxes = f.reshape(realInput(m_node, 0), {shape[1], shape[2]});
        const ValueRef anchors = realInput(m_node, 2);
        const auto column = [&](ValueRef of, int64_t at) { return f.slice(of, 1, at, at + 1); };
        std::vector<ValueRef> low, high;
        for (int64_t axis = 0; axis < 2; ++axis) {
            const auto at = static_cast<size_t>(axis);
            const ValueRef extent = column(anchors, 2 + axis);
            const ValueRef moved = f.divide(column(boxes, axis), m_options.scales[at]);
            const ValueRef center = f.add(f.multiply(moved, extent), column(anchors, axis));
            const ValueRef grown =
                f.apply("exp", f.divide(column(boxes, 2 + axis), m_options.scales[2 + at]));
            const ValueRef half = f.multiply(f.multiply(grown, extent), 0.5);
            low.push_back(f.subtract(center, half));
            high.push_back(f.add(center, half));
        }
        low.insert(low.end(), high.begin(), high.end());
        return f.concat(low, 1);
    }

    ValueRef suppressed(ValueRef corners, ValueRef scores)
    {
        const int64_t most = m_options.isRegular ? m_options.perClass : m_options.most;
        return f.call("vision.non_max_suppression",
                      {f.expand(corners, 0), scores, f.integers({most}, {1}),
                       f.numbers({m_options.overlap}, {1}, kFloat32),
                       f.numbers({m_options.leastScore}, {1}, kFloat32)});
    }

    /// Rows come best first: the first ones are the detections.
    void keepFirst(ValueRef rows, ValueRef scores, ValueRef corners)
    {
        const int64_t count = std::min(m_options.most, m_boxes);
        const ValueRef box = f.reshape(f.slice(f.slice(rows, 0, 0, count), 1, 2, 3), {count});
        const ValueRef classes = f.call("argmax", {scores}, {{"axis", std::vector<int64_t>{1}}});
        const ValueRef best = f.reduce("max", scores, {1}, Formula::Keep::No);
        answer(count, {rows.node, 1}, f.take(corners, box, 0), f.take(classes, box, 0),
               f.take(best, box, 0));
    }

    /// The best rows of all classes.
    void keepBest(ValueRef rows, ValueRef scores, ValueRef corners)
    {
        const int64_t all = m_boxes * m_options.classes;
        const int64_t count = std::min(m_options.most, all);
        const ValueRef isRow = f.call("less", {f.iota(all, 0, 1), ValueRef{rows.node, 1}});
        const ValueRef box = f.slice(rows, 1, 2, 3), cls = f.slice(rows, 1, 1, 2);
        const ValueRef found = f.call("gather_nd", {scores, f.concat({box, cls}, 1)});
        const ValueRef ranked = f.where(isRow, found, f.number(-1, found));
        const ValueRef best = f.call("topk", {ranked}, {{"k", count}});
        const ValueRef at{best.node, 1};
        const ValueRef total =
            f.call("minimum", {ValueRef{rows.node, 1}, f.integers({count}, {1})});
        const ValueRef chosenBox = f.take(f.reshape(box, {all}), at, 0);
        answer(count, total, f.take(corners, chosenBox, 0), f.take(f.reshape(cls, {all}), at, 0),
               best);
    }

    /// What lies behind the number of detections is zero.
    void answer(int64_t count, ValueRef total, ValueRef corners, ValueRef classes, ValueRef scores)
    {
        const ValueRef isFound = f.cast(f.call("less", {f.iota(count, 0, 1), total}), kFloat32);
        const int64_t rest = m_options.most - count;
        const auto row = [&](ValueRef value) {
            return f.expand(f.pad(f.multiply(f.cast(value, kFloat32), isFound), {0, rest}, 0), 0);
        };
        const ValueRef placed = f.multiply(corners, f.expand(isFound, 1));
        m_node.output(0, f.expand(f.pad(placed, {0, rest, 0, 0}, 0), 0));
        m_node.output(1, row(classes));
        m_node.output(2, row(scores));
        m_node.output(3, f.cast(total, kFloat32));
    }

    TfliteNode& m_node;
    Formula f;
    DetectionOptions m_options;
    int64_t m_boxes = 0;
};

} // namespace

void convertDetectionPostProcess(TfliteNode& node)
{
    const DetectionOptions options = usableOptions(node);
    if (!node.hasFailed()) Detection(node, options).run();
}

} // namespace tenon::compiler
