// SPDX-License-Identifier: Apache-2.0
// Follows nodes through change sets; nodes with a common heir belong to one change.
#include "core/ir/descent.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace tenon::core {

Descent::Descent(const std::vector<const std::vector<Change>*>& passes)
{
    for (const std::vector<Change>* changes : passes) {
        auto& steps = m_passes.emplace_back();
        for (const Change& change : *changes)
            for (const NodeId from : change.from) {
                Step& step = steps[from];
                step.to.insert(step.to.end(), change.to.begin(), change.to.end());
                step.rules.push_back(&change.rule);
                step.isErased |= std::find(change.erased.begin(), change.erased.end(), from) !=
                                 change.erased.end();
            }
    }
}

namespace {

using Rules = std::vector<std::pair<size_t, std::string>>;

bool isKnown(const Rules& rules, const std::string& name)
{
    return std::any_of(rules.begin(), rules.end(),
                       [&](const auto& rule) { return rule.second == name; });
}

} // namespace

Descent::Line Descent::follow(NodeId node) const
{
    Line line{{node}, {}};
    for (size_t pass = 0; pass < m_passes.size(); ++pass) {
        const auto& steps = m_passes[pass];
        std::vector<NodeId> next;
        for (const NodeId id : line.heirs) {
            const auto found = steps.find(id);
            if (found == steps.end() || !found->second.isErased) next.push_back(id);
            if (found == steps.end()) continue;
            next.insert(next.end(), found->second.to.begin(), found->second.to.end());
            for (const std::string* rule : found->second.rules)
                if (!isKnown(line.rules, *rule)) line.rules.emplace_back(pass, *rule);
        }
        std::sort(next.begin(), next.end());
        next.erase(std::unique(next.begin(), next.end()), next.end());
        line.heirs = std::move(next);
    }
    return line;
}

namespace {

/// Operators and calls of the main function, in program order.
std::vector<NodeId> programOf(const Module& module)
{
    std::vector<NodeId> program;
    if (!module.mainId().isValid()) return program;
    for (const NodeId id : module.main().order)
        if (const NodeKind kind = module.node(id).kind;
            kind != NodeKind::Constant && kind != NodeKind::Parameter)
            program.push_back(id);
    return program;
}

/// Sets of equals, by index.
class Unions
{
public:
    explicit Unions(size_t count)
        : m_parent(count)
    {
        std::iota(m_parent.begin(), m_parent.end(), size_t{0});
    }
    size_t find(size_t i)
    {
        while (m_parent[i] != i) i = m_parent[i] = m_parent[m_parent[i]];
        return i;
    }
    void join(size_t a, size_t b)
    {
        m_parent[std::max(find(a), find(b))] = std::min(find(a), find(b));
    }

private:
    std::vector<size_t> m_parent;
};

/// Nodes of the program before, those with a common heir in one set, and what each became.
struct Kin
{
    std::vector<Descent::Line> lines;
    Unions unions;
    std::set<NodeId> heirs;

    Kin(const Descent& descent, const std::vector<NodeId>& old, const std::set<NodeId>& now)
        : unions(old.size())
    {
        std::map<NodeId, size_t> firstWith;
        for (size_t i = 0; i < old.size(); ++i) {
            Descent::Line& line = lines.emplace_back(descent.follow(old[i]));
            std::erase_if(line.heirs, [&](NodeId heir) { return !now.count(heir); });
            heirs.insert(line.heirs.begin(), line.heirs.end());
            for (const NodeId heir : line.heirs) {
                const auto [known, isNew] = firstWith.emplace(heir, i);
                if (!isNew) unions.join(known->second, i);
            }
        }
    }
};

template <class T>
void addOnce(std::vector<T>& list, const T& value)
{
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

void finish(ComposedChange& change, Rules& rules)
{
    std::sort(change.to.begin(), change.to.end());
    change.to.erase(std::unique(change.to.begin(), change.to.end()), change.to.end());
    std::stable_sort(rules.begin(), rules.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [pass, rule] : rules) addOnce(change.rules, rule);
}

/// A record that no rule touched reads other values at most.
bool isSame(const ComposedChange& change, const Module& before, const Module& after)
{
    return change.from == change.to && change.from.size() == 1 &&
           (change.rules.empty() ||
            before.findNode(change.from[0]) == after.findNode(change.to[0]));
}

} // namespace

std::vector<ComposedChange> composeChanges(const Module& before, const Module& after,
                                           const std::vector<const std::vector<Change>*>& passes)
{
    const std::vector<NodeId> old = programOf(before), program = programOf(after);
    Kin kin(Descent(passes), old, {program.begin(), program.end()});
    std::map<size_t, std::pair<ComposedChange, Rules>> changes; // by the first of their nodes
    for (size_t i = 0; i < old.size(); ++i) {
        auto& [change, rules] = changes[kin.unions.find(i)];
        const Descent::Line& line = kin.lines[i];
        change.from.push_back(old[i]);
        change.to.insert(change.to.end(), line.heirs.begin(), line.heirs.end());
        rules.insert(rules.end(), line.rules.begin(), line.rules.end());
    }
    std::vector<ComposedChange> out;
    for (auto& [first, parts] : changes) {
        auto& [change, rules] = parts;
        finish(change, rules);
        if (!isSame(change, before, after)) out.push_back(std::move(change));
    }
    for (const NodeId id : program)
        if (!kin.heirs.count(id)) out.push_back({{}, {id}, {}});
    return out;
}

} // namespace tenon::core
