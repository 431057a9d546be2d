// SPDX-License-Identifier: Apache-2.0
// Module versions and their persistent node map.
#include "core/ir/module.h"

#include "core/ir/user_operator.h"

#include <algorithm>

namespace tenon::core {

std::string TensorType::text() const
{
    return "Tensor[" + shapeText(shape) + ", " + dtype.text() + "]";
}

int64_t TensorType::bytes() const
{
    const auto dims = constantShape(shape);
    CHECK(dims) << text() << " has no constant size";
    return elementCount(*dims) * dtype.bytes();
}

const Types& SharedTypes::get() const
{
    static const Types kNone;
    return m_types ? *m_types : kNone;
}

std::string shownOperator(const NodeRecord& node)
{
    return node.op.starts_with(kUserOperatorPrefix)
               ? node.attrs.string(std::string(kOperatorAttr), node.op)
               : node.op;
}

std::vector<SourceId> mergedOrigin(const std::vector<SourceId>& a, const std::vector<SourceId>& b)
{
    std::vector<SourceId> out;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return out;
}

const NodePtr& NodeMap::find(NodeId id) const
{
    static const NodePtr kAbsent;
    const size_t chunk = id.value / kChunk;
    if (chunk >= m_chunks.size() || !m_chunks[chunk]) return kAbsent;
    return m_chunks[chunk]->nodes[id.value % kChunk];
}

void NodeMap::set(NodeId id, NodePtr record)
{
    CHECK(id.isValid());
    const size_t at = id.value / kChunk;
    if (at >= m_chunks.size()) m_chunks.resize(at + 1);
    std::shared_ptr<Chunk>& chunk = m_chunks[at];
    if (!chunk && !record) return;
    if (!chunk)
        chunk = std::make_shared<Chunk>();
    else if (chunk.use_count() > 1)
        chunk = std::make_shared<Chunk>(*chunk);
    const bool isErased = !record;
    chunk->nodes[id.value % kChunk] = std::move(record);
    if (isErased && std::none_of(chunk->nodes.begin(), chunk->nodes.end(),
                                 [](const NodePtr& node) { return node != nullptr; }))
        chunk = nullptr;
}

Module::Module()
    : m_sources(std::make_shared<std::vector<SourceNode>>())
    , m_ids(std::make_shared<IdSource>())
{
}

Module Module::withOwnIds() const
{
    Module out = *this;
    out.m_ids = std::make_shared<IdSource>(*m_ids);
    return out;
}

const NodeRecord& Module::node(NodeId id) const
{
    const NodePtr& found = m_nodes.find(id);
    CHECK(found) << "no node " << id.value;
    return *found;
}

const TensorType& Module::type(ValueRef value) const
{
    const NodeRecord& record = node(value.node);
    CHECK(value.index < record.types.size())
        << "no type for result " << value.index << " of " << record.op << " " << record.name;
    return record.types[value.index];
}

const GraphFunction& Module::function(FunctionId id) const
{
    const auto found = functions().find(id);
    CHECK(found != functions().end()) << "no function " << id.value;
    return *found->second;
}

void Module::setNode(NodeRecord record)
{
    const NodeId id = record.id;
    record.operands.shrink_to_fit(); // records never change again, and there are many
    record.origin.shrink_to_fit();
    m_nodes.set(id, std::make_shared<const NodeRecord>(std::move(record)));
}

void Module::eraseNode(NodeId id) { m_nodes.set(id, nullptr); }

void Module::setFunction(GraphFunction function)
{
    const FunctionId id = function.id;
    CHECK(id.isValid());
    function.params.shrink_to_fit();
    function.order.shrink_to_fit();
    function.results.shrink_to_fit();
    m_functions.own()[id] = std::make_shared<const GraphFunction>(std::move(function));
}

void Module::eraseFunction(FunctionId id) { m_functions.own().erase(id); }

void Module::setKernel(std::string name, PrimFuncPtr kernel)
{
    m_kernels.own()[std::move(name)] = std::move(kernel);
}

void Module::setSources(std::shared_ptr<const std::vector<SourceNode>> sources)
{
    m_sources = std::move(sources);
}

} // namespace tenon::core
