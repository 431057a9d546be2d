// SPDX-License-Identifier: GPL-3.0-or-later
// Search over names in the main function, nested functions and members of fused operators.
#include "views/models/node_search.h"

#include "views/models/node_text.h"

namespace tenon::views {

namespace {

enum class Match
{
    None,
    Partial,
    Whole
};

Match matchOf(const core::Module& module, const core::NodeRecord& node, const QString& text)
{
    Match best = Match::None;
    const auto look = [&](const QString& name) {
        if (name == text)
            best = Match::Whole;
        else if (best == Match::None && name.contains(text, Qt::CaseInsensitive))
            best = Match::Partial;
    };
    look(QString::fromStdString(node.name));
    look(titleOf(module, node));
    for (const core::SourceId source : node.origin)
        if (source.value < module.sources().size())
            look(QString::fromStdString(module.sources()[source.value].name));
    return best;
}

} // namespace

bool nodeMatches(const core::Module& module, const core::NodeRecord& node, const QString& text)
{
    return matchOf(module, node, text) != Match::None;
}

core::NodeId findNode(const core::Module& module, const QString& text)
{
    if (text.isEmpty() || !module.mainId().isValid()) return {};
    core::NodeId partial;
    const auto search = [&](const core::GraphFunction& function) -> core::NodeId {
        for (const core::NodeId id : function.order) {
            const core::NodeRecord& node = module.node(id);
            if (node.kind == core::NodeKind::Constant) continue;
            const Match match = matchOf(module, node, text);
            if (match == Match::Whole) return id;
            if (match == Match::Partial && !partial.isValid()) partial = id;
        }
        return {};
    };
    if (const core::NodeId found = search(module.main()); found.isValid()) return found;
    for (const auto& [id, function] : module.functions()) {
        if (id == module.mainId()) continue;
        if (const core::NodeId found = search(*function); found.isValid()) return found;
    }
    return partial;
}

} // namespace tenon::views
