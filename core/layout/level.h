// SPDX-License-Identifier: Apache-2.0
// One level of a hierarchical layout: items of known size, ranked, ordered and given coordinates.
#pragma once

#include "core/layout/layout.h"

namespace tenon::core {

/// Where the ranking must put an item.
enum class RankPin : uint8_t
{
    Free,
    Top,
    Bottom
};

struct LevelItem
{
    float width = 0;
    float height = 0;
    RankPin pin = RankPin::Free;
};

/// Offsets are from the item's centre: ports of groups sit off centre.
struct LevelEdge
{
    uint32_t from = 0;
    uint32_t to = 0;
    float fromOffset = 0;
    float toOffset = 0;
    bool isStub = false;
    bool isReversed = false; ///< set by ranking on the edges that close a cycle
};

struct Level
{
    std::vector<LevelItem> items;
    std::vector<LevelEdge> edges;
};

/// Proper layering: every segment joins neighbouring layers. Items 0..items.size()-1 are real,
/// later ones are the bends of long edges.
struct Layers
{
    uint32_t realCount = 0;
    std::vector<uint32_t> layerOf;
    std::vector<uint32_t> layerStart; ///< into order, one more entry than layers
    std::vector<uint32_t> order;      ///< item indices, layer by layer, left to right
    std::vector<uint32_t> position;   ///< item -> its place within its layer
    std::vector<float> width;
    std::vector<bool> isLoose; ///< feeders and their bends: alignment looks at the others first
    std::vector<uint32_t> edgeBendFirst;  ///< per level edge: first bend item
    std::vector<uint32_t> edgeBendCount;  ///< per level edge
    std::vector<uint32_t> upStart, upper; ///< neighbours in the layer above, by item
    std::vector<uint32_t> downStart, lower;
    std::vector<float> upPort, upOwnPort;     ///< parallel to upper: offset there, offset here
    std::vector<float> downPort, downOwnPort; ///< parallel to lower

    uint32_t layerCount() const { return static_cast<uint32_t>(layerStart.size() - 1); }
    bool isBend(uint32_t item) const { return item >= realCount; }
};

struct LevelLayout
{
    std::vector<float> x; ///< centre of each real item
    std::vector<float> y; ///< top of each real item
    std::vector<uint32_t> pathFirst, pathCount;
    std::vector<LayoutPoint> points; ///< from source bottom to target top
    float width = 0;
    float height = 0;
};

using StopPredicate = std::function<bool()>;

struct Ranking
{
    std::vector<uint32_t> rank;
    std::vector<bool> isLoose; ///< could stand lower, and so could all that it reads
};

/// Longest path, then what only feeds later items is pulled down to its first reader. Marks the
/// edges that close cycles.
Ranking rankItems(Level& level);

/// Splits long edges at the ranks they pass; edges over the budget become stubs.
Layers makeLayers(Level& level, const Ranking& ranking, const LayoutOptions& options);

/// Barycentre sweeps with neighbour exchange; keeps the best order seen. False when stopped.
bool orderLayers(Layers& layers, const LayoutOptions& options, const StopPredicate& shouldStop);

/// Crossings between neighbouring layers in the current order.
uint64_t crossingCount(const Layers& layers);

/// Least distance of the centres of two neighbours in a layer.
float gapBetween(const Layers& layers, const LayoutOptions& options, uint32_t a, uint32_t b);

/// What the widest layer needs at least.
float widestLayer(const Layers& layers, const LayoutOptions& options);

/// Every layer as near to its neighbours as the distances allow: hardly wider than its widest
/// layer, but long edges bend. Empty when stopped.
std::vector<float> relaxedPositions(const Layers& layers, const LayoutOptions& options,
                                    const StopPredicate& shouldStop);

/// Centre of every item, bends included; neighbours keep their distances. Long edges are straight
/// unless that makes the level far too wide. Empty when stopped.
std::vector<float> horizontalPositions(const Layers& layers, const LayoutOptions& options,
                                       const StopPredicate& shouldStop);

/// Makes columns of a level far higher than options.wrapAspect wants, where few edges pass.
void wrapLevel(const Level& level, const LayoutOptions& options, LevelLayout& layout);

/// All of the above; nothing when stopped.
std::optional<LevelLayout> layoutLevel(Level& level, const LayoutOptions& options,
                                       const StopPredicate& shouldStop);

} // namespace tenon::core
