// SPDX-License-Identifier: Apache-2.0
// Module versions and their persistent node map.
#include "core/ir/module.h"

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

std::vector<NodeId> NodeMap::changedSince(const NodeMap& other) const
{
    std::vector<NodeId> out;
    const size_t count = std::max(m_chunks.size(), other.m_chunks.size());
    for (size_t c = 0; c < count; ++c) {
        const Chunk* mine = c < m_chunks.size() ? m_chunks[c].get() : nullptr;
        const Chunk* theirs = c < other.m_chunks.size() ? other.m_chunks[c].get() : nullptr;
        if (mine == theirs) continue;
        for (uint32_t i = 0; i < kChunk; ++i) {
            const NodeRecord* a = mine ? mine->nodes[i].get() : nullptr;
            const NodeRecord* b = theirs ? theirs->nodes[i].get() : nullptr;
            if (a != b) out.push_back(NodeId(static_cast<uint32_t>(c) * kChunk + i));
        }
    }
    return out;
}

size_t NodeMap::ownedBytes(const NodeMap* previous) const
{
    size_t bytes = m_chunks.capacity() * sizeof(m_chunks[0]);
    for (size_t c = 0; c < m_chunks.size(); ++c) {
        const Chunk* theirs =
            previous && c < previous->m_chunks.size() ? previous->m_chunks[c].get() : nullptr;
        if (!m_chunks[c] || m_chunks[c].get() == theirs) continue;
        bytes += sizeof(Chunk);
        for (uint32_t i = 0; i < kChunk; ++i) {
            const NodePtr& node = m_chunks[c]->nodes[i];
            if (!node || (theirs && theirs->nodes[i] == node)) continue;
            bytes += sizeof(NodeRecord) + node->operands.capacity() * sizeof(ValueRef) +
                     node->name.capacity() + node->op.capacity() +
                     node->origin.capacity() * sizeof(SourceId) +
                     node->attrs.entries().capacity() * sizeof(node->attrs.entries()[0]) +
                     node->types.size() * sizeof(TensorType);
            for (const TensorType& type : node->types) bytes += type.shape.capacity() * sizeof(Dim);
        }
    }
    return bytes;
}

Module::Module()
    : m_sources(std::make_shared<std::vector<SourceNode>>())
    , m_ids(std::make_shared<IdSource>())
{
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

void Module::eraseKernel(const std::string& name) { m_kernels.own().erase(name); }

void Module::setSources(std::shared_ptr<const std::vector<SourceNode>> sources)
{
    m_sources = std::move(sources);
}

std::map<ValueRef, std::vector<NodeId>> usesOf(const Module& module, const GraphFunction& function)
{
    std::map<ValueRef, std::vector<NodeId>> uses;
    for (const NodeId id : function.order) {
        for (const ValueRef& operand : module.node(id).operands) {
            if (!operand.node.isValid()) continue;
            std::vector<NodeId>& users = uses[operand];
            if (users.empty() || users.back() != id) users.push_back(id);
        }
    }
    return uses;
}

} // namespace tenon::core
