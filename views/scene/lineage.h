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
constexpr size_t kLineageRows = 5; ///< the last stands for all that have no row of their own

/// The version that fills `place` and is nearest to `version`: itself, the ones before (a ghost is
/// described by them), then the ones after. Empty when there is none.
std::optional<size_t> versionFilling(const Storyboard& board, PlaceId place, size_t version);

/// Built once per storyboard.
class LineageIndex
{
public:
    LineageIndex() = default;
    explicit LineageIndex(std::shared_ptr<const Storyboard> board);

    /// Versions with a dot in any row of the lineage, ascending.
    std::vector<int> versionsTouching(PlaceId place, size_t version) const;
    /// Also of a place that `version` does not fill: as the nearest version has it.
    Lineage lineageOf(PlaceId place, size_t version) const;

private:
    std::vector<int> touching(core::SourceId source) const;

    std::shared_ptr<const Storyboard> m_board;
    std::vector<std::vector<int>> m_ofPlace; ///< for what comes from no node of the model file
    std::unordered_map<uint32_t, std::vector<int>> m_ofSource;
};

} // namespace tenon::views
