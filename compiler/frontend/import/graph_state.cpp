// SPDX-License-Identifier: Apache-2.0
// Names, constants and provenance while a graph is imported.
#include "compiler/frontend/import/graph_state.h"

#include "compiler/ops/op.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace tenon::compiler {

ImportedValue constantValue(std::string name, Tensor value)
{
    constexpr int64_t kMaxDims = 64;
    ImportedValue out{.name = std::move(name),
                      .type = {value.dtype(), makeShape(value.shape())},
                      .isTyped = true};
    if (value.dtype().isInt() && value.shape().size() <= 1 && value.size() <= kMaxDims) {
        out.dims.emplace();
        for (const int64_t element : value.integers()) out.dims->emplace_back(element);
    }
    out.constant = std::make_shared<const Tensor>(std::move(value));
    return out;
}

TensorType untypedValue() { return {kHandle, {}}; }

bool isTooLarge(const Shape& shape)
{
    int64_t count = 1;
    for (const Dim& dim : shape)
        if (dim.isConst() &&
            (__builtin_mul_overflow(count, std::max<int64_t>(dim.value(), 1), &count) ||
             count > (int64_t{1} << 40)))
            return true;
    return false;
}

GraphState::GraphState()
{
    function.id = module.ids().nextFunction();
    function.name = "main";
}

GraphState::GraphState(GraphState& outer, std::string name)
    : module(std::move(outer.module))
    , sources(std::move(outer.sources))
    , bounds(outer.bounds)
    , m_outer(&outer)
    , m_sizes(outer.m_sizes)
{
    function.id = module.ids().nextFunction();
    function.name = std::move(name);
}

ImportedValue* GraphState::find(const std::string& name)
{
    const auto found = m_values.find(name);
    if (found != m_values.end()) return &found->second;
    if (!m_outer) return nullptr;
    // The outer graph may have to capture the value itself, for which it needs the module.
    std::swap(module, m_outer->module);
    const ImportedValue* outer = m_outer->find(name);
    std::swap(module, m_outer->module);
    if (!outer) return nullptr;
    ImportedValue value = *outer;
    const bool isKnown = value.constant || value.dims || value.elements;
    value.ref = {};
    if (!isKnown) {
        value.ref = {addParameter(name, value.type), 0};
        captures.push_back({name, value.ref.node});
    }
    return &m_values.emplace(name, std::move(value)).first->second;
}

void GraphState::eraseBody(FunctionId id)
{
    const GraphFunction body = module.function(id);
    for (const std::vector<NodeId>& nodes : {body.params, body.order})
        for (const NodeId node : nodes) {
            for (const FunctionId inner : module.node(node).bodies) eraseBody(inner);
            module.eraseNode(node);
        }
    module.eraseFunction(id);
}

void GraphState::giveBack()
{
    dropIdleConstants();
    module.setFunction(function);
    m_outer->module = std::move(module);
    m_outer->sources = std::move(sources);
    m_outer->m_sizes = m_sizes;
    m_outer->foldReasons.merge(foldReasons);
    for (auto& [source, users] : consumers) {
        std::vector<NodeId>& all = m_outer->consumers[source];
        all.insert(all.end(), users.begin(), users.end());
    }
}

bool GraphState::isNewerThan(const Dim& dim, int64_t sizes) const
{
    const std::string text = dim.text();
    for (size_t at = text.find("_s"); at != std::string::npos; at = text.find("_s", at + 1)) {
        int64_t number = -1;
        std::from_chars(text.data() + at + 2, text.data() + text.size(), number);
        if (number >= sizes && number < m_sizes) return true;
    }
    return false;
}

NodeId GraphState::addControl(std::string op, std::vector<ValueRef> operands, Attrs attrs,
                              std::vector<FunctionId> bodies, Types types, SourceId source)
{
    NodeRecord record = newOpNode(module, std::move(op), std::move(operands), std::move(attrs));
    record.origin = {source};
    record.name = sources[source.value].name;
    record.bodies = std::move(bodies);
    record.types = std::move(types);
    const NodeId id = record.id;
    module.setNode(std::move(record));
    function.order.push_back(id);
    return id;
}

bool GraphState::define(ImportedValue value)
{
    std::string name = value.name;
    return m_values.emplace(std::move(name), std::move(value)).second;
}

void GraphState::undefine(const std::string& name) { m_values.erase(name); }

NodeId GraphState::addParameter(const std::string& name, const TensorType& type)
{
    NodeRecord record;
    record.id = module.ids().nextNode();
    record.kind = NodeKind::Parameter;
    record.types = {type};
    record.name = name;
    const NodeId id = record.id;
    module.setNode(std::move(record));
    function.params.push_back(id);
    return id;
}

ValueRef GraphState::addConstant(std::shared_ptr<const Tensor> value, const std::string& name,
                                 std::vector<SourceId> origin)
{
    NodeRecord record;
    record.id = module.ids().nextNode();
    record.kind = NodeKind::Constant;
    record.types = {{value->dtype(), makeShape(value->shape())}};
    record.constant = std::move(value);
    record.name = name;
    record.origin = std::move(origin);
    const NodeId id = record.id;
    module.setNode(std::move(record));
    function.order.push_back(id);
    return {id, 0};
}

Result<NodeId> GraphState::addOp(std::string op, std::vector<ValueRef> operands, Attrs attrs,
                                 SourceId source)
{
    NodeRecord record = newOpNode(module, std::move(op), std::move(operands), std::move(attrs));
    record.origin = {source};
    record.name = sources[source.value].name;
    auto types = inferTypes(module, record);
    if (!types) return types.error();
    for (const TensorType& type : *types)
        if (isTooLarge(type.shape))
            return makeError(DiagnosticCode::ShapeMismatch,
                             "the result would be " + type.text() + ", which is too large");
    record.types = std::move(*types);
    const NodeId id = record.id;
    module.setNode(std::move(record));
    function.order.push_back(id);
    return id;
}

NodeId GraphState::addOpaque(std::string op, std::vector<ValueRef> operands, Types types,
                             SourceId source)
{
    NodeRecord record = newOpNode(module, std::move(op), std::move(operands));
    record.origin = {source};
    record.name = sources[source.value].name;
    record.types = std::move(types);
    const NodeId id = record.id;
    module.setNode(std::move(record));
    function.order.push_back(id);
    return id;
}

/// Sizes that are known by name become data.
ValueRef GraphState::addSizes(const ImportedValue& value)
{
    std::vector<std::string> sizes;
    for (const Dim& dim : *value.dims) sizes.push_back(dim.text());
    Attrs attrs{{"sizes", sizes}};
    if (value.type.shape.empty()) attrs.set("scalar", int64_t{1});
    const SourceId source = value.origin.front();
    auto node = addOp("sizes", {}, std::move(attrs), source);
    if (node && value.type.dtype != kInt64)
        node = addOp("cast", {{*node, 0}}, {{"dtype", value.type.dtype}}, source);
    return node ? ValueRef{*node, 0} : ValueRef{};
}

ValueRef GraphState::place(ImportedValue& value)
{
    if (!value.ref.node.isValid() && value.constant)
        value.ref = addConstant(value.constant, value.name, value.origin);
    if (!value.ref.node.isValid() && value.dims && !value.origin.empty())
        value.ref = addSizes(value);
    return value.ref;
}

std::vector<Change> GraphState::ledger() const
{
    std::vector<bool> isAlive(sources.size(), false);
    const auto keep = [&](const std::vector<NodeId>& order) {
        for (const NodeId id : order)
            if (const NodePtr& node = module.findNode(id))
                for (const SourceId source : node->origin) isAlive[source.value] = true;
    };
    keep(function.order);
    for (const auto& [id, body] : module.functions()) keep(body->order);

    std::vector<Change> changes;
    for (uint32_t i = 0; i < sources.size(); ++i) {
        if (isAlive[i]) continue;
        const SourceId source(i);
        const auto reason = foldReasons.find(source);
        const auto users = consumers.find(source);
        changes.push_back({.rule = "import-fold",
                           .reason = reason != foldReasons.end() ? reason->second
                                                                 : "its value is known at import",
                           .to = users != consumers.end() ? users->second : std::vector<NodeId>{},
                           .origin = {source}});
    }
    return changes;
}

void GraphState::dropIdleConstants()
{
    std::set<NodeId> used;
    for (const NodeId id : function.order)
        for (const ValueRef& operand : module.node(id).operands) used.insert(operand.node);
    for (const ValueRef& result : function.results) used.insert(result.node);
    std::erase_if(function.order, [&](NodeId id) {
        const bool isIdle = module.node(id).kind == NodeKind::Constant && !used.contains(id);
        if (isIdle) module.eraseNode(id);
        return isIdle;
    });
}

Module GraphState::finish()
{
    dropIdleConstants();
    setBounds(function, bounds);
    module.setMain(function.id);
    module.setFunction(function);
    module.setSources(std::make_shared<const std::vector<SourceNode>>(std::move(sources)));
    return module;
}

} // namespace tenon::compiler
