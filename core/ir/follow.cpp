// SPDX-License-Identifier: Apache-2.0
// Reads origins, which passes keep, to say what a source node has become.
#include "core/ir/follow.h"

#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_set>

namespace tenon::core {

namespace {

constexpr size_t kShownPlaces = 3;
constexpr size_t kShownCandidates = 5;

/// Of one function's nodes, the places that they are; calls show what they compute as rows.
class PlaceList
{
public:
    PlaceList(const Module& module, std::vector<std::vector<Place>>& places, SourceId only)
        : m_module(module)
        , m_places(places)
        , m_only(only)
    {
    }

    void addFunction(const GraphFunction& function)
    {
        const bool isMain = function.id == m_module.mainId();
        for (const NodeId id : function.order) {
            const NodeRecord& node = m_module.node(id);
            if (readsConstantsOnly(node)) m_ofConstants.insert(id);
            const bool isCall = node.kind == NodeKind::Call || node.kind == NodeKind::CallTir;
            if (isMain && isCall && node.kernel != kNopKernel) ++m_number;
            if (!isWanted(node)) continue;
            if (isCall)
                addCall(node, isMain ? m_number : 0);
            else
                add(node, {});
        }
    }

private:
    bool isWanted(const NodeRecord& node) const
    {
        return !m_only.isValid() ||
               std::binary_search(node.origin.begin(), node.origin.end(), m_only);
    }

    /// Operands stand before it.
    bool readsConstantsOnly(const NodeRecord& node) const
    {
        if (node.operands.empty()) return false;
        return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueRef operand) {
            if (!operand.node.isValid()) return true;
            const NodePtr& source = m_module.findNode(operand.node);
            return !source || source->kind == NodeKind::Constant ||
                   m_ofConstants.count(operand.node) > 0;
        });
    }

    void add(const NodeRecord& node, Place place, const std::set<SourceId>& but = {})
    {
        place.node = node.id;
        place.op = node.kernel.empty() ? shownOperator(node) : node.kernel;
        place.isConstant = node.kind == NodeKind::Constant;
        place.isOnConstants = m_ofConstants.count(node.id) > 0;
        for (const SourceId source : node.origin)
            if ((!m_only.isValid() || source == m_only) && source.value < m_places.size() &&
                but.count(source) == 0)
                m_places[source.value].push_back(place);
    }

    std::vector<const NodeRecord*> rowsOf(const NodeRecord& call) const
    {
        std::vector<const NodeRecord*> rows;
        const auto callee = m_module.functions().find(call.callee);
        if (callee == m_module.functions().end()) return rows;
        for (const NodeId id : callee->second->order)
            if (const NodePtr& member = m_module.findNode(id);
                member && member->kind != NodeKind::Constant)
                rows.push_back(member.get());
        return rows;
    }

    void addCall(const NodeRecord& call, int number)
    {
        const std::vector<const NodeRecord*> rows = rowsOf(call);
        Place place;
        place.call = call.id;
        place.kernel = call.kernel.empty() && !rows.empty() ? m_module.function(call.callee).name
                                                            : call.kernel;
        place.number = call.kernel == kNopKernel ? 0 : number;
        place.rows = static_cast<int>(rows.size());
        std::set<SourceId> shown;
        for (const NodeRecord* row : rows) {
            ++place.row;
            add(*row, place);
            shown.insert(row->origin.begin(), row->origin.end());
        }
        place.row = 0;
        add(call, place, shown); // what it computes without a row of its own
    }

    const Module& m_module;
    std::vector<std::vector<Place>>& m_places;
    SourceId m_only;
    std::unordered_set<NodeId> m_ofConstants;
    int m_number = 0;
};

/// What computes comes before views, and these before what becomes of constants.
int rankOf(const Place& place)
{
    if (place.isConstant) return 3;
    return place.isOnConstants ? 2 : place.kernel == kNopKernel ? 1 : 0;
}

std::string kernelText(const Place& place)
{
    return place.number > 0 ? "kernel " + std::to_string(place.number) : "a kernel of a body";
}

/// "row 2 of kernel 5", "rows 1, 2 of kernel 5": of the first places, all in one call.
std::string rowsText(std::span<const Place> places)
{
    std::vector<std::string> rows;
    for (const Place& place : places) {
        if (place.call != places.front().call) break;
        rows.push_back(std::to_string(place.row));
    }
    if (places.front().kernel == kNopKernel || rows.size() == 1) return placeText(places.front());
    return "rows " + join(rows, ", ") + " of " + kernelText(places.front());
}

std::string lowered(std::string_view text)
{
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

} // namespace

std::string placeText(const Place& place)
{
    if (place.isConstant) return "part of a constant";
    if (!place.call.isValid()) return place.op + (place.isOnConstants ? " of constants" : "");
    if (place.kernel == kNopKernel) return "a view, which computes nothing";
    if (place.row == 0) return "inside " + kernelText(place);
    return "row " + std::to_string(place.row) + " of " + kernelText(place);
}

std::string placesText(const std::vector<Place>& places)
{
    if (places.empty()) return "gone";
    std::vector<std::string> parts;
    size_t more = 0;
    for (size_t i = 0; i < places.size(); ++i) {
        const Place& place = places[i];
        const bool isRow = place.row > 0 && place.call.isValid();
        if (isRow && i > 0 && places[i - 1].call == place.call) continue; // said with the first
        const std::string text = isRow ? rowsText(std::span(places).subspan(i)) : placeText(place);
        if (std::find(parts.begin(), parts.end(), text) != parts.end()) continue;
        if (parts.size() < kShownPlaces)
            parts.push_back(text);
        else
            ++more;
    }
    if (more > 0) parts.push_back("and " + std::to_string(more) + " more");
    return join(parts, "; ");
}

Whereabouts::Whereabouts(const Module& module) { read(module, {}); }

Whereabouts::Whereabouts(const Module& module, SourceId source) { read(module, source); }

void Whereabouts::read(const Module& module, SourceId only)
{
    m_places.resize(module.sources().size());
    if (!module.mainId().isValid()) return;
    std::set<FunctionId> called;
    for (const auto& [id, function] : module.functions())
        for (const NodeId node : function->order)
            if (const FunctionId callee = module.node(node).callee; callee.isValid())
                called.insert(callee);
    PlaceList list(module, m_places, only);
    list.addFunction(module.main());
    for (const auto& [id, function] : module.functions())
        if (id != module.mainId() && called.count(id) == 0) list.addFunction(*function);
    for (std::vector<Place>& places : m_places)
        std::stable_sort(places.begin(), places.end(),
                         [](const Place& a, const Place& b) { return rankOf(a) < rankOf(b); });
}

const std::vector<Place>& Whereabouts::of(SourceId source) const
{
    static const std::vector<Place> kNowhere;
    return source.value < m_places.size() ? m_places[source.value] : kNowhere;
}

std::vector<FollowStep> follow(const Module& imported, std::span<const FollowedPass> passes,
                               SourceId source)
{
    std::vector<FollowStep> steps{{0, {}, {}, Whereabouts(imported, source).of(source)}};
    for (size_t i = 0; i < passes.size(); ++i) {
        const FollowedPass& pass = passes[i];
        if (!pass.isChanged) continue;
        FollowStep step{i + 1, pass.name, {}, {}};
        for (const Change& change : *pass.changes) {
            const bool isTouched =
                std::binary_search(change.origin.begin(), change.origin.end(), source);
            const std::pair<std::string, std::string> rule{change.rule, change.reason};
            if (isTouched &&
                std::find(step.rules.begin(), step.rules.end(), rule) == step.rules.end())
                step.rules.push_back(rule);
        }
        if (step.rules.empty()) continue;
        step.places = Whereabouts(*pass.after, source).of(source);
        steps.push_back(std::move(step));
    }
    return steps;
}

Result<SourceId> findSource(const Module& module, std::string_view name)
{
    const std::vector<SourceNode>& sources = module.sources();
    const std::string wanted = lowered(name);
    std::vector<uint32_t> equal, parts;
    for (uint32_t i = 0; i < sources.size(); ++i) {
        if (sources[i].name == name) return SourceId(i);
        const std::string other = lowered(sources[i].name);
        if (other == wanted) equal.push_back(i);
        if (!wanted.empty() && other.find(wanted) != std::string::npos) parts.push_back(i);
    }
    if (equal.size() == 1) return SourceId(equal.front());
    if (parts.size() == 1) return SourceId(parts.front());
    std::vector<std::string> names;
    for (const uint32_t i : parts)
        if (names.size() < kShownCandidates) names.push_back(quoted(sources[i].name));
    if (!names.empty())
        return makeError(DiagnosticCode::UnknownName,
                         std::to_string(parts.size()) + " nodes of the model have " + quoted(name) +
                             " in their names; did you mean " + join(names, ", ") +
                             (parts.size() > names.size() ? ", ...?" : "?"));
    std::vector<std::string> all;
    for (const SourceNode& source : sources) all.push_back(source.name);
    for (const std::string& near : nearestNames(name, all, 3)) names.push_back(quoted(near));
    return makeError(DiagnosticCode::UnknownName,
                     "no node of the model is called " + quoted(name) +
                         (names.empty() ? "" : "; did you mean " + join(names, ", ") + "?"));
}

} // namespace tenon::core
