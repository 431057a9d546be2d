// SPDX-License-Identifier: Apache-2.0
// SEGMENT_SUM and UNSORTED_SEGMENT_*: rows that share a number become one.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/import/sized.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <limits>

namespace tenon::compiler {
namespace {

/// How the rows of a segment are joined, and what one without rows holds.
struct Joining
{
    std::string_view op;
    const char* reduction;
    double empty; ///< of floats; infinities stand for the ends of the type
};

constexpr double kEnd = std::numeric_limits<double>::infinity();
constexpr std::array<Joining, 4> kJoinings{{{"UNSORTED_SEGMENT_MAX", "max", -kEnd},
                                            {"UNSORTED_SEGMENT_MIN", "min", kEnd},
                                            {"UNSORTED_SEGMENT_PROD", "mul", 1},
                                            {"UNSORTED_SEGMENT_SUM", "add", 0}}};

ValueRef emptyOf(TfliteNode& node, const Joining& joining, DataType dtype)
{
    if (joining.empty != kEnd && joining.empty != -kEnd) return node.scalar(joining.empty, dtype);
    const bool isLowest = joining.empty < 0;
    if (dtype == kFloat32) {
        const double most = std::numeric_limits<float>::max();
        return node.scalar(isLowest ? -most : most, dtype);
    }
    const auto least = dtype.isSigned() ? int64_t{-1} << (dtype.bits - 1) : int64_t{0};
    const auto most = static_cast<int64_t>((uint64_t{1} << (dtype.bits - dtype.isSigned())) - 1);
    return Formula(node).integers({isLowest ? least : most}, {}, dtype);
}

/// Fails unless the data are numbers whose first axes are those of the segments' numbers.
bool isFit(TfliteNode& node)
{
    const std::vector<int64_t> data = node.shape(0), ids = node.shape(1);
    if (node.hasFailed()) return false;
    const DataType dtype = node.type(0).dtype, index = node.type(1).dtype;
    const bool isNumber = dtype == kFloat32 || dtype == kInt32 || dtype == kInt64;
    if (!isNumber || (index != kInt32 && index != kInt64))
        node.fail(DiagnosticCode::UnsupportedDtype,
                  "sums rows of float32, int32 or int64 by int32 or int64 but got " + dtype.text() +
                      " and " + index.text());
    else if (ids.empty() || ids.size() > data.size() ||
             !std::equal(ids.begin(), ids.end(), data.begin()))
        node.fail(DiagnosticCode::ShapeMismatch, "numbers of (" + join(ids, ", ") +
                                                     ") do not fit rows of (" + join(data, ", ") +
                                                     ")");
    return !node.hasFailed();
}

/// As TensorFlow Lite wants them: no segment is left out.
bool doRise(const std::vector<double>& numbers)
{
    const auto isJump = [](double a, double b) { return b != a && b != a + 1; };
    return numbers[0] == 0 &&
           std::adjacent_find(numbers.begin(), numbers.end(), isJump) == numbers.end();
}

/// The rows added to as many zero ones as the highest number says, which only a run may know.
void sumSorted(TfliteNode& node, ValueRef ids)
{
    Formula f(node);
    const int64_t count = node.shape(1)[0];
    const ValueRef last = f.add(f.slice(ids, 0, count - 1, count), 1);
    Shape shape = node.type(0).shape;
    if (const Tensor* known = node.constant(1)) {
        const std::vector<double> numbers = known->numbers();
        if (!doRise(numbers)) {
            node.fail(DiagnosticCode::BadAttribute,
                      "numbers of segments must rise from 0 in steps of 0 or 1");
            return;
        }
        shape[0] = Dim(static_cast<int64_t>(numbers.back()) + 1);
    } else {
        const std::vector<Dim> dims = node.boundDims(last);
        if (node.hasFailed()) return;
        shape[0] = dims[0];
    }
    const ValueRef data = node.input(0);
    const ValueRef zeros =
        emitSized(node, "full", {f.number(0, data)}, shape, {{"shape", std::vector<int64_t>{}}});
    node.output(0, f.call("scatter_nd", {zeros, f.expand(ids, 1), data},
                          {{"reduction", std::string("add")}}));
}

} // namespace

void convertSegmentSum(TfliteNode& node)
{
    if (!isFit(node)) return;
    if (node.rank(1) != 1 || node.shape(1)[0] == 0) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "one number per row is needed but they are " + node.type(1).text());
        return;
    }
    sumSorted(node, Formula(node).cast(node.input(1), kInt64));
}

/// What has a number outside of the segments goes into one that is dropped.
void convertUnsortedSegment(TfliteNode& node)
{
    const auto joining = std::find_if(kJoinings.begin(), kJoinings.end(),
                                      [&](const Joining& row) { return row.op == node.op(); });
    CHECK(joining != kJoinings.end()) << "no joining for " << node.op();
    const std::vector<int64_t> counts = node.staticIntegers(2);
    if (!isFit(node)) return;
    if (counts.size() != 1 || counts[0] < 1 || counts[0] > kMaxMadeUp) {
        node.fail(DiagnosticCode::BadAttribute,
                  "a number of segments of [" + join(counts, ", ") + "] is not usable");
        return;
    }
    Formula f(node);
    const ValueRef data = node.input(0), ids = f.cast(node.input(1), kInt64);
    const std::vector<int64_t> shape = node.shape(0);
    std::vector<int64_t> result{counts[0] + 1};
    result.insert(result.end(), shape.begin() + node.rank(1), shape.end());
    const auto last = static_cast<double>(counts[0]);
    const ValueRef isInside =
        f.both(f.compare("greater_equal", ids, 0), f.compare("less", ids, last));
    const ValueRef target = f.where(isInside, ids, f.number(last, ids));
    const ValueRef empty = f.broadcast(emptyOf(node, *joining, f.dtype(data)), result);
    const ValueRef joined = f.call("scatter_nd", {empty, f.expand(target, node.rank(1)), data},
                                   {{"reduction", std::string(joining->reduction)}});
    node.output(0, f.slice(joined, 0, 0, counts[0]));
}

} // namespace tenon::compiler
