// SPDX-License-Identifier: Apache-2.0
// Takes nothing for granted: nobody vouches for the archive.
#include "compiler/frontend/mlf/library_graph.h"

#include "compiler/frontend/import/graph_state.h"
#include "core/base/printable.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace tenon::compiler {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostNodes = 1'000'000;
constexpr size_t kMostRank = 32;

Diagnostic badGraph(const std::string& why)
{
    return makeError(DiagnosticCode::BadModel, "graph: " + why);
}

Diagnostic badNode(size_t node, const std::string& why)
{
    return badGraph("node " + std::to_string(node) + " " + why);
}

const Json* find(const Json& object, const char* key)
{
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

Result<const Json*> listAt(const Json& object, const char* key)
{
    const Json* found = find(object, key);
    if (found && found->is_array()) return found;
    return badGraph(core::quoted(key) + " is no list");
}

std::string textOf(const Json& object, const char* key)
{
    const Json* found = find(object, key);
    return found && found->is_string() ? found->get<std::string>() : "";
}

/// For messages; what is nested deeply is not written out.
std::string shown(const Json& value) { return value.is_number() ? value.dump() : "no number"; }

/// Nothing for what is no number of [0, end).
std::optional<size_t> indexOf(const Json& value, size_t end)
{
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= end) return std::nullopt;
    return static_cast<size_t>(value.get<uint64_t>());
}

class GraphReader
{
public:
    explicit GraphReader(const Json& all)
        : m_all(all)
    {
    }

    Result<LibraryGraph> read()
    {
        for (const auto part :
             {&GraphReader::addNodes, &GraphReader::addResults, &GraphReader::addEntries})
            if (Status done = (this->*part)(); !done) return done.error();
        return std::move(m_graph);
    }

private:
    /// A value of the nodes so far: [node, output, version].
    Result<LibraryValue> valueOf(const Json& reference, const std::string& reader) const
    {
        if (!reference.is_array() || reference.size() < 2)
            return badGraph(reader + " reads what is no pair of a node and an output");
        const auto node = indexOf(reference[0], m_graph.nodes.size());
        if (!node)
            return badGraph(reader + " reads node " + shown(reference[0]) +
                            ", which does not stand before it; a graph has no cycles");
        const auto output = indexOf(reference[1], m_graph.nodes[*node].outputs);
        if (!output)
            return badGraph(reader + " reads output " + shown(reference[1]) + " of node " +
                            std::to_string(*node) + ", which has " +
                            std::to_string(m_graph.nodes[*node].outputs));
        return LibraryValue{*node, *output};
    }

    Result<size_t> outputsOf(const Json& node, size_t id) const
    {
        const Json* attrs = find(node, "attrs");
        const std::string said = attrs ? textOf(*attrs, "num_outputs") : "";
        size_t count = 0;
        const auto [end, failed] = std::from_chars(said.data(), said.data() + said.size(), count);
        if (failed == std::errc() && end == said.data() + said.size() && count > 0 &&
            count <= kMostNodes)
            return count;
        return badNode(id, "has no number of outputs");
    }

    Result<LibraryNode> nodeOf(const Json& json, size_t id) const
    {
        LibraryNode out{.name = textOf(json, "name"), .firstEntry = m_entries};
        const std::string op = textOf(json, "op");
        const auto inputs = listAt(json, "inputs");
        if (!inputs) return badNode(id, "has no list of inputs");
        if (op == "null") {
            if (!(*inputs)->empty()) return badNode(id, "is a source and reads others");
            return out;
        }
        if (op != "tvm_op")
            return badNode(id, "is " + core::quoted(elided(op)) + "; there are null and tvm_op");
        const Json* attrs = find(json, "attrs");
        out.function = attrs ? textOf(*attrs, "func_name") : "";
        if (out.function.empty()) return badNode(id, "names no function");
        const auto outputs = outputsOf(json, id);
        if (!outputs) return outputs.error();
        out.outputs = *outputs;
        for (const Json& each : **inputs) {
            const auto value = valueOf(each, "node " + std::to_string(id));
            if (!value) return value.error();
            out.inputs.push_back(*value);
        }
        return out;
    }

    Status addNodes()
    {
        const auto nodes = listAt(m_all, "nodes");
        if (!nodes) return nodes.error();
        if ((*nodes)->empty() || (*nodes)->size() > kMostNodes)
            return badGraph("has " + std::to_string((*nodes)->size()) + " nodes");
        for (const Json& each : **nodes) {
            auto node = nodeOf(each, m_graph.nodes.size());
            if (!node) return node.error();
            m_entries += node->outputs;
            m_graph.nodes.push_back(std::move(*node));
            if (m_entries > kMostNodes) return badGraph("has too many values");
        }
        return kDone;
    }

    Status addResults()
    {
        const auto heads = listAt(m_all, "heads");
        if (!heads) return heads.error();
        for (const Json& each : **heads) {
            const auto value = valueOf(each, "`heads`");
            if (!value) return value.error();
            m_graph.results.push_back(*value);
        }
        return kDone;
    }

    /// A list behind its kind, one element for each value: ["list_int", [...]].
    Result<const Json*> attribute(const char* key) const
    {
        const Json* attrs = find(m_all, "attrs");
        const Json* pair = attrs ? find(*attrs, key) : nullptr;
        if (!pair || !pair->is_array() || pair->size() != 2 || !(*pair)[1].is_array())
            return badGraph("attribute " + core::quoted(key) + " is no list");
        if ((*pair)[1].size() == m_entries) return &(*pair)[1];
        return badGraph("attribute " + core::quoted(key) + " has " +
                        std::to_string((*pair)[1].size()) + " elements for " +
                        std::to_string(m_entries) + " values");
    }

    Result<TensorType> typeOf(const Json& dtype, const Json& shape, size_t entry) const
    {
        const auto bad = [&](const std::string& why) {
            return badGraph("value " + std::to_string(entry) + " " + why);
        };
        const std::string said = dtype.is_string() ? dtype.get<std::string>() : "";
        const auto parsed = parseDataType(said == "uint1" ? "bool" : said);
        if (!parsed) return bad("has no data type");
        TensorType out{*parsed, {}};
        if (!shape.is_array() || shape.size() > kMostRank) return bad("has no shape");
        for (const Json& dim : shape) {
            if (!dim.is_number_unsigned() || dim.get<uint64_t>() > uint64_t{INT64_MAX})
                return bad("has a size of " + shown(dim));
            out.shape.push_back(dim.get<int64_t>());
        }
        if (isTooLarge(out.shape)) return bad("is " + out.text() + ", which is too large");
        return out;
    }

    Status addEntries()
    {
        const auto dtypes = attribute("dltype"), shapes = attribute("shape"),
                   storages = attribute("storage_id");
        for (const auto* each : {&dtypes, &shapes, &storages})
            if (!*each) return each->error();
        for (size_t i = 0; i < m_entries; ++i) {
            auto type = typeOf((**dtypes)[i], (**shapes)[i], i);
            if (!type) return type.error();
            const auto storage = indexOf((**storages)[i], m_entries);
            if (!storage)
                return badGraph("value " + std::to_string(i) + " lies in storage " +
                                shown((**storages)[i]) + ", which there cannot be");
            m_graph.types.push_back(std::move(*type));
            m_graph.storages.push_back(static_cast<int64_t>(*storage));
        }
        return kDone;
    }

    const Json& m_all;
    LibraryGraph m_graph;
    size_t m_entries = 0;
};

} // namespace

Result<LibraryGraph> readLibraryGraph(std::string_view json)
{
    const Json all = Json::parse(json, nullptr, false);
    if (all.is_discarded()) return badGraph("is no JSON");
    return GraphReader(all).read();
}

} // namespace tenon::compiler
