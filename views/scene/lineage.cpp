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

namespace {

void merge(const std::vector<int>& more, std::vector<int>& versions)
{
    versions.insert(versions.end(), more.begin(), more.end());
    std::sort(versions.begin(), versions.end());
    versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
}

} // namespace

std::vector<int> LineageIndex::versionsTouching(PlaceId place, size_t version) const
{
    std::vector<int> versions;
    for (const LineageRow& row : lineageOf(place, version).rows) merge(row.versions, versions);
    return versions;
}

std::vector<int> LineageIndex::touching(core::SourceId source) const
{
    const auto touched = m_ofSource.find(source.value);
    return touched == m_ofSource.end() ? std::vector<int>() : touched->second;
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
    std::vector<core::SourceId> sources;
    for (const core::SourceId source : node->origin)
        if (source.value < module->sources().size()) sources.push_back(source);
    lineage.sourceCount = static_cast<int>(node->origin.size());
    const bool hasRest = sources.size() > kLineageRows;
    const size_t own = hasRest ? kLineageRows - 1 : sources.size();
    for (size_t i = 0; i < own; ++i) {
        const core::SourceNode& from = module->sources()[sources[i].value];
        lineage.rows.push_back({QString::fromStdString(from.name), QString::fromStdString(from.op),
                                touching(sources[i])});
    }
    if (hasRest) {
        LineageRow rest{QStringLiteral("and %1 more").arg(sources.size() - own), {}, {}};
        for (size_t i = own; i < sources.size(); ++i) merge(touching(sources[i]), rest.versions);
        lineage.rows.push_back(std::move(rest));
    }
    if (const auto& made = m_ofPlace[static_cast<size_t>(place)]; sources.empty() && !made.empty())
        lineage.rows.push_back({lineage.title, {}, made});
    return lineage;
}

} // namespace tenon::views
