// SPDX-License-Identifier: Apache-2.0
// Folds integers by what the operators mean: shape chains may use any of them.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/import/merged_source.h"
#include "compiler/frontend/import/node_import.h"
#include "compiler/ops/ops.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Shapes and what they are computed from are small.
constexpr int64_t kMaxElements = 64;

} // namespace

bool NodeImport::areInputsSmallConstants() const
{
    return !m_inputs.empty() &&
           std::all_of(m_inputs.begin(), m_inputs.end(), [](const ImportedValue* value) {
               return !value || (value->constant && value->constant->size() <= kMaxElements);
           });
}

std::optional<std::map<ValueRef, Tensor>> NodeImport::evaluateEmitted() const
{
    const JobContext job;
    std::map<ValueRef, Tensor> values;
    for (const NodeId id : m_emitted) {
        const NodeRecord& node = m_state.module.node(id);
        const OpDef* op = findOp(node.op);
        if (!op || op->accuracy == Accuracy::Random || op->family == Family::Control ||
            isOp(node, sizesOp))
            return std::nullopt;
        for (const TensorType& type : node.types)
            if (!constantShape(type.shape)) return std::nullopt;
        std::vector<Tensor> inputs;
        for (const ValueRef& operand : node.operands) {
            const auto known = values.find(operand);
            if (!operand.node.isValid())
                inputs.emplace_back();
            else if (known != values.end())
                inputs.push_back(known->second);
            else if (const auto& constant = m_state.module.node(operand.node).constant)
                inputs.push_back(*constant);
            else
                return std::nullopt;
        }
        auto results = evaluateNode(m_state.module, node, inputs, job);
        if (!results) return std::nullopt;
        for (size_t i = 0; i < results->size(); ++i)
            values[{id, static_cast<uint32_t>(i)}] = std::move((*results)[i]);
    }
    return values;
}

void NodeImport::foldIntegers()
{
    if (hasFailed() || m_emitted.empty() || !areInputsSmallConstants()) return;
    for (const std::string& name : m_defined) {
        const ImportedValue& value = *m_state.find(name);
        const auto shape = constantShape(value.type.shape);
        if (!value.type.dtype.isInt() || !shape || elementCount(*shape) > kMaxElements) return;
    }
    const auto values = evaluateEmitted();
    if (!values) return;
    for (const std::string& name : m_defined)
        if (!values->contains(m_state.find(name)->ref)) return; // an input handed on
    std::vector<SourceId> origin{m_source};
    for (const ImportedValue* in : m_inputs)
        if (in) origin = mergedSource(origin, in->origin, m_source);
    for (const std::string& name : m_defined) {
        ImportedValue& value = *m_state.find(name);
        value.origin = origin;
        value.constant = std::make_shared<const Tensor>(values->at(value.ref));
        if (value.constant->shape().size() <= 1) {
            value.dims.emplace();
            for (const int64_t element : value.constant->integers())
                value.dims->emplace_back(element);
        }
        value.ref = {};
    }
    for (const NodeId id : m_emitted) {
        std::erase(m_state.function.order, id);
        m_state.module.eraseNode(id);
    }
    m_emitted.clear();
}

} // namespace tenon::compiler
