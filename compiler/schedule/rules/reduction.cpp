// SPDX-License-Identifier: Apache-2.0
// Loops for any reduction: over the last spatial axis in vectors, or along a contiguous reduction
// axis in strands that are summed at the end.
#include "compiler/schedule/rules/result_runs.h"
#include "compiler/schedule/rules/rows.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/rules/short_columns.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

struct Axes
{
    std::vector<std::string> spatial, reduce;
    std::vector<size_t> reduceIndex;
    int64_t lastSpatial = -1; ///< position of the last spatial axis that is longer than 1
    bool isPlain = true;      ///< every axis is bound to one loop
};

Axes axesByKind(const Schedule& schedule, const std::string& block)
{
    Axes out;
    const std::vector<AxisView> axes = axesOf(schedule, block);
    for (size_t i = 0; i < axes.size(); ++i) {
        out.isPlain = out.isPlain && !axes[i].loop.empty();
        (axes[i].isReduce ? out.reduce : out.spatial).push_back(axes[i].loop);
        if (axes[i].isReduce) out.reduceIndex.push_back(i);
        if (!axes[i].isReduce && axes[i].extent != 1) out.lastSpatial = static_cast<int64_t>(i);
    }
    return out;
}

/// Rows so short that vectors of them, whose loads step over the others' columns, take fewer
/// instructions than one number at a time.
bool readsShortRows(const tir::Stmt& block, size_t axis)
{
    constexpr int64_t kShort = 4;
    int64_t columns = 1;
    for (const tir::IterVar& iter : block->block.iters)
        if (iter.kind == tir::IterKind::Reduce)
            columns *= iter.extent->kind == tir::ExprKind::IntImm ? iter.extent->integer : kShort;
    const AxisSteps steps = stepsOf(block);
    return columns < kShort && steps.isKnown && steps.access[0][axis] == 1 &&
           !branchesAlong(block, block->block.iters[axis].var) &&
           std::all_of(steps.access.begin(), steps.access.end(), [&](const auto& access) {
               return access[axis] >= 0 && access[axis] < kShort;
           });
}

/// Strands in so many vectors do not wait for each other.
constexpr int64_t kVectorsOfStrands = 4;

/// Where there are enough elements to a result that the strands' own sum costs little: 16 vectors
/// (rows of 256 on AVX2: sums take 0.7, maxima 0.74 of the time; those of 100 as long).
bool hasSeveralStrandVectors(int64_t elements, int64_t lanes)
{
    constexpr int64_t kFewestVectors = 16;
    return elements >= kFewestVectors * lanes;
}

int64_t elementsOfResult(const std::vector<AxisView>& axes)
{
    int64_t elements = 1;
    for (const AxisView& axis : axes)
        elements *= !axis.isReduce ? 1 : axis.extent < 0 ? kUnknownExtent : axis.extent;
    return elements;
}

/// Strands of an axis of which, or of another that is reduced with it, nobody knows how long it is:
/// lanes behind the end add nothing. Several axes are worth several vectors.
int64_t openStrands(const std::vector<AxisView>& axes, int64_t extent, int64_t lanes)
{
    constexpr int64_t kMostVectors = 8;
    if (lanes < 4) return 0;
    if (extent > 0 && extent % lanes == 0) return lanes * divisorUpTo(extent / lanes, kMostVectors);
    const auto reduced =
        std::count_if(axes.begin(), axes.end(), [](const AxisView& axis) { return axis.isReduce; });
    const bool isLong = reduced > 1 && (extent < 0 || extent >= kVectorsOfStrands * lanes);
    return isLong ? kVectorsOfStrands * lanes : lanes;
}

/// Those that divide the axis.
int64_t knownStrands(int64_t extent, int64_t elements, int64_t lanes)
{
    const int64_t most =
        hasSeveralStrandVectors(elements, lanes) ? kVectorsOfStrands * lanes : lanes;
    for (int64_t wanted = most; wanted >= std::max<int64_t>(4, lanes / 4); wanted /= 2)
        if (extent % wanted == 0 && elements > wanted) return wanted;
    return 0;
}

/// Splits the contiguous reduction axis so that each lane sums a strand; the strands are then
/// reduced by the block itself. False when the axis does not divide.
bool makeStrands(Schedule& schedule, const std::string& block, size_t axis, int64_t lanes)
{
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const AxisView& view = axes[axis];
    const bool isOpen = std::any_of(axes.begin(), axes.end(), [](const AxisView& one) {
        return one.isReduce && one.extent < 0;
    });
    if (isOpen && !isContiguousAlong(blockOf(schedule, block), axis)) return false;
    const int64_t strands = isOpen ? openStrands(axes, view.extent, lanes)
                                   : knownStrands(view.extent, elementsOfResult(axes), lanes);
    if (strands == 0) return false;
    // The strands' axis goes last, so that one step of the reduction is one vector.
    const tir::Buffer out = writtenIn(blockOf(schedule, block))[0];
    const auto parts = schedule.split(view.loop, {-1, strands});
    schedule.rfactor(parts[1], static_cast<int64_t>(out->shape.size()));
    return true;
}

/// Short sums one after the other wait for the latency of each addition; as many at a time as a
/// vector has lanes wait only for their gathered elements, on processors that gather.
bool sumsManyAtOnce(const tir::Stmt& block, size_t axis, int64_t lanes)
{
    constexpr int64_t kFewestLanes = 8;
    const AxisSteps steps = stepsOf(block);
    return lanes >= kFewestLanes && steps.isKnown && steps.access[0][axis] == 1 &&
           block->block.iters[axis].extent->kind == tir::ExprKind::IntImm &&
           block->block.iters[axis].extent->integer >= lanes &&
           !branchesAlong(block, block->block.iters[axis].var) &&
           std::none_of(steps.access.begin(), steps.access.end(),
                        [&](const auto& access) { return access[axis] == kUnknownStep; });
}

/// So many strands of a long sum go side by side, each in a vector of results: one strand waits
/// for the addition before it, and processors look no further ahead than about so many additions,
/// so that they do not start on the next results meanwhile. 1 where there is nothing to gain, or
/// where the strands' own sums would leave the nearest cache.
int64_t strandsBesideVectors(const tir::Stmt& block, const std::vector<AxisView>& axes,
                             size_t reduced, const TargetFacts& facts)
{
    constexpr int64_t kLookAhead = 128;
    constexpr int64_t kMostStrands = 8;
    const std::vector<tir::Buffer> out = writtenIn(block);
    const int64_t extent = axes[reduced].extent;
    if (out.size() != 1 || !out[0]->dtype.isFloat() || extent < kLookAhead) return 1;
    int64_t bytes = out[0]->dtype.bytes();
    for (const AxisView& axis : axes)
        if (axis.extent < 1)
            return 1;
        else if (!axis.isReduce)
            bytes *= axis.extent;
    const auto fewest = std::max<int64_t>(2, static_cast<int64_t>(facts.sumLatency));
    for (int64_t strands = kMostStrands; strands >= fewest; --strands)
        if (extent % strands == 0) return strands * bytes <= facts.l1Bytes / 2 ? strands : 1;
    return 1;
}

/// The loops of a block of such strands: `run` in vectors, `strands` around them in registers.
void runStrandsInRegisters(Schedule& schedule, const std::string& block, const std::string& run,
                           const std::string& strands, const TargetFacts& facts)
{
    const int64_t lanes = lanesOf(schedule, block, facts);
    std::vector<std::string> order, reduce;
    for (const AxisView& axis : axesOf(schedule, block))
        if (axis.isReduce)
            reduce.push_back(axis.loop);
        else if (axis.loop != run && axis.loop != strands)
            order.push_back(axis.loop);
    const std::vector<std::string> outer = order;
    std::string vector = run;
    if (schedule.extentOf(run) > lanes) {
        const auto parts = schedule.splitOverlap(run, lanes);
        order.push_back(parts[0]);
        vector = parts[1];
    }
    order.insert(order.end(), reduce.begin(), reduce.end());
    order.insert(order.end(), {strands, vector});
    schedule.reorder(order);
    initialiseTile(schedule, block, reduce[0], 2, lanes);
    vectorizeInParts(schedule, vector, lanes);
    schedule.unroll(strands);
    return parallelise(schedule, outer, facts);
}

enum class Sums
{
    Plain,
    Serial, ///< no strands were made of them
    Strands
};

void runSpatial(Schedule& schedule, const std::string& block, Sums sums, const TargetFacts& facts)
{
    const int64_t lanes = lanesOf(schedule, block, facts);
    Axes axes = axesByKind(schedule, block);
    if (!axes.isPlain) return;
    std::vector<std::string> outer = axes.spatial;
    std::string vector;
    const auto last = static_cast<size_t>(axes.lastSpatial);
    const tir::Stmt stmt = blockOf(schedule, block);
    if (axes.lastSpatial >= 0 && (isContiguousAlong(stmt, last) || readsShortRows(stmt, last) ||
                                  (sums == Sums::Serial && sumsManyAtOnce(stmt, last, lanes)))) {
        const std::string run = axesOf(schedule, block)[last].loop;
        const int64_t extent = schedule.extentOf(run);
        if (extent > lanes && sums != Sums::Strands) {
            const auto parts = schedule.splitOverlap(run, lanes);
            std::replace(outer.begin(), outer.end(), run, parts[0]);
            vector = parts[1];
        } else if (extent >= 4) {
            vector = run;
            std::erase(outer, run);
        }
    }
    std::vector<std::string> order = outer;
    order.insert(order.end(), axes.reduce.begin(), axes.reduce.end());
    if (!vector.empty()) order.push_back(vector);
    schedule.reorder(order);
    if (blockOf(schedule, block)->init)
        initialiseTile(schedule, block, axes.reduce[0], vector.empty() ? 0 : 1, lanes);
    if (!vector.empty()) vectorizeInParts(schedule, vector, lanes);
    // Overlapping vectors stay within one thread.
    std::vector<std::string> parallel;
    for (const std::string& loop : outer) {
        if (std::find(axes.spatial.begin(), axes.spatial.end(), loop) == axes.spatial.end()) break;
        parallel.push_back(loop);
    }
    return parallelise(schedule, parallel, facts);
}

/// The first of the axes at the end that are reduced and read what lies side by side; the number
/// of axes when there are none.
size_t beginOfRows(const tir::Stmt& block, const std::vector<AxisView>& axes)
{
    const AxisSteps steps = stepsOf(block);
    int64_t step = 1;
    size_t begin = axes.size();
    for (; steps.isKnown && begin > 0 && axes[begin - 1].isReduce; --begin) {
        const size_t axis = begin - 1;
        for (const std::vector<int64_t>& access : steps.access)
            if (access[axis] != step && access[axis] != 0) return begin;
        if (branchesAlong(block, block->block.iters[axis].var)) return begin;
        step *= axes[axis].extent;
    }
    return begin;
}

/// True where these are all of the reduced axes.
bool readsWholeRows(const tir::Stmt& block, const std::vector<AxisView>& axes)
{
    const size_t begin = beginOfRows(block, axes);
    return begin > 0 && begin < axes.size() &&
           std::none_of(axes.begin(), axes.begin() + static_cast<int64_t>(begin),
                        [](const AxisView& axis) { return axis.isReduce; });
}

/// Makes such strands of the last reduced axis; the block itself then sums them.
void splitIntoStrands(Schedule& schedule, const std::string& block, const Axes& axes,
                      const TargetFacts& facts)
{
    const std::vector<AxisView> views = axesOf(schedule, block);
    const size_t reduced = axes.reduceIndex.back();
    const int64_t strands = strandsBesideVectors(blockOf(schedule, block), views, reduced, facts);
    if (strands <= 1) return;
    const std::string run = views[static_cast<size_t>(axes.lastSpatial)].loop;
    const auto parts = schedule.split(views[reduced].loop, {-1, strands});
    const std::vector<std::string> before = schedule.blocks();
    schedule.rfactor(parts[1], 0);
    for (const std::string& name : blocksSince(schedule, before))
        runStrandsInRegisters(schedule, name, run, parts[1], facts);
}

/// Rows that lie apart, as the images of a channel do in a batch: each is reduced by itself, then
/// the rows' results are (means over 8 images of 28 x 28: 0.22 of the time).
bool reduceRowsApart(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const size_t begin = beginOfRows(blockOf(schedule, block), axes);
    if (begin < 2 || begin == axes.size() || !axes[begin - 1].isReduce || axes[begin - 2].isReduce)
        return false;
    int64_t elements = 1;
    for (size_t i = begin; i < axes.size(); ++i) elements *= axes[i].extent;
    if (elements < 4 * lanesOf(schedule, block, facts)) return false;
    const std::vector<std::string> before = schedule.blocks();
    schedule.rfactor(axes[begin - 1].loop, static_cast<int64_t>(begin) - 1);
    for (const std::string& rows : blocksSince(schedule, before))
        scheduleReduction(schedule, rows, facts);
    runSpatial(schedule, block, Sums::Serial, facts);
    return true;
}

} // namespace

bool reduceRows(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    constexpr int64_t kFewestLanes = 8;
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const int64_t lanes = lanesOf(schedule, block, facts), elements = elementsOfResult(axes);
    if (lanes < kFewestLanes || elements < lanes || !readsWholeRows(blockOf(schedule, block), axes))
        return false;
    size_t spatial = 0;
    while (!axes[spatial].isReduce) ++spatial;
    for (size_t i = spatial + 1; i < axes.size(); ++i)
        schedule.fuseAxes(block, static_cast<int64_t>(spatial));
    const std::vector<std::string> before = schedule.blocks();
    makeRowStrands(schedule, block, facts,
                   hasSeveralStrandVectors(elements, lanes) ? kVectorsOfStrands : 1);
    std::vector<std::string> strands = blocksSince(schedule, before);
    std::vector<std::string> outer;
    for (const AxisView& axis : axesOf(schedule, block))
        if (!axis.isReduce && outer.size() < spatial) outer.push_back(axis.loop);
    for (size_t i = strands.size(); i-- > 0;) schedule.computeAt(strands[i], outer.back());
    strands.push_back(block);
    for (const std::string& name : strands) vectorizeRows(schedule, name, elements, facts);
    parallelise(schedule, outer, facts);
    return true;
}

void scheduleReduction(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const tir::Stmt stmt = blockOf(schedule, block);
    const Axes axes = axesByKind(schedule, block);
    if (!axes.isPlain || axes.reduce.empty()) return;
    if (reduceResultRuns(schedule, block, facts)) return;
    const bool hasVectors =
        axes.lastSpatial >= 0 && isContiguousAlong(stmt, static_cast<size_t>(axes.lastSpatial)) &&
        axesOf(schedule, block)[static_cast<size_t>(axes.lastSpatial)].extent >= 4;
    if (stmt->init && !hasOrderedSums(schedule.function()) &&
        reduceShortColumns(schedule, block, facts))
        return runSpatial(schedule, block, Sums::Plain, facts);
    bool isSerial = !hasVectors && stmt->init;
    if (isSerial && !hasOrderedSums(schedule.function())) {
        const int64_t lanes = lanesOf(schedule, block, facts);
        if (reduceRows(schedule, block, facts) || reduceRowsApart(schedule, block, facts)) return;
        const std::vector<std::string> before = schedule.blocks();
        if (makeStrands(schedule, block, axes.reduceIndex.back(), lanes)) {
            isSerial = false;
            for (const std::string& name : blocksSince(schedule, before))
                runSpatial(schedule, name, Sums::Strands, facts);
        }
    }
    if (hasVectors && stmt->init && !hasOrderedSums(schedule.function()))
        splitIntoStrands(schedule, block, axes, facts);
    return runSpatial(schedule, block, isSerial ? Sums::Serial : Sums::Plain, facts);
}

} // namespace tenon::compiler
