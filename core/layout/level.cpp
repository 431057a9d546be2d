// SPDX-License-Identifier: Apache-2.0
// Layout of one level: runs the phases and turns layers into coordinates and edge paths.
#include "core/layout/level.h"

#include <algorithm>

namespace tenon::core {

namespace {

struct Bands
{
    std::vector<float> top;
    std::vector<float> height;
};

Bands layerBands(const Level& level, const Layers& layers, const LayoutOptions& options)
{
    Bands bands;
    bands.top.resize(layers.layerCount());
    bands.height.resize(layers.layerCount());
    for (uint32_t item = 0; item < layers.realCount; ++item) {
        float& height = bands.height[layers.layerOf[item]];
        height = std::max(height, level.items[item].height);
    }
    std::vector<bool> isTopBand(layers.layerCount()), isBottomBand(layers.layerCount());
    for (uint32_t item = 0; item < layers.realCount; ++item) {
        if (level.items[item].pin == RankPin::Top) isTopBand[layers.layerOf[item]] = true;
        if (level.items[item].pin == RankPin::Bottom) isBottomBand[layers.layerOf[item]] = true;
    }
    float y = 0;
    for (uint32_t layer = 0; layer < layers.layerCount(); ++layer) {
        bands.top[layer] = y;
        const bool isLastGap = layer + 1 < layers.layerCount() && isBottomBand[layer + 1];
        y += bands.height[layer] + (isTopBand[layer] ? options.groupTitle
                                    : isLastGap      ? options.groupPadding
                                                     : options.rankGap);
    }
    return bands;
}

void addPoint(LevelLayout& layout, uint32_t first, LayoutPoint point)
{
    const size_t count = layout.points.size() - first;
    if (count > 0 && layout.points.back() == point) return;
    const bool isStraight = count >= 2 && layout.points.back().x == point.x &&
                            layout.points[layout.points.size() - 2].x == point.x;
    if (isStraight)
        layout.points.back() = point;
    else
        layout.points.push_back(point);
}

/// From the upper end to the lower end: along layers straight, between layers from x to x.
void tracePath(const Level& level, const Layers& layers, const Bands& bands,
               const std::vector<float>& x, uint32_t e, LevelLayout& layout)
{
    const LevelEdge& edge = level.edges[e];
    const bool isDown = layers.layerOf[edge.from] < layers.layerOf[edge.to];
    const uint32_t top = isDown ? edge.from : edge.to, bottom = isDown ? edge.to : edge.from;
    const float startX = x[top] + (isDown ? edge.fromOffset : edge.toOffset);
    const float endX = x[bottom] + (isDown ? edge.toOffset : edge.fromOffset);
    const auto first = static_cast<uint32_t>(layout.points.size());
    const auto band = [&](uint32_t item) { return layers.layerOf[item]; };
    const float upperBottom = layout.y[top] + level.items[top].height;
    addPoint(layout, first, {startX, upperBottom});
    addPoint(layout, first, {startX, bands.top[band(top)] + bands.height[band(top)]});
    for (uint32_t k = 0; k < layers.edgeBendCount[e]; ++k) {
        const uint32_t bend = layers.edgeBendFirst[e] + k;
        addPoint(layout, first, {x[bend], bands.top[band(bend)]});
        addPoint(layout, first, {x[bend], bands.top[band(bend)] + bands.height[band(bend)]});
    }
    addPoint(layout, first, {endX, bands.top[band(bottom)]});
    addPoint(layout, first, {endX, layout.y[bottom]});
    if (!isDown) std::reverse(layout.points.begin() + first, layout.points.end());
    layout.pathFirst[e] = first;
    layout.pathCount[e] = static_cast<uint32_t>(layout.points.size()) - first;
}

} // namespace

std::optional<LevelLayout> layoutLevel(Level& level, const LayoutOptions& options,
                                       const StopPredicate& shouldStop)
{
    LevelLayout layout;
    if (level.items.empty()) return layout;
    const Ranking ranking = rankItems(level);
    const std::vector<uint32_t>& rank = ranking.rank;
    Layers layers = makeLayers(level, ranking, options);
    if (!orderLayers(layers, options, shouldStop)) return std::nullopt;
    const std::vector<float> x = horizontalPositions(layers, options, shouldStop);
    if (x.empty()) return std::nullopt;
    const Bands bands = layerBands(level, layers, options);

    layout.x.assign(x.begin(), x.begin() + layers.realCount);
    layout.y.resize(layers.realCount);
    for (uint32_t item = 0; item < layers.realCount; ++item) {
        const uint32_t layer = layers.layerOf[item];
        const float slack = bands.height[layer] - level.items[item].height;
        layout.y[item] = bands.top[layer] + (level.items[item].pin == RankPin::Bottom ? slack : 0);
    }
    layout.pathFirst.resize(level.edges.size());
    layout.pathCount.resize(level.edges.size());
    for (uint32_t e = 0; e < level.edges.size(); ++e)
        if (!level.edges[e].isStub && rank[level.edges[e].from] != rank[level.edges[e].to])
            tracePath(level, layers, bands, x, e, layout);
    for (uint32_t item = 0; item < x.size(); ++item)
        layout.width = std::max(layout.width, x[item] + layers.width[item] / 2);
    layout.height = bands.top.back() + bands.height.back();
    if (options.wrapAspect > 0) wrapLevel(level, options, layout);
    return layout;
}

} // namespace tenon::core
