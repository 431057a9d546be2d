// SPDX-License-Identifier: GPL-3.0-or-later
// Lineage: which passes touched a place, and the source nodes it goes back to.
#pragma once

#include "views/models/storyboard.h"

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

/// Built once per storyboard.
class LineageIndex
{
public:
    LineageIndex() = default;
    explicit LineageIndex(std::shared_ptr<const Storyboard> board);

    /// Versions whose pass touched this place or a member of it, ascending.
    std::vector<int> versionsTouching(PlaceId place) const;
    Lineage lineageOf(PlaceId place, size_t version) const;

private:
    std::shared_ptr<const Storyboard> m_board;
    std::vector<std::vector<int>> m_ofPlace;
    std::unordered_map<uint32_t, std::vector<int>> m_ofSource;
};

} // namespace tenon::views
