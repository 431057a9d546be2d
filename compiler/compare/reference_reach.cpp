// SPDX-License-Identifier: Apache-2.0
// Upwards from a call to the nearest values that the reference has.
#include "compiler/compare/reference_reach.h"

#include "core/base/text.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

std::vector<int64_t> withoutOnes(std::vector<int64_t> shape)
{
    std::erase(shape, 1);
    return shape;
}

} // namespace

ReferenceReach::ReferenceReach(const CompileResult& built, const ProgramValues& values,
                               const ReferenceValues& reference)
    : m_lowered(built.passes.last())
    , m_values(values)
    , m_reference(reference)
{
    for (const KernelCall* call : values.calls()) m_macsOf[call->node] = call->macs;
}

bool ReferenceReach::isKnown(ValueRef value) const
{
    const Counterpart* known = m_values.counterpart(value);
    return known && m_reference.contains(known->model);
}

bool ReferenceReach::feeds(const KernelCall& call) const
{
    bool hasSums = false;
    std::set<NodeId> seen{call.node};
    std::vector<NodeId> open{call.node};
    while (!open.empty()) {
        const NodeRecord& node = m_lowered.node(open.back());
        open.pop_back();
        for (const ValueRef& operand : node.operands) {
            if (!operand.node.isValid()) continue;
            if (isKnown(operand)) return true;
            if (!seen.insert(operand.node).second) continue;
            if (const auto macs = m_macsOf.find(operand.node); macs != m_macsOf.end())
                hasSums |= macs->second > 0;
            open.push_back(operand.node);
        }
    }
    return !hasSums;
}

std::string ReferenceReach::text() const
{
    size_t all = 0, known = 0;
    for (const KernelCall* call : m_values.calls())
        for (uint32_t i = 0; i < static_cast<uint32_t>(call->outputCount); ++i) {
            const ValueRef value{call->node, i};
            if (!m_values.counterpart(value)) continue;
            ++all;
            known += isKnown(value) ? 1 : 0;
        }
    if (known == all) return {};
    return "the reference has no tensor of the name for " + std::to_string(all - known) + " of " +
           std::to_string(all) +
           " tensors of the model: those stand in parentheses and beside what this model's own "
           "definitions give, so that `exact` there says nothing about the reference";
}

std::vector<std::string> dropUnfit(ReferenceValues& reference, const Module& imported,
                                   const ProgramValues& values)
{
    std::vector<std::string> said;
    for (auto& [value, tensor] : reference) {
        const auto shape = constantShape(imported.type(value).shape);
        if (shape && withoutOnes(*shape) == withoutOnes(tensor.shape()))
            tensor = tensor.reshaped(*shape);
    }
    std::erase_if(reference, [&](const auto& entry) {
        const TensorType& type = imported.type(entry.first);
        const auto shape = constantShape(type.shape);
        const bool isUnfit = shape && *shape != entry.second.shape();
        if (isUnfit)
            said.push_back(core::quoted(values.nameOf(entry.first)) + " is " + type.text() +
                           ", of the reference " + entry.second.typeText() + "; it is left out");
        return isUnfit;
    });
    return said;
}

} // namespace tenon::compiler
