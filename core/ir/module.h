// SPDX-License-Identifier: Apache-2.0
// Module: one immutable version of a whole program; versions share structure, so a hundred of them
// stay cheap.
#pragma once

#include "core/ir/node.h"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tenon::tir {
struct PrimFunc;
}

namespace tenon::core {

using PrimFuncPtr = std::shared_ptr<const tir::PrimFunc>;

/// A node of the model file as the frontend saw it; provenance always ends here.
struct SourceNode
{
    std::string name;               ///< as in the file; made up from op and index when empty there
    std::string op;                 ///< foreign operator, e.g. "Conv"
    std::string domain;             ///< "" for ai.onnx
    std::vector<std::string> scope; ///< outermost first, for hierarchy
};

/// Persistent map NodeId -> record in chunks of 64; a changed version copies only the chunks it
/// touches.
class NodeMap
{
public:
    const NodePtr& find(NodeId id) const; ///< null pointer when absent
    void set(NodeId id,
             NodePtr record); ///< null erases; copies the chunk first unless only this map owns it
    /// Calls fn(address, bytes) for the table and every chunk, fn(record) for every record.
    template <class StorageFn, class RecordFn>
    void visitStorage(StorageFn storage, RecordFn record) const
    {
        storage(m_chunks.data(), m_chunks.capacity() * sizeof(m_chunks[0]));
        for (const std::shared_ptr<Chunk>& chunk : m_chunks) {
            if (!chunk || !storage(chunk.get(), sizeof(Chunk))) continue;
            for (const NodePtr& node : chunk->nodes)
                if (node) record(*node);
        }
    }

private:
    static constexpr uint32_t kChunk = 64;
    struct Chunk
    {
        std::array<NodePtr, kChunk> nodes;
    };
    std::vector<std::shared_ptr<Chunk>> m_chunks;
};

struct GraphFunction
{
    FunctionId id;
    std::string name;
    std::vector<NodeId> params; ///< Parameter nodes, in order
    std::vector<NodeId> order;  ///< every node except the parameters, topologically sorted
    std::vector<ValueRef> results;
    std::vector<std::string> resultNames; ///< outside names of the results; may be empty
    Attrs attrs;                          ///< e.g. primitive=1, pattern="OutEWiseFusable"
};

using FunctionPtr = std::shared_ptr<const GraphFunction>;

/// A map that versions share until one of them changes it.
template <class Key, class Value>
class SharedMap
{
public:
    using Map = std::map<Key, Value>;
    const Map& get() const { return *m_map; }
    Map& own() ///< this version's; copied first unless only this one has it
    {
        if (m_map.use_count() > 1) m_map = std::make_shared<Map>(*m_map);
        return *m_map;
    }

private:
    std::shared_ptr<Map> m_map = std::make_shared<Map>();
};

/// Hands out ids unique for a whole compilation; shared by all versions.
class IdSource
{
public:
    IdSource() = default;
    IdSource(const IdSource& other) /// goes on where `other` stands, apart from it
        : m_node(other.m_node.load())
        , m_function(other.m_function.load())
    {
    }
    IdSource& operator=(const IdSource&) = delete;

    NodeId nextNode() { return NodeId(m_node.fetch_add(1)); }
    FunctionId nextFunction() { return FunctionId(m_function.fetch_add(1)); }

private:
    std::atomic<uint32_t> m_node{0};
    std::atomic<uint32_t> m_function{0};
};

/// Value type: copying a Module shares everything; the mutators below change only this copy.
class Module
{
public:
    Module();

    const NodeRecord& node(NodeId id) const; ///< CHECKs that it exists
    const NodePtr& findNode(NodeId id) const { return m_nodes.find(id); }
    const TensorType& type(ValueRef value) const; ///< CHECKs that it was inferred
    const GraphFunction& function(FunctionId id) const;
    const GraphFunction& main() const { return function(m_main); }
    FunctionId mainId() const { return m_main; }
    const std::map<FunctionId, FunctionPtr>& functions() const { return m_functions.get(); }
    const std::map<std::string, PrimFuncPtr>& kernels() const { return m_kernels.get(); }
    const std::vector<SourceNode>& sources() const { return *m_sources; }
    const NodeMap& nodes() const { return m_nodes; }
    IdSource& ids() const { return *m_ids; }
    /// A copy for a compilation of its own: its new ids follow this version's, whatever other
    /// compilations of the same model have handed out. So each gives the same ids, and tables
    /// by id do not grow with the number of compilations.
    Module withOwnIds() const;

    void setNode(NodeRecord record); ///< stores a record under record.id
    void eraseNode(NodeId id);
    void setFunction(GraphFunction function);
    void eraseFunction(FunctionId id);
    void setMain(FunctionId id) { m_main = id; }
    void setKernel(std::string name, PrimFuncPtr kernel);
    void setSources(std::shared_ptr<const std::vector<SourceNode>> sources);

private:
    NodeMap m_nodes;
    SharedMap<FunctionId, FunctionPtr> m_functions;
    SharedMap<std::string, PrimFuncPtr> m_kernels;
    std::shared_ptr<const std::vector<SourceNode>> m_sources;
    std::shared_ptr<IdSource> m_ids;
    FunctionId m_main;
};

} // namespace tenon::core
