// SPDX-License-Identifier: GPL-3.0-or-later
// Lineage: which passes touched a place, and the source nodes it goes back to.
#pragma once

#include "views/scene/storyboard.h"

#include <optional>

namespace tenon::views {

struct LineageRow
{
    QString name;              ///< source node's name
    QString op;                ///< its operator in the model file
    std::vector<int> versions; ///< versions made by passes that touched it
};

struct Lineage
{
    QString title;
    int sourceCount = 0;
    std::vector<LineageRow> rows; ///< at most kLineageRows
};
constexpr size_t kLineageRows = 5;

/// The version that fills `place` and is nearest to `version`: itself, the ones before (a ghost is
/// described by them), then the ones after. Empty when there is none.
std::optional<size_t> versionFilling(const Storyboard& board, PlaceId place, size_t version);

/// Built once per storyboard.
class LineageIndex
{
public:
    LineageIndex() = default;
    explicit LineageIndex(std::shared_ptr<const Storyboard> board);

    /// Versions whose pass touched this place or a member of it, ascending.
    std::vector<int> versionsTouching(PlaceId place) const;
    /// Also of a place that `version` does not fill: as the nearest version has it.
    Lineage lineageOf(PlaceId place, size_t version) const;

private:
    std::shared_ptr<const Storyboard> m_board;
    std::vector<std::vector<int>> m_ofPlace;
    std::unordered_map<uint32_t, std::vector<int>> m_ofSource;
};

} // namespace tenon::views
