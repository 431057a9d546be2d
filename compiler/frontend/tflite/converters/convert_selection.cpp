// SPDX-License-Identifier: Apache-2.0
// WHERE, whose result is as large as the data says, and the suppression of overlapping boxes.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/import/sized.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {

/// The indices of what is not zero, one row each.
void convertWhere(TfliteNode& node)
{
    if (node.rank(0) == 0 && !node.hasFailed())
        node.fail(DiagnosticCode::UnsupportedFeature, "a scalar has no places to be told");
    const ValueRef data = node.input(0);
    if (node.hasFailed()) return;
    const ValueRef found = node.emit("nonzero", {data});
    const std::vector<Dim> count = node.boundDims(ValueRef{found.node, 1});
    if (node.hasFailed()) return;
    Shape shape = node.typeOf(found).shape;
    shape[0] = count[0];
    node.output(
        0, emitSized(node, "dynamic_slice", {found, node.sizesOf({Dim(0)})}, shape,
                     {{"axes", std::vector<int64_t>{0}}, {"strides", std::vector<int64_t>{1}}}));
}

namespace {

/// Inputs of both versions.
constexpr size_t kBoxes = 0, kScores = 1, kMost = 2, kOverlap = 3, kLeast = 4, kSigma = 5;

/// How many boxes there are and how many may be chosen.
struct BoxCounts
{
    int64_t boxes = 0, most = 0;
};

BoxCounts boxCounts(TfliteNode& node)
{
    const std::vector<int64_t> boxes = node.shape(kBoxes), scores = node.shape(kScores),
                               most = node.staticIntegers(kMost);
    if (node.hasFailed()) return {};
    const bool fits = boxes.size() == 2 && boxes[1] == 4 && scores.size() == 1 &&
                      scores[0] == boxes[0] && boxes[0] >= 1;
    if (!fits)
        node.fail(DiagnosticCode::ShapeMismatch, "boxes " + node.type(kBoxes).text() +
                                                     " do not fit scores " +
                                                     node.type(kScores).text());
    else if (most.size() != 1 || most[0] < 1 || most[0] > kMaxMadeUp)
        node.fail(DiagnosticCode::BadAttribute,
                  "a number of boxes of [" + join(most, ", ") + "] is not usable");
    return node.hasFailed() ? BoxCounts{} : BoxCounts{boxes[0], most[0]};
}

/// Soft suppression lowers scores instead of dropping boxes: only files that do not use it run.
void needHardSuppression(TfliteNode& node)
{
    if (!node.has(kSigma)) return;
    const std::vector<double> sigma = node.staticNumbers(kSigma);
    if (!node.hasFailed() && (sigma.size() != 1 || sigma[0] != 0))
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "soft suppression is not supported; its sigma must be 0");
}

} // namespace

void convertNonMaxSuppression(TfliteNode& node)
{
    needHardSuppression(node);
    const BoxCounts counts = boxCounts(node);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef boxes = f.expand(node.input(kBoxes), 0),
                   scores = f.expand(node.input(kScores), 0, 2),
                   overlap = f.reshape(node.input(kOverlap), {1}),
                   least = f.reshape(node.input(kLeast), {1});
    const ValueRef found = f.call("vision.non_max_suppression",
                                  {boxes, scores, f.integers({counts.most}, {1}), overlap, least});
    const int64_t kept = std::min(counts.boxes, counts.most);
    const ValueRef total{found.node, 1};
    const ValueRef box = f.reshape(f.slice(f.slice(found, 0, 0, kept), 1, 2, 3), {kept});
    const ValueRef isFound = f.call("less", {f.iota(kept, 0, 1), total});
    const auto padded = [&](ValueRef value) {
        const ValueRef zero = f.number(0, value);
        return f.pad(f.where(isFound, value, zero), {0, counts.most - kept}, 0);
    };
    const bool hasScores = node.outputCount() == 3; // the fifth version
    node.output(0, padded(f.cast(box, kInt32)));
    if (hasScores) node.output(1, padded(f.take(node.input(kScores), box, 0)));
    node.output(hasScores ? 2 : 1, f.cast(f.reshape(total, {}), kInt32));
}

} // namespace tenon::compiler
