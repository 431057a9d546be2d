// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the change sets of all passes once and answers who was touched when.
#include "views/scene/lineage.h"

#include "views/models/node_text.h"

#include <algorithm>

namespace tenon::views {

std::optional<size_t> versionFilling(const Storyboard& board, PlaceId place, size_t version)
{
    const auto isFilled = [&](size_t v) {
        return board.version(v).occupants[static_cast<size_t>(place)].node != nullptr;
    };
    for (size_t v = version + 1; v-- > 0;)
        if (isFilled(v)) return v;
    for (size_t v = version + 1; v < board.document().versionCount(); ++v)
        if (isFilled(v)) return v;
    return std::nullopt;
}

LineageIndex::LineageIndex(std::shared_ptr<const Storyboard> board)
    : m_board(std::move(board))
    , m_ofPlace(m_board->places().size())
{
    const Document& document = m_board->document();
    const auto add = [](std::vector<int>& list, int version) {
        if (list.empty() || list.back() != version) list.push_back(version);
    };
    for (size_t i = 0; i < document.passes.size(); ++i) {
        const int version = static_cast<int>(i) + 1;
        for (const core::Change& change : document.passes[i].changes) {
            for (const auto* nodes : {&change.from, &change.to, &change.erased})
                for (const core::NodeId id : *nodes) {
                    const PlaceId place = m_board->placeOf(id);
                    if (place == kNoPlace) continue;
                    add(m_ofPlace[static_cast<size_t>(place)], version);
                }
            for (const core::SourceId source : change.origin)
                add(m_ofSource[source.value], version);
        }
    }
}

std::vector<int> LineageIndex::versionsTouching(PlaceId place) const
{
    if (!m_board || place < 0 || static_cast<size_t>(place) >= m_ofPlace.size()) return {};
    std::vector<int> versions = m_ofPlace[static_cast<size_t>(place)];
    for (const PlaceId member : m_board->places()[static_cast<size_t>(place)].members) {
        const auto& more = m_ofPlace[static_cast<size_t>(member)];
        versions.insert(versions.end(), more.begin(), more.end());
    }
    std::sort(versions.begin(), versions.end());
    versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
    return versions;
}

Lineage LineageIndex::lineageOf(PlaceId place, size_t version) const
{
    Lineage lineage;
    if (!m_board || place < 0 || static_cast<size_t>(place) >= m_ofPlace.size()) return lineage;
    const auto shown = versionFilling(*m_board, place, version);
    if (!shown) return lineage;
    const VersionView view = m_board->version(*shown);
    const core::NodePtr& node = view.occupants[static_cast<size_t>(place)].node;
    const core::Module* module = view.module;
    lineage.title = titleOf(*module, *node);
    lineage.sourceCount = static_cast<int>(node->origin.size());
    for (const core::SourceId source : node->origin) {
        if (lineage.rows.size() == kLineageRows || source.value >= module->sources().size()) break;
        const core::SourceNode& from = module->sources()[source.value];
        LineageRow row{QString::fromStdString(from.name), QString::fromStdString(from.op), {}};
        const auto touched = m_ofSource.find(source.value);
        if (touched != m_ofSource.end()) row.versions = touched->second;
        lineage.rows.push_back(std::move(row));
    }
    return lineage;
}

} // namespace tenon::views
