// SPDX-License-Identifier: Apache-2.0
// OrderCalls: executes the calls of a program without control flow in another order where fewer
// bytes are then needed at once and the plan of memory shrinks. Peaks are compared twice, with
// whole-tensor concatenations written in place, as the AOT executor does, and without: neither may
// grow. Inputs, constants and results lie in the caller's memory or the artifact's and cost nothing
// here.
#include "compiler/memory/call_order.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/fuse/fusion_groups.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "core/base/text.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

namespace tenon::compiler {
namespace {

constexpr const char* kPlanner = "hill_climb";

bool isCall(const NodeRecord& node)
{
    return node.kind != NodeKind::Constant &&
           !(node.kind == NodeKind::CallTir && node.kernel == kNopKernel);
}

/// Whether the order is all there is to know, and every size.
bool isStraightLine(const Module& module, const GraphFunction& main)
{
    return std::all_of(main.order.begin(), main.order.end(), [&](NodeId id) {
        const NodeRecord& node = module.node(id);
        return node.bodies.empty() && !isOp(node, bindDimsOp) &&
               std::all_of(node.types.begin(), node.types.end(),
                           [](const TensorType& type) { return constantShape(type.shape); });
    });
}

class Calls
{
public:
    Calls(const Module& module, const GraphFunction& main);

    const CallGraph& graph() const { return m_graph; }
    /// With the parts of whole-tensor concatenations in the memory of the result.
    CallGraph graphWithJoins() const;
    const std::vector<NodeId>& nodes() const { return m_nodes; }

private:
    ValueRef owner(ValueRef value) const;
    void addBuffers(int call);
    std::vector<int> partsOf(int call) const;

    const Module& m_module;
    std::vector<NodeId> m_nodes; ///< of each call
    std::map<ValueRef, int> m_bufferOf;
    std::unordered_map<NodeId, int> m_callOf;
    std::set<ValueRef> m_results; ///< owners of their memory
    CallGraph m_graph;
};

Calls::Calls(const Module& module, const GraphFunction& main)
    : m_module(module)
{
    for (const ValueRef& result : main.results) m_results.insert(owner(result));
    for (const NodeId id : main.order) {
        if (!isCall(module.node(id))) continue;
        m_callOf[id] = static_cast<int>(m_nodes.size());
        m_nodes.push_back(id);
        addBuffers(m_callOf[id]);
    }
}

/// The value in whose memory a reshaped one lies.
ValueRef Calls::owner(ValueRef value) const
{
    while (m_module.node(value.node).kind == NodeKind::CallTir &&
           m_module.node(value.node).kernel == kNopKernel)
        value = m_module.node(value.node).operands.at(0);
    return value;
}

void Calls::addBuffers(int call)
{
    const NodeRecord& node = m_module.node(m_nodes[static_cast<size_t>(call)]);
    std::set<int> before;
    std::set<int> buffers;
    for (const ValueRef& operand : node.operands) {
        const ValueRef from = owner(operand);
        if (const auto found = m_bufferOf.find(from); found != m_bufferOf.end())
            buffers.insert(found->second);
        if (const auto found = m_callOf.find(from.node); found != m_callOf.end())
            before.insert(found->second);
    }
    for (size_t i = 0; i < node.types.size(); ++i) {
        const ValueRef value{node.id, static_cast<uint32_t>(i)};
        const int64_t bytes = m_results.contains(value) ? 0 : node.types[i].bytes();
        m_bufferOf[value] = static_cast<int>(m_graph.bytes.size());
        buffers.insert(m_bufferOf[value]);
        m_graph.bytes.push_back((bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment);
    }
    m_graph.before.emplace_back(before.begin(), before.end());
    m_graph.buffers.emplace_back(buffers.begin(), buffers.end());
}

/// Buffers of a concatenation's operands that can lie in its result; empty when one cannot.
std::vector<int> Calls::partsOf(int call) const
{
    const NodeRecord& node = m_module.node(m_nodes[static_cast<size_t>(call)]);
    if (node.kind != NodeKind::CallTir || node.callee == FunctionId()) return {};
    const std::vector<NodeId>& members = m_module.function(node.callee).order;
    if (members.size() != 1 || !joinsWholeTensors(m_module.node(members[0]))) return {};
    std::vector<int> parts;
    int64_t offset = 0;
    for (const ValueRef& operand : node.operands) {
        const ValueRef part = owner(operand);
        const auto buffer = m_bufferOf.find(part);
        if (buffer == m_bufferOf.end() || m_results.contains(part) ||
            offset % kPartAlignment != 0 ||
            std::find(parts.begin(), parts.end(), buffer->second) != parts.end())
            return {};
        parts.push_back(buffer->second);
        offset += m_module.type(operand).bytes();
    }
    return parts;
}

CallGraph Calls::graphWithJoins() const
{
    std::vector<int> whole(m_graph.bytes.size()); // of each buffer: the one it lies in
    std::iota(whole.begin(), whole.end(), 0);
    for (size_t call = m_nodes.size(); call-- > 0;) // joins may be parts of later ones
        for (const int part : partsOf(static_cast<int>(call))) {
            const int result = m_bufferOf.at({m_nodes[call], 0});
            if (whole[static_cast<size_t>(part)] == part)
                whole[static_cast<size_t>(part)] = whole[static_cast<size_t>(result)];
        }
    CallGraph joined = m_graph;
    for (std::vector<int>& buffers : joined.buffers) {
        std::set<int> owners;
        for (const int buffer : buffers) owners.insert(whole[static_cast<size_t>(buffer)]);
        buffers.assign(owners.begin(), owners.end());
    }
    return joined;
}

/// Constants first, every reshape right before its first reader or at the end.
std::vector<NodeId> orderedNodes(const Module& module, const GraphFunction& main,
                                 const std::vector<NodeId>& calls)
{
    std::vector<NodeId> order;
    std::set<NodeId> isPlaced(main.params.begin(), main.params.end());
    const auto place = [&](auto& self, NodeId id) -> void {
        if (!isPlaced.insert(id).second) return;
        for (const ValueRef& operand : module.node(id).operands) self(self, operand.node);
        order.push_back(id);
    };
    for (const NodeId id : main.order)
        if (module.node(id).kind == NodeKind::Constant) place(place, id);
    for (const NodeId id : calls) place(place, id);
    for (const NodeId id : main.order) place(place, id);
    return order;
}

int64_t plannedBytes(const CallGraph& graph, const std::vector<int>& order)
{
    return planMemory(kPlanner, problemOfCalls(graph, order, kPartAlignment))->totalBytes();
}

struct Better
{
    std::vector<int> order;
    int64_t bytes = 0;
    int64_t bytesBefore = 0;
};

std::optional<Better> betterOrder(const Calls& calls)
{
    const CallGraph joined = calls.graphWithJoins();
    const CallGraph& apart = calls.graph();
    std::vector<int> given(joined.buffers.size());
    std::iota(given.begin(), given.end(), 0);
    std::vector<int> order = orderCallsByPeak(joined);
    if (order == given || peakOfCalls(joined, order) >= peakOfCalls(joined, given) ||
        peakOfCalls(apart, order) > peakOfCalls(apart, given))
        return std::nullopt;
    Better better{order, plannedBytes(joined, order), plannedBytes(joined, given)};
    if (better.bytes >= better.bytesBefore ||
        plannedBytes(apart, order) > plannedBytes(apart, given))
        return std::nullopt;
    return better;
}

} // namespace

Result<Patches> runOrderCalls(const Module& module, const PassContext&)
{
    const GraphFunction& main = module.main();
    if (!isStraightLine(module, main)) return Patches();
    const Calls calls(module, main);
    if (calls.nodes().size() < 2) return Patches();
    const std::optional<Better> better = betterOrder(calls);
    if (!better) return Patches();

    std::vector<NodeId> ordered;
    Patch patch{.rule = "order-calls",
                .reason = "intermediates take " + thousands(better->bytes) + " bytes instead of " +
                          thousands(better->bytesBefore),
                .function = main.id};
    for (size_t i = 0; i < better->order.size(); ++i) {
        ordered.push_back(calls.nodes()[static_cast<size_t>(better->order[i])]);
        if (better->order[i] == static_cast<int>(i)) continue;
        patch.from.push_back(ordered.back());
        patch.nodes.push_back(module.node(ordered.back()));
    }
    GraphFunction function = main;
    function.order = orderedNodes(module, main, ordered);
    patch.functions.push_back(std::move(function));
    return Patches{std::move(patch)};
}

} // namespace tenon::compiler
