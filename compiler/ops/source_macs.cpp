// SPDX-License-Identifier: Apache-2.0
// Shares of each source's work, whole numbers that add up.
#include "compiler/ops/source_macs.h"

#include "compiler/ops/node_work.h"
#include "compiler/ops/op.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace tenon::compiler {

using namespace core;

namespace {

struct Holder
{
    NodeId node;
    double weight = 0;
};

/// Of operators that do products among other things, as attention does.
double flopsOf(const Module& version, NodeId id)
{
    const NodeRecord& node = version.node(id);
    return node.kind == NodeKind::Op ? costOf(version, node).flops : 0;
}

double totalOf(const std::vector<Holder>& holders)
{
    double total = 0;
    for (const Holder& holder : holders) total += holder.weight;
    return total;
}

/// What is left over by rounding is the last one's.
void share(int64_t macs, const std::vector<Holder>& holders,
           std::unordered_map<NodeId, int64_t>& out)
{
    const double total = totalOf(holders);
    double passed = 0;
    int64_t given = 0;
    for (const Holder& holder : holders) {
        passed += holder.weight;
        const int64_t upTo = std::llround(static_cast<double>(macs) * (passed / total));
        if (upTo > given) out[holder.node] += upTo - given;
        given = upTo;
    }
}

} // namespace

SourceMacs::SourceMacs(const Module& imported)
{
    for (const auto& [id, function] : imported.functions())
        for (const NodeId node : function->order)
            if (const auto& origin = imported.node(node).origin; !origin.empty())
                if (const int64_t macs = ownMacs(imported, node); macs > 0)
                    m_ofSource[origin.front()] += macs;
}

int64_t SourceMacs::ownMacs(const Module& version, NodeId node)
{
    const auto [known, isNew] = m_own.try_emplace(node, 0);
    if (isNew) known->second = macsOf(version, version.node(node));
    return known->second;
}

std::unordered_map<NodeId, int64_t> SourceMacs::in(const Module& version)
{
    std::map<SourceId, std::vector<Holder>> holders;
    for (const auto& [id, function] : version.functions())
        for (const NodeId node : function->order)
            for (const SourceId source : version.node(node).origin)
                if (m_ofSource.contains(source))
                    holders[source].push_back({node, static_cast<double>(ownMacs(version, node))});
    std::unordered_map<NodeId, int64_t> out;
    for (auto& [source, nodes] : holders) {
        if (totalOf(nodes) == 0)
            for (Holder& holder : nodes) holder.weight = flopsOf(version, holder.node);
        if (totalOf(nodes) > 0) share(m_ofSource.at(source), nodes, out);
    }
    return out;
}

} // namespace tenon::compiler
