// SPDX-License-Identifier: Apache-2.0
// Order within layers: barycentre sweeps down and up, neighbour exchange, best order kept.
#include "core/layout/level.h"

#include <algorithm>
#include <span>

namespace tenon::core {

namespace {

enum class Side
{
    Upper,
    Lower
};

std::span<const uint32_t> neighbours(const Layers& layers, uint32_t item, Side side)
{
    const auto& start = side == Side::Upper ? layers.upStart : layers.downStart;
    const auto& list = side == Side::Upper ? layers.upper : layers.lower;
    return {list.data() + start[item], start[item + 1] - start[item]};
}

/// Where a segment meets its neighbour, in units of positions: ports spread over one position.
float portPlace(const Layers& layers, uint32_t neighbour, float port)
{
    const float width = layers.width[neighbour];
    return static_cast<float>(layers.position[neighbour]) + (width > 0 ? port / width : 0);
}

/// Mean place of the neighbours; items without any keep their place.
float barycentre(const Layers& layers, uint32_t item, Side side)
{
    const auto& start = side == Side::Upper ? layers.upStart : layers.downStart;
    const auto& ports = side == Side::Upper ? layers.upPort : layers.downPort;
    const auto list = neighbours(layers, item, side);
    if (list.empty()) return static_cast<float>(layers.position[item]);
    float sum = 0;
    for (size_t i = 0; i < list.size(); ++i)
        sum += portPlace(layers, list[i], ports[start[item] + i]);
    return sum / static_cast<float>(list.size());
}

void renumber(Layers& layers, uint32_t layer)
{
    for (uint32_t i = layers.layerStart[layer]; i < layers.layerStart[layer + 1]; ++i)
        layers.position[layers.order[i]] = i - layers.layerStart[layer];
}

struct Keyed
{
    float key;
    uint32_t item;
};

/// True when the order changed.
bool sortLayer(Layers& layers, uint32_t layer, Side side, std::vector<Keyed>& scratch)
{
    const uint32_t first = layers.layerStart[layer], last = layers.layerStart[layer + 1];
    if (last - first < 2) return false;
    scratch.clear();
    for (uint32_t i = first; i < last; ++i)
        scratch.push_back({barycentre(layers, layers.order[i], side), layers.order[i]});
    const auto byKey = [](const Keyed& a, const Keyed& b) { return a.key < b.key; };
    if (std::is_sorted(scratch.begin(), scratch.end(), byKey)) return false;
    std::stable_sort(scratch.begin(), scratch.end(), byKey);
    for (uint32_t i = first; i < last; ++i) layers.order[i] = scratch[i - first].item;
    renumber(layers, layer);
    return true;
}

/// Crossings among the segments of two neighbours in a layer, `left` standing left of `right`.
uint32_t pairCrossings(const Layers& layers, uint32_t left, uint32_t right, Side side)
{
    uint32_t crossings = 0;
    for (const uint32_t a : neighbours(layers, left, side))
        for (const uint32_t b : neighbours(layers, right, side))
            crossings += layers.position[a] > layers.position[b] ? 1 : 0;
    return crossings;
}

constexpr size_t kLargestExchangeDegree = 24;

bool exchangeNeighbours(Layers& layers, uint32_t layer)
{
    bool changed = false;
    for (uint32_t i = layers.layerStart[layer]; i + 1 < layers.layerStart[layer + 1]; ++i) {
        const uint32_t a = layers.order[i], b = layers.order[i + 1];
        uint32_t now = 0, swapped = 0;
        for (const Side side : {Side::Upper, Side::Lower}) {
            if (neighbours(layers, a, side).size() * neighbours(layers, b, side).size() >
                kLargestExchangeDegree * kLargestExchangeDegree)
                continue;
            now += pairCrossings(layers, a, b, side);
            swapped += pairCrossings(layers, b, a, side);
        }
        if (swapped >= now) continue;
        std::swap(layers.order[i], layers.order[i + 1]);
        std::swap(layers.position[a], layers.position[b]);
        changed = true;
    }
    return changed;
}

/// Crossings between `layer` and the one below, by counting inversions with a Fenwick tree.
uint64_t crossingsBelow(const Layers& layers, uint32_t layer, std::vector<uint32_t>& tree)
{
    const uint32_t width = layers.layerStart[layer + 2] - layers.layerStart[layer + 1];
    if (width < 2 || layers.layerStart[layer + 1] - layers.layerStart[layer] < 2) return 0;
    tree.assign(width + 1, 0);
    std::vector<uint32_t> targets;
    uint64_t crossings = 0;
    uint32_t inserted = 0;
    for (uint32_t i = layers.layerStart[layer]; i < layers.layerStart[layer + 1]; ++i) {
        targets.clear();
        for (const uint32_t lower : neighbours(layers, layers.order[i], Side::Lower))
            targets.push_back(layers.position[lower]);
        for (const uint32_t target : targets) {
            uint32_t notRight = 0;
            for (uint32_t k = target + 1; k > 0; k -= k & (~k + 1)) notRight += tree[k];
            crossings += inserted - notRight;
        }
        for (const uint32_t target : targets) {
            for (uint32_t k = target + 1; k <= width; k += k & (~k + 1)) ++tree[k];
            ++inserted;
        }
    }
    return crossings;
}

} // namespace

uint64_t crossingCount(const Layers& layers)
{
    std::vector<uint32_t> tree;
    uint64_t total = 0;
    for (uint32_t layer = 0; layer + 1 < layers.layerCount(); ++layer)
        total += crossingsBelow(layers, layer, tree);
    return total;
}

bool orderLayers(Layers& layers, const LayoutOptions& options, const StopPredicate& shouldStop)
{
    const uint32_t count = layers.layerCount();
    std::vector<Keyed> scratch;
    for (uint32_t layer = 1; layer < count; ++layer) sortLayer(layers, layer, Side::Upper, scratch);
    uint64_t best = crossingCount(layers);
    std::vector<uint32_t> bestOrder = layers.order;
    for (uint32_t sweep = 0; sweep < options.orderingSweeps && best > 0; ++sweep) {
        if (shouldStop && shouldStop()) return false;
        bool changed = false;
        if (sweep % 2 == 0) {
            for (uint32_t layer = count - 1; layer-- > 0;)
                changed |= sortLayer(layers, layer, Side::Lower, scratch);
        } else {
            for (uint32_t layer = 1; layer < count; ++layer)
                changed |= sortLayer(layers, layer, Side::Upper, scratch);
        }
        for (uint32_t layer = 0; layer < count; ++layer)
            changed |= exchangeNeighbours(layers, layer);
        if (!changed) break;
        const uint64_t crossings = crossingCount(layers);
        if (crossings < best) {
            best = crossings;
            bestOrder = layers.order;
        }
    }
    layers.order = std::move(bestOrder);
    for (uint32_t layer = 0; layer < count; ++layer) renumber(layers, layer);
    return true;
}

} // namespace tenon::core
