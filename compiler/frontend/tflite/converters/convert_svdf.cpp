// SPDX-License-Identifier: Apache-2.0
// SVDF: a dense layer of rank-many filters per unit whose results are weighted over time. The
// memory of earlier steps starts at zero, so a run from there reads the newest step only.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/recurrent.h"

namespace tenon::compiler {
namespace {

constexpr size_t kInput = 0, kFeatures = 1, kTime = 2, kBias = 3, kState = 4;

struct SvdfShape
{
    int64_t batch = 0, filters = 0, memory = 0, rank = 1, units = 0;
};

SvdfShape svdfShape(TfliteNode& node)
{
    const std::vector<int64_t> input = node.shape(kInput), features = node.shape(kFeatures),
                               time = node.shape(kTime);
    if (node.hasFailed()) return {};
    const int64_t rank = node.integer(0, 1);
    const bool fits = input.size() == 2 && features.size() == 2 && time.size() == 2 &&
                      input[1] == features[1] && time[0] == features[0] && rank >= 1 &&
                      features[0] % rank == 0 && time[1] >= 1;
    if (!fits) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the input " + node.type(kInput).text() + ", weights of features " +
                      node.type(kFeatures).text() + " and of time " + node.type(kTime).text() +
                      " do not fit rank " + std::to_string(rank));
        return {};
    }
    return {input[0], features[0], time[1], rank, features[0] / rank};
}

/// Newest weights over time, [1, filters].
ValueRef newest(TfliteNode& node, ValueRef time, const SvdfShape& s)
{
    Formula f(node);
    return f.reshape(f.slice(time, 1, s.memory - 1, s.memory), {1, s.filters});
}

/// Sums over the filters of a unit.
ValueRef overRank(TfliteNode& node, ValueRef value, const SvdfShape& s)
{
    Formula f(node);
    return f.reduce("sum", f.reshape(value, {s.batch, s.units, s.rank}), {2}, Formula::Keep::No);
}

void floatSvdf(TfliteNode& node, const SvdfShape& s)
{
    Formula f(node);
    const ValueRef features =
        f.call("nn.dense", {realInput(node, kInput), realInput(node, kFeatures)});
    ValueRef out = overRank(node, f.multiply(features, newest(node, realInput(node, kTime), s)), s);
    if (node.has(kBias)) out = f.add(out, realInput(node, kBias));
    outputReal(node, 0, out, PictureLayout::File, activationAt(node, 1));
}

void integerSvdf(TfliteNode& node, const SvdfShape& s)
{
    const TensorScale input = oneScale(node, node.inputTensor(kInput)),
                      features = oneScale(node, node.inputTensor(kFeatures)),
                      time = oneScale(node, node.inputTensor(kTime)),
                      state = oneScale(node, node.inputTensor(kState)),
                      out = oneScale(node, node.outputTensor(0));
    if (node.hasFailed()) return;
    Formula f(node);
    const TfliteTensor& memory = *node.inputTensor(kState);
    const DataType held = memory.type == 7 ? kInt16 : kInt8;
    ValueRef sums = f.call("qnn.dense", {node.input(kInput), node.input(kFeatures),
                                         integerScalar(node, input.zero, node.type(kInput).dtype)});
    sums = f.call("qnn.requantize",
                  {sums, f.numbers({input.scale * features.scale / state.scale}, {}, kFloat32),
                   integerScalar(node, state.zero, held)},
                  {{"out_dtype", held}});
    const ValueRef newestState = f.subtract(f.cast(sums, kInt32), static_cast<double>(state.zero));
    const ValueRef weights = newest(node, f.cast(node.input(kTime), kInt32), s);
    sums = overRank(node, f.multiply(newestState, weights), s);
    if (node.has(kBias)) sums = f.add(sums, f.cast(node.input(kBias), kInt32));
    const double ratio = state.scale * time.scale / out.scale;
    // The kernels of integers leave the activation to the result's range, which begins at zero.
    node.output(0, requantizedSums(node, sums, {ratio}, 1, FusedActivation::None));
}

} // namespace

void convertSvdf(TfliteNode& node)
{
    const SvdfShape shape = svdfShape(node);
    if (node.hasFailed()) return;
    noteStartOfState(node, kState);
    if (node.isQuantized(kInput))
        integerSvdf(node, shape);
    else
        floatSvdf(node, shape);
}

} // namespace tenon::compiler
