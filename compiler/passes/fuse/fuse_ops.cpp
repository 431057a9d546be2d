// SPDX-License-Identifier: Apache-2.0
// FuseOps: makes a primitive function of every group of operators that becomes one kernel; without
// fusion (opt level 0 or relay.FuseOps.max_depth=1) of every operator. Stands last on the graph:
// later passes see calls only.
#include "compiler/ops/op.h"
#include "compiler/passes/fuse/conv_chains.h"
#include "compiler/passes/fuse/memory_chains.h"
#include "compiler/passes/fuse/side_by_side.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/ir/origin_union.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {
namespace {

/// Longer names are cut and made unique by a hash.
constexpr size_t kNameLength = 80;

const char* patternText(Pattern pattern)
{
    switch (pattern) {
    case Pattern::Elementwise: return "Elementwise";
    case Pattern::Broadcast: return "Broadcast";
    case Pattern::Injective: return "Injective";
    case Pattern::Reduction: return "Reduction";
    case Pattern::OutEwiseFusable: return "OutEWiseFusable";
    case Pattern::Opaque: return "Opaque";
    }
    return "";
}

std::string functionName(const Module& module, const FusionGroup& group)
{
    std::string name = "fused";
    for (const NodeId id : group.members) name += "_" + shownOperator(module.node(id));
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    if (name.size() > kNameLength)
        name = name.substr(0, kNameLength) + "_" + hashBytes(name).hex().substr(0, 8);
    return name;
}

std::string reasonOf(const Module& module, const FusionGroup& group)
{
    if (!group.reason.empty()) return group.reason;
    if (group.members.size() == 1) return "nothing around it fits";
    std::vector<std::string> others;
    for (const NodeId id : group.members)
        if (id != group.anchor) others.push_back(shownOperator(module.node(id)));
    if (others.size() > 6) {
        others.resize(6);
        others.emplace_back("...");
    }
    const std::string list = join(others, ", ");
    if (!group.anchor.isValid()) return list + " need each element once and have one exit";
    return shownOperator(module.node(group.anchor)) + " takes " + list + " into its loops";
}

/// Attributes of the functions of one pattern; all share them.
class FunctionAttrs
{
public:
    Attrs of(Pattern pattern)
    {
        Attrs& attrs = m_byPattern[pattern];
        if (attrs.entries().empty())
            attrs = {{"primitive", int64_t{1}}, {"pattern", std::string(patternText(pattern))}};
        return attrs;
    }

private:
    std::map<Pattern, Attrs> m_byPattern;
};

/// Builds the primitive function of one group and the call that replaces it.
class GroupWriter
{
public:
    GroupWriter(const Module& module, FunctionId function, const UseIndex& uses,
                const FusionGroup& group)
        : m_module(module)
        , m_uses(uses)
        , m_group(group)
        , m_members(group.members.begin(), group.members.end())
    {
        m_patch.rule = group.isSideBySide         ? "run-side-by-side"
                       : !group.reason.empty()    ? "fuse-rows"
                       : group.members.size() > 1 ? "fuse"
                                                  : "wrap-single-op";
        m_patch.reason = reasonOf(module, group);
        m_patch.function = function;
        m_patch.from = group.members;
        m_patch.moved = group.members;
    }

    Patch run(std::string name, FunctionAttrs& attrs)
    {
        collectOperands();
        m_function.id = m_module.ids().nextFunction();
        m_function.name = std::move(name);
        m_function.attrs = attrs.of(pattern());
        if (m_group.isSideBySide) m_function.attrs.set(kSideBySideAttr, int64_t{1});
        addParameters();
        for (const NodeId id : m_group.members) addMember(id);
        addCall();
        m_patch.functions = {std::move(m_function)};
        return std::move(m_patch);
    }

private:
    void collectOperands()
    {
        std::unordered_set<ValueRef> seen;
        for (const NodeId id : m_group.members) {
            for (const ValueRef& operand : m_module.node(id).operands) {
                if (!operand.node.isValid() || m_members.count(operand.node) ||
                    !seen.insert(operand).second)
                    continue;
                const Tensor* constant = constantOf(m_module, operand);
                if (constant && constant->size() == 1)
                    addScalar(operand);
                else
                    (constant ? m_constants : m_data).push_back(operand);
            }
        }
    }

    /// One-element constants become part of the kernel; other readers keep their own.
    void addScalar(ValueRef value)
    {
        const std::span<const NodeId> users = m_uses.users(value.node);
        const bool isPrivate = !m_uses.isResult(value.node) &&
                               std::all_of(users.begin(), users.end(),
                                           [&](NodeId u) { return m_members.count(u) > 0; });
        NodeId inside = value.node;
        if (isPrivate) {
            m_patch.moved.push_back(inside);
        } else {
            NodeRecord copy = m_module.node(value.node);
            copy.id = inside = m_module.ids().nextNode();
            m_patch.nodes.push_back(std::move(copy));
        }
        m_function.order.push_back(inside);
        m_inside[value] = {inside, 0};
    }

    Pattern pattern() const
    {
        Pattern widest = Pattern::Elementwise;
        for (const NodeId id : m_group.members) {
            const OpDef* op = findOp(m_module.node(id).op);
            widest = std::max(widest, op ? op->pattern : Pattern::Opaque);
        }
        return widest;
    }

    void addParameters()
    {
        std::vector<ValueRef> operands = m_data;
        operands.insert(operands.end(), m_constants.begin(), m_constants.end());
        for (const ValueRef& operand : operands) {
            NodeRecord param;
            param.id = m_module.ids().nextNode();
            param.kind = NodeKind::Parameter;
            param.name = "p" + std::to_string(m_function.params.size());
            param.types = {m_module.type(operand)};
            m_inside[operand] = {param.id, 0};
            m_function.params.push_back(param.id);
            m_patch.nodes.push_back(std::move(param));
        }
        m_operands = std::move(operands);
    }

    void addMember(NodeId id)
    {
        m_function.order.push_back(id);
        NodeRecord inner = m_module.node(id);
        bool isChanged = false;
        for (ValueRef& operand : inner.operands) {
            const auto found = m_inside.find(operand);
            if (found == m_inside.end() || found->second == operand) continue;
            operand = found->second;
            isChanged = true;
        }
        if (isChanged) m_patch.nodes.push_back(std::move(inner));
    }

    void addCall()
    {
        NodeRecord call;
        call.id = m_module.ids().nextNode();
        call.kind = NodeKind::Call;
        call.callee = m_function.id;
        call.operands = m_operands;
        OriginUnion origin;
        for (const NodeId id : m_group.members) origin.add(m_module.node(id).origin);
        call.origin = origin.take();
        Types types;
        for (const NodeId id : m_group.members) {
            if (id != m_group.members.back() && !m_group.isSideBySide) continue;
            const NodeRecord& member = m_module.node(id);
            for (uint32_t i = 0; i < member.resultCount(); ++i) {
                const auto at = static_cast<uint32_t>(types.size());
                types.push_back(member.types[i]);
                m_function.results.push_back({id, i});
                m_patch.replace.push_back({{id, i}, {call.id, at}});
            }
        }
        call.types = std::move(types);
        m_patch.nodes.push_back(std::move(call));
    }

    const Module& m_module;
    const UseIndex& m_uses;
    const FusionGroup& m_group;
    std::unordered_set<NodeId> m_members;
    std::vector<ValueRef> m_data;
    std::vector<ValueRef> m_constants;
    std::vector<ValueRef> m_operands;
    std::unordered_map<ValueRef, ValueRef> m_inside;
    GraphFunction m_function;
    Patch m_patch;
};

/// Operators per kernel; Relax has a key of its own for the same.
int64_t fuseDepth(const PassContext& context)
{
    const int64_t relax = context.integer("relax.FuseOps.max_depth", 256);
    return std::max<int64_t>(1, context.integer("relay.FuseOps.max_depth", relax));
}

} // namespace

Result<Patches> runFuseOps(const Module& module, const PassContext& context)
{
    const int64_t maxMembers = context.optLevel == 0 ? 1 : fuseDepth(context);
    Patches patches;
    FunctionAttrs attrs;
    std::map<std::string, size_t> taken;
    for (const auto& [id, function] : module.functions()) ++taken[function->name];
    for (const GraphFunction* function : openFunctions(module)) {
        const UseIndex uses(module, *function);
        std::vector<FusionGroup> groups = fusionGroups(module, *function, maxMembers);
        const bool fusesRows = maxMembers > 1 && context.flag("fuse_rows", true);
        if (fusesRows && context.code.savesMemory)
            groups = joinMemoryChains(module, *function,
                                      joinQuantizedInputs(module, *function, std::move(groups)));
        if (fusesRows) groups = joinConvChains(module, *function, context.facts, std::move(groups));
        if (maxMembers > 1)
            groups = joinSideBySide(module, *function, context.facts, std::move(groups));
        for (const FusionGroup& group : groups) {
            const std::string base = functionName(module, group);
            const size_t count = taken[base]++;
            GroupWriter writer(module, function->id, uses, group);
            patches.push_back(
                writer.run(count == 0 ? base : base + "_" + std::to_string(count), attrs));
        }
    }
    return patches;
}

} // namespace tenon::compiler
