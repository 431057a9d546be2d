// SPDX-License-Identifier: Apache-2.0
// Lifetimes under an order, and the search for a better one stretch by stretch.
#include "compiler/memory/call_order.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {
namespace {

constexpr size_t kWidestBeam = 64;
constexpr size_t kBeamWork = 4'000'000; ///< bytes of states written per stretch, about

size_t at(int index) { return static_cast<size_t>(index); }

struct Lifetime
{
    int first = -1;
    int last = -1;
};

std::vector<Lifetime> lifetimesOf(const CallGraph& graph, const std::vector<int>& order)
{
    std::vector<Lifetime> out(graph.bytes.size());
    for (size_t step = 0; step < order.size(); ++step) {
        for (const int buffer : graph.buffers[at(order[step])]) {
            Lifetime& lifetime = out[at(buffer)];
            if (lifetime.first < 0) lifetime.first = static_cast<int>(step);
            lifetime.last = static_cast<int>(step);
        }
    }
    return out;
}

/// What no order can do without: the buffers of one call.
int64_t largestCall(const CallGraph& graph)
{
    int64_t most = 0;
    for (const std::vector<int>& buffers : graph.buffers) {
        int64_t sum = 0;
        for (const int buffer : buffers) sum += graph.bytes[at(buffer)];
        most = std::max(most, sum);
    }
    return most;
}

/// Calls [from, end) of the given order, to be reordered among themselves.
struct Range
{
    int from = 0;
    int end = 0;
    int64_t aliveBefore = 0; ///< bytes from earlier calls that are still needed
};

class Stretch
{
public:
    /// Peaks below `floor` are no better than it.
    Stretch(const CallGraph& graph, const std::vector<Lifetime>& lifetimes, Range range,
            int64_t floor);

    /// The best order found, and its peak.
    std::pair<std::vector<int>, int64_t> search() const;

private:
    struct Step
    {
        int call;
        int previous; ///< in the list of all steps
    };

    struct State
    {
        std::vector<char> isDone;
        std::vector<int> ready;
        int step = -1; ///< the last one
        int64_t alive = 0;
        int64_t peak = 0;
        uint64_t hash = 0; ///< of the set of done calls
    };

    struct Move
    {
        size_t state;
        int call;
        int64_t alive;
        int64_t peak;
        uint64_t hash;
    };

    State start() const;
    Move moveOf(const State& state, size_t index, int call) const;
    State after(const State& state, const Move& move) const;
    std::vector<Move> bestMoves(const std::vector<State>& beam) const;
    size_t beamWidth() const;
    bool isDone(const State& state, int call) const
    {
        return call < m_range.from || (call < m_range.end && state.isDone[at(call - m_range.from)]);
    }

    const CallGraph& m_graph;
    Range m_range;
    int64_t m_floor;
    /// Of each buffer: its users in the stretch, and one before or behind where there are any.
    std::unordered_map<int, std::vector<int>> m_usersOf;
    std::vector<std::vector<int>> m_waiting; ///< of each call of the stretch: those behind it
};

Stretch::Stretch(const CallGraph& graph, const std::vector<Lifetime>& lifetimes, Range range,
                 int64_t floor)
    : m_graph(graph)
    , m_range(range)
    , m_floor(floor)
    , m_waiting(at(range.end - range.from))
{
    for (int call = range.from; call < range.end; ++call) {
        for (const int buffer : graph.buffers[at(call)]) {
            std::vector<int>& users = m_usersOf[buffer];
            const Lifetime& lifetime = lifetimes[at(buffer)];
            if (users.empty() && lifetime.first < range.from) users.push_back(lifetime.first);
            if (lifetime.last >= range.end && (users.empty() || users.back() < range.from))
                users.push_back(lifetime.last);
            users.push_back(call);
        }
        for (const int other : graph.before[at(call)])
            if (other >= range.from) m_waiting[at(other - range.from)].push_back(call);
    }
}

Stretch::State Stretch::start() const
{
    State state;
    state.isDone.assign(at(m_range.end - m_range.from), false);
    state.alive = m_range.aliveBefore;
    for (int call = m_range.from; call < m_range.end; ++call) {
        const std::vector<int>& before = m_graph.before[at(call)];
        if (std::all_of(before.begin(), before.end(), [&](int b) { return b < m_range.from; }))
            state.ready.push_back(call);
    }
    return state;
}

Stretch::Move Stretch::moveOf(const State& state, size_t index, int call) const
{
    int64_t taken = 0;
    int64_t freed = 0;
    for (const int buffer : m_graph.buffers[at(call)]) {
        const std::vector<int>& users = m_usersOf.at(buffer);
        const auto isOver = [&](int user) { return user == call || isDone(state, user); };
        if (std::none_of(users.begin(), users.end(), [&](int u) { return isDone(state, u); }))
            taken += m_graph.bytes[at(buffer)];
        if (std::all_of(users.begin(), users.end(), isOver)) freed += m_graph.bytes[at(buffer)];
    }
    // splitmix64's constants: one number for each call, combined without an order
    uint64_t hash = (static_cast<uint64_t>(call) + 1) * 0x9e3779b97f4a7c15ULL;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
    return {index, call, state.alive + taken - freed, std::max(state.peak, state.alive + taken),
            state.hash + (hash ^ (hash >> 31))};
}

Stretch::State Stretch::after(const State& state, const Move& move) const
{
    State next{state.isDone, {}, -1, move.alive, move.peak, move.hash};
    next.isDone[at(move.call - m_range.from)] = true;
    next.ready.reserve(state.ready.size());
    for (const int call : state.ready)
        if (call != move.call) next.ready.push_back(call);
    for (const int call : m_waiting[at(move.call - m_range.from)]) {
        const std::vector<int>& before = m_graph.before[at(call)];
        if (std::all_of(before.begin(), before.end(), [&](int b) { return isDone(next, b); }))
            next.ready.push_back(call);
    }
    return next;
}

/// One move to each of the best sets of done calls.
std::vector<Stretch::Move> Stretch::bestMoves(const std::vector<State>& beam) const
{
    std::vector<Move> moves;
    for (size_t s = 0; s < beam.size(); ++s)
        for (const int call : beam[s].ready) moves.push_back(moveOf(beam[s], s, call));
    std::sort(moves.begin(), moves.end(), [&](const Move& a, const Move& b) {
        const int64_t peakA = std::max(a.peak, m_floor);
        const int64_t peakB = std::max(b.peak, m_floor);
        if (peakA != peakB) return peakA < peakB;
        if (a.alive != b.alive) return a.alive < b.alive;
        return a.call != b.call ? a.call < b.call : a.state < b.state;
    });
    std::vector<Move> best;
    std::unordered_set<uint64_t> sets;
    for (const Move& move : moves)
        if (best.size() < beamWidth() && sets.insert(move.hash).second) best.push_back(move);
    return best;
}

size_t Stretch::beamWidth() const
{
    const size_t calls = at(m_range.end - m_range.from);
    return std::clamp<size_t>(kBeamWork / (calls * (calls + 64)), 1, kWidestBeam);
}

std::pair<std::vector<int>, int64_t> Stretch::search() const
{
    std::vector<Step> steps;
    std::vector<State> beam;
    beam.push_back(start());
    for (int step = m_range.from; step < m_range.end; ++step) {
        std::vector<State> next;
        for (const Move& move : bestMoves(beam)) {
            next.push_back(after(beam[move.state], move));
            next.back().step = static_cast<int>(steps.size());
            steps.push_back({move.call, beam[move.state].step});
        }
        beam = std::move(next);
    }
    std::vector<int> order;
    for (int step = beam.front().step; step >= 0; step = steps[at(step)].previous)
        order.push_back(steps[at(step)].call);
    std::reverse(order.begin(), order.end());
    return {std::move(order), beam.front().peak};
}

/// The calls between points at which at most one buffer is alive.
std::vector<Range> stretchesOf(const CallGraph& graph, const std::vector<Lifetime>& lifetimes)
{
    const int calls = static_cast<int>(graph.buffers.size());
    std::vector<int> count(at(calls) + 1, 0); // of buffers alive from before a call to behind it
    std::vector<int64_t> bytes(at(calls) + 1, 0);
    for (size_t b = 0; b < lifetimes.size(); ++b) {
        if (lifetimes[b].first < 0 || graph.bytes[b] == 0) continue;
        ++count[at(lifetimes[b].first) + 1];
        --count[at(lifetimes[b].last) + 1];
        bytes[at(lifetimes[b].first) + 1] += graph.bytes[b];
        bytes[at(lifetimes[b].last) + 1] -= graph.bytes[b];
    }
    std::partial_sum(count.begin(), count.end(), count.begin());
    std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
    std::vector<Range> out;
    for (int call = 1, from = 0; call <= calls; ++call) {
        if (count[at(call)] > 1 && call < calls) continue;
        out.push_back({from, call, bytes[at(from)]});
        from = call;
    }
    return out;
}

/// Bytes alive at each step.
std::vector<int64_t> aliveAt(const CallGraph& graph, const std::vector<int>& order)
{
    std::vector<int64_t> alive(order.size() + 1, 0);
    const std::vector<Lifetime> lifetimes = lifetimesOf(graph, order);
    for (size_t b = 0; b < lifetimes.size(); ++b) {
        if (lifetimes[b].first < 0) continue;
        alive[at(lifetimes[b].first)] += graph.bytes[b];
        alive[at(lifetimes[b].last) + 1] -= graph.bytes[b];
    }
    std::partial_sum(alive.begin(), alive.end(), alive.begin());
    return alive;
}

} // namespace

int64_t peakOfCalls(const CallGraph& graph, const std::vector<int>& order)
{
    const std::vector<int64_t> alive = aliveAt(graph, order);
    return *std::max_element(alive.begin(), alive.end());
}

std::vector<int> orderCallsByPeak(const CallGraph& graph)
{
    std::vector<int> order(graph.buffers.size());
    std::iota(order.begin(), order.end(), 0);
    const std::vector<Lifetime> lifetimes = lifetimesOf(graph, order);
    const std::vector<int64_t> alive = aliveAt(graph, order);
    const int64_t floor = largestCall(graph);
    for (const Range& range : stretchesOf(graph, lifetimes)) {
        const int64_t peak =
            *std::max_element(alive.begin() + range.from, alive.begin() + range.end);
        if (peak <= floor) continue;
        const auto [better, betterPeak] = Stretch(graph, lifetimes, range, floor).search();
        if (betterPeak < peak) std::copy(better.begin(), better.end(), order.begin() + range.from);
    }
    const int64_t peak = peakOfCalls(graph, order);
    if (peak <= floor) return order;
    auto [whole, wholePeak] =
        Stretch(graph, lifetimes, {0, static_cast<int>(order.size()), 0}, floor).search();
    return wholePeak < peak ? whole : order;
}

PlanningProblem problemOfCalls(const CallGraph& graph, const std::vector<int>& order,
                               int64_t alignment)
{
    const std::vector<Lifetime> lifetimes = lifetimesOf(graph, order);
    std::vector<BufferInfo> buffers;
    for (size_t b = 0; b < lifetimes.size(); ++b)
        if (lifetimes[b].first >= 0 && graph.bytes[b] > 0)
            buffers.push_back({.name = "b" + std::to_string(b),
                               .sizeBytes = graph.bytes[b],
                               .alignment = alignment,
                               .first = lifetimes[b].first,
                               .last = lifetimes[b].last});
    return makeProblem(std::move(buffers));
}

} // namespace tenon::compiler
