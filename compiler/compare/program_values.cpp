// SPDX-License-Identifier: Apache-2.0
// From what became of the model's values to what each call gives.
#include "compiler/compare/program_values.h"

#include "compiler/executor/program_parts.h"
#include "compiler/ops/ops.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Values in the order in which the model computes them.
std::vector<ValueRef> valuesInOrder(const Module& imported)
{
    std::vector<ValueRef> out;
    for (const NodeId id : imported.main().order)
        for (uint32_t i = 0; i < imported.node(id).resultCount(); ++i) out.push_back({id, i});
    return out;
}

} // namespace

ProgramValues::ProgramValues(const CompileResult& built, const ValueTrail& trail)
    : m_built(built)
{
    const Module& lowered = built.passes.last();
    const std::vector<NodeId>& order = lowered.main().order;
    const std::unordered_map<NodeId, size_t> inMain = [&] {
        std::unordered_map<NodeId, size_t> out;
        for (size_t i = 0; i < order.size(); ++i) out[order[i]] = i;
        return out;
    }();
    for (const KernelCall& call : built.program.calls) {
        if (!inMain.contains(call.node)) {
            ++m_hidden;
            continue;
        }
        m_calls.push_back(&call);
        m_callOf[call.node] = &call;
    }
    const Module& imported = built.passes.imported;
    const GraphFunction& main = imported.main();
    for (size_t i = 0; i < main.results.size(); ++i)
        m_outputNames.try_emplace(main.results[i], resultName(main, i));
    for (const ValueRef value : valuesInOrder(imported)) {
        const auto found = trail.values().find(value);
        if (found == trail.values().end()) continue;
        if (found->second.value.node.isValid())
            addCounterpart(value, found->second);
        else
            addAbsorbed(value, found->second);
    }
}

/// Through what only renames a shape, to the call whose result it is.
void ProgramValues::addCounterpart(ValueRef model, const TrailedValue& trailed)
{
    const Module& lowered = m_built.passes.last();
    Counterpart out{model, trailed.form};
    ValueRef value = trailed.value;
    for (;;) {
        const NodePtr& node = lowered.findNode(value.node);
        if (!node || node->kind != NodeKind::CallTir) return;
        if (node->kernel != kNopKernel) break;
        const auto before = constantShape(lowered.type(node->operands[0]).shape),
                   shape = constantShape(node->types.at(0).shape);
        if (!before || !shape) return;
        out.form.insert(
            out.form.begin(),
            FormStep{.kind = FormStep::Kind::Reshape, .shape = *shape, .before = *before});
        value = node->operands[0];
    }
    if (m_callOf.contains(value.node)) m_counterparts.try_emplace(value, std::move(out));
}

void ProgramValues::addAbsorbed(ValueRef model, const TrailedValue& trailed)
{
    const NodeRecord& node = m_built.passes.imported.node(model.node);
    if (node.kind == NodeKind::Constant) return;
    AbsorbedValue out{nameOf(model), {}, trailed.rule, trailed.reason};
    if (const auto call = m_callOf.find(trailed.kernel); call != m_callOf.end())
        out.title = call->second->title.text();
    m_absorbed.push_back(std::move(out));
}

const Counterpart* ProgramValues::counterpart(ValueRef value) const
{
    const auto found = m_counterparts.find(value);
    return found == m_counterparts.end() ? nullptr : &found->second;
}

bool ProgramValues::holdsBytes(ValueRef value) const
{
    const Module& lowered = m_built.passes.last();
    const NodeRecord& call = lowered.node(value.node);
    if (!call.callee.isValid()) return false;
    const ValueRef made = lowered.function(call.callee).results.at(value.index);
    return isOneOf(lowered.node(made.node), qnnPackChannelsOp, qnnPackColumnsOp);
}

std::vector<ValueRef> ProgramValues::modelValues() const
{
    std::vector<ValueRef> out;
    for (const KernelCall* call : m_calls)
        for (uint32_t i = 0; i < static_cast<uint32_t>(call->outputCount); ++i)
            if (const Counterpart* known = counterpart({call->node, i}))
                out.push_back(known->model);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::string ProgramValues::nameOf(ValueRef model) const
{
    if (const auto output = m_outputNames.find(model);
        output != m_outputNames.end() && !output->second.empty())
        return output->second;
    const NodeRecord& node = m_built.passes.imported.node(model.node);
    std::string name = node.name.empty() ? shownOperator(node) : node.name;
    if (node.resultCount() > 1) name += ":" + std::to_string(model.index);
    return name;
}

} // namespace tenon::compiler
