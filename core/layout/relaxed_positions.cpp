// SPDX-License-Identifier: Apache-2.0
// Horizontal positions by relaxation: layer after layer the least-squares distance to the
// neighbours under the order and distances of the layer (isotonic regression, as in the priority
// layouts of Sugiyama, Tagawa and Toda 1981).
#include "core/layout/level.h"

#include <algorithm>
#include <limits>

namespace tenon::core {

namespace {

constexpr int kSweeps = 6;
constexpr float kRoom = 1.25f; ///< of the widest layer, for all

/// Straight pieces of long edges matter more than short edges.
float weightOf(const Layers& layers, uint32_t a, uint32_t b)
{
    const int bends = (layers.isBend(a) ? 1 : 0) + (layers.isBend(b) ? 1 : 0);
    return bends == 2 ? 8.0f : bends == 1 ? 2.0f : 1.0f;
}

class Relaxation
{
public:
    Relaxation(const Layers& layers, const LayoutOptions& options)
        : m_layers(layers)
        , m_options(options)
        , m_room(kRoom * widestLayer(layers, options))
        , m_x(layers.layerOf.size())
    {
        for (uint32_t layer = 0; layer < layers.layerCount(); ++layer) packAtCentre(layer);
    }

    enum class Pull
    {
        Up,
        Down,
        Both
    };
    void sweep(Pull pull)
    {
        const uint32_t count = m_layers.layerCount();
        for (uint32_t k = 0; k < count; ++k) place(pull == Pull::Down ? count - 1 - k : k, pull);
    }
    std::vector<float> take() { return std::move(m_x); }

private:
    void packAtCentre(uint32_t layer)
    {
        const uint32_t first = m_layers.layerStart[layer], last = m_layers.layerStart[layer + 1];
        if (first == last) return;
        m_x[m_layers.order[first]] = 0;
        for (uint32_t i = first + 1; i < last; ++i)
            m_x[m_layers.order[i]] = m_x[m_layers.order[i - 1]] + gap(i);
        const float middle = m_x[m_layers.order[last - 1]] / 2;
        for (uint32_t i = first; i < last; ++i) m_x[m_layers.order[i]] -= middle;
    }

    float gap(uint32_t i) const
    {
        return gapBetween(m_layers, m_options, m_layers.order[i - 1], m_layers.order[i]);
    }

    /// Where the neighbours want the item, and how strongly.
    std::pair<float, float> wish(uint32_t item, Pull pull) const
    {
        float sum = 0, weight = 0;
        const auto add = [&](uint32_t other, float there, float here) {
            const float w = weightOf(m_layers, item, other);
            sum += w * (m_x[other] + there - here);
            weight += w;
        };
        if (pull != Pull::Down)
            for (uint32_t s = m_layers.upStart[item]; s < m_layers.upStart[item + 1]; ++s)
                add(m_layers.upper[s], m_layers.upPort[s], m_layers.upOwnPort[s]);
        if (pull != Pull::Up)
            for (uint32_t s = m_layers.downStart[item]; s < m_layers.downStart[item + 1]; ++s)
                add(m_layers.lower[s], m_layers.downPort[s], m_layers.downOwnPort[s]);
        constexpr float kStay = 0.01f; // items without neighbours on that side stay
        return {(sum + kStay * m_x[item]) / (weight + kStay), weight + kStay};
    }

    /// Pool adjacent violators: items that would overlap form a pool that stands at their mean. All
    /// layers stay within the same width.
    void place(uint32_t layer, Pull pull)
    {
        const uint32_t first = m_layers.layerStart[layer], last = m_layers.layerStart[layer + 1];
        m_pools.clear();
        float offset = 0;
        for (uint32_t i = first; i < last; ++i) {
            if (i > first) offset += gap(i);
            const auto [wanted, weight] = wish(m_layers.order[i], pull);
            m_pools.push_back({(wanted - offset) * weight, weight, 1});
            while (m_pools.size() > 1 &&
                   m_pools[m_pools.size() - 2].mean() >= m_pools.back().mean()) {
                const Pool merged = m_pools.back();
                m_pools.pop_back();
                m_pools.back().sum += merged.sum;
                m_pools.back().weight += merged.weight;
                m_pools.back().count += merged.count;
            }
        }
        const float lowest = -m_room / 2, highest = std::max(lowest, m_room / 2 - offset);
        uint32_t i = first;
        offset = 0;
        for (const Pool& pool : m_pools) {
            const float start = std::clamp(pool.mean(), lowest, highest);
            for (uint32_t k = 0; k < pool.count; ++k, ++i) {
                if (i > first) offset += gap(i);
                m_x[m_layers.order[i]] = start + offset;
            }
        }
    }

    struct Pool
    {
        float sum;
        float weight;
        uint32_t count;
        float mean() const { return sum / weight; }
    };

    const Layers& m_layers;
    const LayoutOptions& m_options;
    const float m_room;
    std::vector<float> m_x;
    std::vector<Pool> m_pools;
};

} // namespace

float gapBetween(const Layers& layers, const LayoutOptions& options, uint32_t a, uint32_t b)
{
    const float gap = layers.isBend(a) && layers.isBend(b) ? options.railGap
                      : layers.isBend(a) || layers.isBend(b)
                          ? (options.railGap + options.nodeGap) / 2
                          : options.nodeGap;
    return (layers.width[a] + layers.width[b]) / 2 + gap;
}

float widestLayer(const Layers& layers, const LayoutOptions& options)
{
    float widest = 0;
    for (uint32_t layer = 0; layer < layers.layerCount(); ++layer) {
        const uint32_t first = layers.layerStart[layer], last = layers.layerStart[layer + 1];
        if (first == last) continue;
        float width =
            (layers.width[layers.order[first]] + layers.width[layers.order[last - 1]]) / 2;
        for (uint32_t i = first + 1; i < last; ++i)
            width += gapBetween(layers, options, layers.order[i - 1], layers.order[i]);
        widest = std::max(widest, width);
    }
    return widest;
}

std::vector<float> relaxedPositions(const Layers& layers, const LayoutOptions& options,
                                    const StopPredicate& shouldStop)
{
    Relaxation relaxation(layers, options);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        if (shouldStop && shouldStop()) return {};
        relaxation.sweep(sweep >= kSweeps - 2 ? Relaxation::Pull::Both
                         : sweep % 2 == 0     ? Relaxation::Pull::Up
                                              : Relaxation::Pull::Down);
    }
    std::vector<float> x = relaxation.take();
    float left = std::numeric_limits<float>::max();
    for (uint32_t item = 0; item < x.size(); ++item)
        left = std::min(left, x[item] - layers.width[item] / 2);
    for (float& value : x) value -= left;
    return x;
}

} // namespace tenon::core
