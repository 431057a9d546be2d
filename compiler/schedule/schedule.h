// SPDX-License-Identifier: Apache-2.0
// Schedule: primitives in sentences. It remembers the first that was refused; after that all do
// nothing and hand back names that exist, so that rules go on to their end and say what they do.
#pragma once

#include "compiler/schedule/primitives.h"

#include <functional>
#include <utility>

namespace tenon::compiler {

class Schedule : public Primitives
{
public:
    using Primitives::Primitives;
    using Loops = std::vector<std::string>;

    bool hasFailed() const { return !m_status; }
    const Status& status() const { return m_status; } ///< the first failure
    void fail(Diagnostic error);
    /// Primitives whose refusal is an answer, not a failure.
    Primitives& tries() { return *this; }

    Loops split(const std::string& loop, const std::vector<int64_t>& factors);
    Loops splitOverlap(const std::string& loop, int64_t factor);
    std::string peel(const std::string& loop, int64_t count);
    std::string fuse(const Loops& loops);
    void reorder(Loops loops) { step(&Primitives::reorder, std::move(loops)); }
    void vectorize(std::string loop) { step(&Primitives::vectorize, std::move(loop)); }
    void unroll(std::string loop) { step(&Primitives::unroll, std::move(loop)); }
    void parallel(std::string loop) { step(&Primitives::parallel, std::move(loop)); }
    std::string cacheRead(const std::string& block, const std::string& buffer, tir::Scope scope);
    std::string cacheWords(const std::string& block, tir::Scope scope, bool areSumsLast = false);
    std::string cacheWrite(const std::string& block, tir::Scope scope);
    void computeAt(std::string block, std::string loop)
    {
        step(&Primitives::computeAt, std::move(block), std::move(loop));
    }
    void reverseComputeAt(std::string block, std::string loop)
    {
        step(&Primitives::reverseComputeAt, std::move(block), std::move(loop));
    }
    void computeInline(std::string block) { step(&Primitives::computeInline, std::move(block)); }
    std::string rfactor(const std::string& loop, int64_t axis);
    std::string decomposeReduction(const std::string& block, const std::string& loop);
    std::string fuseAxes(const std::string& block, int64_t axis);
    void fuseDims(std::string buffer, int64_t dim)
    {
        step(&Primitives::fuseDims, std::move(buffer), dim);
    }
    void permuteDims(std::string buffer, std::vector<int64_t> order)
    {
        step(&Primitives::permuteDims, std::move(buffer), std::move(order));
    }
    void setScope(std::string buffer, tir::Scope scope)
    {
        step(&Primitives::setScope, std::move(buffer), scope);
    }
    void storageAlign(std::string buffer, int64_t axis, int64_t factor, int64_t offset)
    {
        step(&Primitives::storageAlign, std::move(buffer), axis, factor, offset);
    }
    void stream(std::string buffer, int64_t bytes)
    {
        step(&Primitives::stream, std::move(buffer), bytes);
    }
    void streamRows(std::string buffer) { step(&Primitives::streamRows, std::move(buffer)); }
    void streamResult(std::string buffer) { step(&Primitives::streamResult, std::move(buffer)); }

private:
    template <typename... Params, typename... Args>
    void step(Status (Primitives::*primitive)(Params...), Args&&... args)
    {
        if (m_status) m_status = (this->*primitive)(std::forward<Args>(args)...);
    }
    /// What a primitive makes, or `otherwise` when it, or one before it, was refused.
    template <typename Made>
    Made kept(const std::function<Result<Made>()>& make, Made otherwise);

    Status m_status = kDone;
};

} // namespace tenon::compiler
