// SPDX-License-Identifier: Apache-2.0
// Looking up: BUCKETIZE among boundaries, HASHTABLE_LOOKUP among keys, UNIQUE among what came
// before, and SPARSE_TO_DENSE, which puts values where indices say.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/import/sized.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {

/// How many boundaries an element reaches; NaN, which is less than none, reaches all.
void convertBucketize(TfliteNode& node)
{
    const std::vector<double> boundaries = node.file().options.numbers<float, double>(0);
    const ValueRef value = node.input(0);
    if (node.hasFailed()) return;
    if (!std::is_sorted(boundaries.begin(), boundaries.end())) {
        node.fail(DiagnosticCode::BadAttribute, "boundaries must rise");
        return;
    }
    Formula f(node);
    const auto count = static_cast<int64_t>(boundaries.size());
    const int64_t rank = f.rank(value);
    const DataType dtype = f.dtype(value) == kFloat64 ? kFloat64 : kFloat32;
    if (count == 0) return node.output(0, f.multiply(f.cast(value, kInt32), 0));
    const ValueRef isBelow = f.call(
        "less", {f.expand(f.cast(value, dtype), rank), f.numbers(boundaries, {count}, dtype)});
    const ValueRef reached = f.cast(f.apply("logical_not", isBelow), kInt32);
    node.output(0, f.reduce("sum", reached, {rank}, Formula::Keep::No));
}

/// Rows by their keys, zeros for keys that are not there, and which were.
void convertHashtableLookup(TfliteNode& node)
{
    const std::vector<int64_t> wanted = node.shape(0), keys = node.shape(1), rows = node.shape(2);
    const ValueRef lookup = node.input(0), key = node.input(1), value = node.input(2);
    if (node.hasFailed()) return;
    const bool isFit = wanted.size() == 1 && keys.size() == 1 && !rows.empty() &&
                       rows[0] == keys[0] && keys[0] > 0 && node.type(0).dtype == kInt32 &&
                       node.type(1).dtype == kInt32;
    if (!isFit) {
        node.fail(DiagnosticCode::ShapeMismatch, "lookups " + node.type(0).text() + " and keys " +
                                                     node.type(1).text() + " do not fit values " +
                                                     node.type(2).text());
        return;
    }
    Formula f(node);
    const ValueRef isEqual = f.cast(f.call("equal", {f.expand(lookup, 1), key}), kInt32);
    const ValueRef hits = f.reduce("max", isEqual, {1}, Formula::Keep::No);
    const ValueRef at = f.reduce("argmax", isEqual, {1}, Formula::Keep::No);
    const auto more = static_cast<int64_t>(rows.size()) - 1;
    ValueRef isHit = f.compare("greater", hits, 0);
    if (more > 0) isHit = f.expand(isHit, 1, more);
    node.output(0, f.where(isHit, f.take(value, at, 0), f.number(0, value)));
    if (node.usesOutput(1)) node.output(1, f.cast(hits, kUInt8));
}

/// The distinct elements in the order in which they come, and for each element which it is.
void convertUnique(TfliteNode& node)
{
    const ValueRef data = node.input(0);
    if (node.hasFailed()) return;
    if (node.rank(0) != 1) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "a row of elements is needed but the input is " + node.type(0).text());
        return;
    }
    Formula f(node);
    const ValueRef found = f.call("unique", {f.expand(data, 1)}, {{"sorted", int64_t{0}}});
    const std::vector<Dim> count = node.boundDims(ValueRef{found.node, 3});
    if (node.hasFailed()) return;
    const ValueRef firsts =
        emitSized(node, "dynamic_slice", {found, node.sizesOf({Dim(0)})}, {count[0]},
                  {{"axes", std::vector<int64_t>{0}}, {"strides", std::vector<int64_t>{1}}});
    node.output(0, f.take(data, firsts, 0));
    if (node.usesOutput(1))
        node.output(1, f.cast({found.node, 1}, node.outputType(1).value_or(kInt32)));
}

void convertSparseToDense(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.staticIntegers(1);
    std::vector<int64_t> at = node.shape(0);
    const std::vector<int64_t> given = node.shape(2);
    const ValueRef indices = node.input(0), values = node.input(2), rest = node.input(3);
    if (node.hasFailed()) return;
    const auto rank = static_cast<int64_t>(shape.size());
    if (at.size() < 2) at = {at.empty() ? 1 : at[0], 1}; // one axis, or one element of it
    const bool isFit = at.size() == 2 && at[1] == rank && node.rank(3) == 0 &&
                       limitedCount(shape) <= kMaxMadeUp && limitedCount(shape) > 0 &&
                       (given.empty() || given == std::vector<int64_t>{at[0]});
    if (!isFit) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "indices " + node.type(0).text() + " and values " + node.type(2).text() +
                      " do not fit a result of (" + join(shape, ", ") + ")");
        return;
    }
    Formula f(node);
    node.output(0, f.call("scatter_nd",
                          {f.broadcast(rest, shape), f.reshape(f.cast(indices, kInt64), at),
                           f.broadcast(values, {at[0]})},
                          {{"reduction", std::string("update")}}));
}

} // namespace tenon::compiler
