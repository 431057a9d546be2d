// SPDX-License-Identifier: Apache-2.0
// Primitives: TVM's schedule primitives on one PrimFunc, by name, each applied or refused on its
// own and recorded in a trace.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/stmt.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// One recorded application, printable and replayable: `oh_0, oh_1 = split("oh", [-1, 7])`.
struct TraceStep
{
    std::string primitive;
    std::vector<std::string> operands; ///< loop and block names
    Attrs attrs;
    std::vector<std::string> results; ///< names of new loops / blocks
    std::string text() const;
};

/// Loops and blocks are named by strings unique within the function, so a trace is plain text.
/// Every primitive checks its conditions and returns BadSchedule (naming primitive, loop, block and
/// why) without changing anything.
class Primitives
{
public:
    explicit Primitives(tir::PrimFunc function); ///< makes loop names unique

    const tir::PrimFunc& function() const { return m_function; }
    const std::vector<TraceStep>& trace() const { return m_trace; }
    /// Applies one parsed trace line / a whole trace text.
    Status apply(const TraceStep& step);
    Status replay(std::string_view traceText);

    std::vector<std::string> blocks() const;
    std::vector<std::string> loopsOf(std::string_view block) const; ///< outermost first
    int64_t extentOf(std::string_view loop) const;                  ///< -1 when not constant

    /// Product of factors must cover the extent; one factor may be -1. Non-dividing splits get a
    /// predicate.
    Result<std::vector<std::string>> split(std::string loop, std::vector<int64_t> factors);
    /// [-1, factor] whose last tile is moved back to end at the extent: no predicate, the elements
    /// that two tiles share are computed twice. Spatial loops outside all reduction loops only.
    Result<std::vector<std::string>> splitOverlap(std::string loop, int64_t factor);
    /// Iterations from `count` on run in a second loop, with copies of the blocks inside; the
    /// result names it.
    Result<std::string> peel(std::string loop, int64_t count);
    Result<std::string> fuse(std::vector<std::string> loops);
    Status reorder(std::vector<std::string> loops);
    /// split two loops and reorder: {x_o, y_o, x_i, y_i}.
    Result<std::vector<std::string>> tile(std::string x, std::string y, int64_t xFactor,
                                          int64_t yFactor);
    Status vectorize(std::string loop);
    Status unroll(std::string loop);
    Status parallel(std::string loop);
    Status bind(std::string loop, std::string threadTag);
    /// New block copying `buffer` (by name) into `scope` before / out of it after `block`; returns
    /// the copy block's name.
    Result<std::string> cacheRead(std::string block, std::string buffer, tir::Scope scope);
    Result<std::string> cacheWrite(std::string block, tir::Scope scope);
    /// New block before `block`, which computes one dot product of bytes, that copies the words of
    /// its data into `scope`, indexed by the axes they depend on, those of sums first or last;
    /// returns the copy block's name.
    Result<std::string> cacheWords(std::string block, tir::Scope scope, bool areSumsLast);
    Status computeAt(std::string block, std::string loop);
    Status reverseComputeAt(std::string block, std::string loop);
    Status computeInline(std::string block);
    Status reverseComputeInline(std::string block);
    Result<std::string> rfactor(std::string loop, int64_t axis);
    Result<std::string> decomposeReduction(std::string block,
                                           std::string loop); ///< returns the init block
    /// Lets sums start from what the only block that reads them adds.
    Status initWithAddends(std::string init);
    /// Runs a sum's block only where a condition does not make what it adds zero, as far as the
    /// condition is the same all along `axis`.
    Status skipZeroTerms(std::string block, int64_t axis);
    /// Joins axes `axis` and `axis + 1` of a block (with their loops) into one; the result names
    /// the loop.
    Result<std::string> fuseAxes(std::string block, int64_t axis);
    /// Joins dimensions `dim` and `dim + 1` of an intermediate buffer.
    Status fuseDims(std::string buffer, int64_t dim);
    /// Stores dimension order[i] of an intermediate buffer as dimension i.
    Status permuteDims(std::string buffer, std::vector<int64_t> order);
    Status setScope(std::string buffer, tir::Scope scope);
    Status storageAlign(std::string buffer, int64_t axis, int64_t factor, int64_t offset);
    /// Lowering asks ahead of time for elements of a parameter that loops walk from end to end, for
    /// at most `bytes` more than are in use.
    Status stream(std::string buffer, int64_t bytes);
    /// The same for the rows of an image that windows pass over.
    Status streamRows(std::string buffer);
    /// The same for what tiles of results write.
    Status streamResult(std::string buffer);
    Status tensorize(std::string loop, std::string intrinsic);
    /// Pads a block's iteration domain up to multiples so that later splits divide.
    Status pad(std::string block, std::vector<int64_t> multiples);

private:
    tir::PrimFunc m_function;
    std::vector<TraceStep> m_trace;

    void record(std::string primitive, std::vector<std::string> operands, Attrs attrs = {},
                std::vector<std::string> results = {});
    Status setKind(std::string primitive, std::string loop, tir::LoopKind kind, Attrs attrs);
};

} // namespace tenon::compiler
