// SPDX-License-Identifier: GPL-3.0-or-later
// Frames from the steps of core/ir/follow.h, which the command line prints.
#include "views/models/film.h"

#include <QStringList>

#include <algorithm>

namespace tenon::views {

namespace {

QString rulesText(const core::FollowStep& step)
{
    QStringList rules;
    for (const auto& [rule, reason] : step.rules)
        if (const QString name = QString::fromStdString(rule); !rules.contains(name)) rules << name;
    return rules.join(QStringLiteral(", "));
}

/// The operators of the kernel around `place`; itself where it stands alone.
std::vector<FilmRow> rowsAround(const core::Module& module, const core::Place& place,
                                const std::vector<core::Place>& all)
{
    const core::NodePtr& call =
        place.call.isValid() ? module.findNode(place.call) : module.findNode(place.node);
    const auto callee = call ? module.functions().find(call->callee) : module.functions().end();
    if (callee == module.functions().end()) return {{QString::fromStdString(place.op), true}};
    std::vector<FilmRow> rows;
    for (const core::NodeId id : callee->second->order) {
        const core::NodePtr& member = module.findNode(id);
        if (!member || member->kind == core::NodeKind::Constant) continue;
        const bool isFollowed = std::any_of(
            all.begin(), all.end(), [id](const core::Place& other) { return other.node == id; });
        rows.push_back({QString::fromStdString(core::shownOperator(*member)), isFollowed});
    }
    return rows;
}

FilmFrame frameOf(const Document& document, const core::FollowStep& step)
{
    FilmFrame frame;
    frame.version = static_cast<int>(step.version);
    frame.pass = step.version == 0 ? QObject::tr("Imported") : QString::fromStdString(step.pass);
    frame.where = QString::fromStdString(core::placesText(step.places));
    frame.rules = rulesText(step);
    if (!step.rules.empty()) frame.reason = QString::fromStdString(step.rules.front().second);
    if (step.places.empty() || step.places.front().isConstant) return frame;
    const core::Place& place = step.places.front();
    frame.node = place.node;
    frame.kernel = QString::fromStdString(place.kernel);
    frame.rows = rowsAround(document.version(step.version), place, step.places);
    return frame;
}

} // namespace

FilmModel* makeFilmModel(QObject* parent)
{
    const auto extra = [](const FilmFrame& frame, int role) -> QVariant {
        if (role == FigureRole) return frame.version;
        if (role == Qt::AccessibleTextRole)
            return QStringLiteral("%1: %2").arg(frame.pass, frame.where);
        if (role == Qt::ToolTipRole && !frame.rules.isEmpty())
            return QStringLiteral("%1: %2").arg(frame.rules, frame.reason);
        return {};
    };
    return new FilmModel(
        {{QObject::tr("After"), [](const FilmFrame& f) { return f.pass; }, false, extra},
         {QObject::tr("What it is then"), [](const FilmFrame& f) { return f.where; }, false, extra},
         {QObject::tr("In"), [](const FilmFrame& f) { return f.kernel; }, false, extra},
         {QObject::tr("Rules"), [](const FilmFrame& f) { return f.rules; }, false, extra}},
        parent);
}

std::vector<FilmFrame> filmOf(const Document& document, core::SourceId source)
{
    std::vector<core::FollowedPass> passes;
    for (const PassStep& step : document.passes)
        passes.push_back({step.title().toStdString(), step.isChanged, &step.changes, &step.after});
    std::vector<FilmFrame> film;
    for (const core::FollowStep& step : core::follow(document.imported, passes, source))
        film.push_back(frameOf(document, step));
    return film;
}

std::vector<FoundSource> foundSources(const core::Module& module)
{
    const core::Whereabouts here(module);
    std::vector<FoundSource> found;
    for (uint32_t i = 0; i < module.sources().size(); ++i) {
        const core::SourceNode& source = module.sources()[i];
        const auto& places = here.of(core::SourceId(i));
        core::NodeId node;
        if (!places.empty() && !places.front().isConstant)
            node = places.front().call.isValid() ? places.front().call : places.front().node;
        found.push_back({core::SourceId(i), QString::fromStdString(source.name),
                         QString::fromStdString(source.op),
                         QString::fromStdString(core::placesText(places)), node});
    }
    return found;
}

} // namespace tenon::views
