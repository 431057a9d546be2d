// SPDX-License-Identifier: Apache-2.0
// Primitives that make loops and blocks: their names, or those of what they were to be made of.
#include "compiler/schedule/schedule.h"

namespace tenon::compiler {

void Schedule::fail(Diagnostic error)
{
    if (m_status) m_status = std::move(error);
}

template <typename Made>
Made Schedule::kept(const std::function<Result<Made>()>& make, Made otherwise)
{
    if (!m_status) return otherwise;
    Result<Made> made = make();
    if (made) return *std::move(made);
    m_status = made.error();
    return otherwise;
}

Schedule::Loops Schedule::split(const std::string& loop, const std::vector<int64_t>& factors)
{
    return kept<Loops>([&] { return Primitives::split(loop, factors); },
                       Loops(factors.size(), loop));
}

Schedule::Loops Schedule::splitOverlap(const std::string& loop, int64_t factor)
{
    return kept<Loops>([&] { return Primitives::splitOverlap(loop, factor); }, {loop, loop});
}

std::string Schedule::peel(const std::string& loop, int64_t count)
{
    return kept<std::string>([&] { return Primitives::peel(loop, count); }, loop);
}

std::string Schedule::fuse(const Loops& loops)
{
    return kept<std::string>([&] { return Primitives::fuse(loops); },
                             loops.empty() ? std::string() : loops.front());
}

std::string Schedule::cacheRead(const std::string& block, const std::string& buffer,
                                tir::Scope scope)
{
    return kept<std::string>([&] { return Primitives::cacheRead(block, buffer, scope); }, block);
}

std::string Schedule::cacheWords(const std::string& block, tir::Scope scope, bool areSumsLast)
{
    return kept<std::string>([&] { return Primitives::cacheWords(block, scope, areSumsLast); },
                             block);
}

std::string Schedule::cacheWrite(const std::string& block, tir::Scope scope)
{
    return kept<std::string>([&] { return Primitives::cacheWrite(block, scope); }, block);
}

std::string Schedule::rfactor(const std::string& loop, int64_t axis)
{
    return kept<std::string>([&] { return Primitives::rfactor(loop, axis); }, blocks().front());
}

std::string Schedule::decomposeReduction(const std::string& block, const std::string& loop)
{
    return kept<std::string>([&] { return Primitives::decomposeReduction(block, loop); }, block);
}

std::string Schedule::fuseAxes(const std::string& block, int64_t axis)
{
    const Loops loops = loopsOf(block);
    return kept<std::string>([&] { return Primitives::fuseAxes(block, axis); },
                             loops.empty() ? std::string() : loops.front());
}

} // namespace tenon::compiler
