// SPDX-License-Identifier: Apache-2.0
// Rewrites main and nothing else, so that kernels stay what they are.
#include "compiler/compare/taps.h"

#include "compiler/executor/build_program.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {
namespace {

void keepNeeded(const Module& module, GraphFunction& main)
{
    std::unordered_set<NodeId> needed;
    for (const ValueRef& result : main.results) needed.insert(result.node);
    std::vector<NodeId> kept;
    for (auto id = main.order.rbegin(); id != main.order.rend(); ++id) {
        if (!needed.contains(*id)) continue;
        kept.push_back(*id);
        for (const ValueRef& operand : module.node(*id).operands) needed.insert(operand.node);
    }
    main.order.assign(kept.rbegin(), kept.rend());
}

std::string tapName(size_t index) { return "tap_" + std::to_string(index); }

/// Builds a main function of some calls of another one.
class Cutter
{
public:
    explicit Cutter(const Module& lowered)
        : m_lowered(lowered)
        , m_out{lowered, {}, {}}
        , m_main(lowered.main())
    {
        m_main.params.clear();
        m_main.order.clear();
        m_main.results.clear();
        m_main.resultNames.clear();
    }

    void add(NodeId id)
    {
        NodeRecord call = m_lowered.node(id);
        for (ValueRef& operand : call.operands)
            if (operand.node.isValid()) operand = read(operand);
        m_main.order.push_back(id);
        for (uint32_t i = 0; i < call.types.size(); ++i) {
            m_main.results.push_back({id, i});
            m_main.resultNames.push_back(tapName(m_main.results.size() - 1));
        }
        m_out.module.setNode(std::move(call));
    }

    CutModule take()
    {
        m_out.module.setFunction(std::move(m_main));
        return std::move(m_out);
    }

private:
    ValueRef read(ValueRef value)
    {
        const NodeRecord& node = m_lowered.node(value.node);
        if (const auto known = m_read.find(value); known != m_read.end()) return known->second;
        if (node.kind == NodeKind::Constant) {
            m_main.order.push_back(value.node);
            return m_read[value] = value;
        }
        NodeRecord param;
        param.id = m_lowered.ids().nextNode();
        param.kind = NodeKind::Parameter;
        param.name = "held_" + std::to_string(m_out.inputs.size());
        param.types = {m_lowered.type(value)};
        m_main.params.push_back(param.id);
        m_out.inputs.push_back(value);
        m_out.inputNames.push_back(param.name);
        const ValueRef fresh{param.id, 0};
        m_out.module.setNode(std::move(param));
        return m_read[value] = fresh;
    }

    const Module& m_lowered;
    CutModule m_out;
    GraphFunction m_main;
    std::unordered_map<ValueRef, ValueRef> m_read;
};

} // namespace

Module withTaps(const Module& lowered, std::span<const ValueRef> values)
{
    Module out = lowered;
    GraphFunction main = lowered.main();
    main.results.assign(values.begin(), values.end());
    main.resultNames.clear();
    for (size_t i = 0; i < values.size(); ++i) main.resultNames.push_back(tapName(i));
    if (vmReason(lowered).empty()) keepNeeded(lowered, main);
    out.setFunction(std::move(main));
    return out;
}

CutModule cutApart(const Module& lowered, std::span<const NodeId> calls)
{
    Cutter cutter(lowered);
    for (const NodeId id : calls) cutter.add(id);
    return cutter.take();
}

} // namespace tenon::compiler
