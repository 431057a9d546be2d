// SPDX-License-Identifier: Apache-2.0
// Writes the graph JSON; one node per line, so that a diff of two files reads well.
#include "compiler/executor/graph_json.h"

#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <set>

namespace tenon::compiler {
namespace {

using Json = nlohmann::ordered_json;

size_t at(int index) { return static_cast<size_t>(index); }

/// The writer of TVM prints a bool as the unsigned integer of one bit that it is.
std::string dtypeText(core::DataType dtype) { return dtype.isBool() ? "uint1" : dtype.text(); }

/// Nodes in order, and for each tensor the node and output that yields it.
class GraphWriter
{
public:
    GraphWriter(const ExecutorProgram& program, const StoragePlan& storage)
        : m_program(program)
        , m_storage(storage)
        , m_entryOf(program.tensors.size(), Entry{-1, 0})
    {
    }

    std::string text();

private:
    struct Entry
    {
        int node;
        int output;
    };

    void addSource(int tensor);
    void addCall(const KernelCall& call);
    Entry entryOf(int tensor);
    Json reference(int tensor);
    int addNode(Json node, const std::vector<int>& outputs);
    std::string attributes() const;

    const ExecutorProgram& m_program;
    const StoragePlan& m_storage;
    std::vector<Entry> m_entryOf;
    std::vector<Json> m_nodes;
    std::vector<int> m_rows = {0};
    std::vector<int> m_sources;
    std::vector<int> m_entries; ///< entry id -> tensor
};

int GraphWriter::addNode(Json node, const std::vector<int>& outputs)
{
    const int id = static_cast<int>(m_nodes.size());
    m_nodes.push_back(std::move(node));
    for (size_t i = 0; i < outputs.size(); ++i) {
        m_entryOf[at(outputs[i])] = {id, static_cast<int>(i)};
        m_entries.push_back(outputs[i]);
    }
    m_rows.push_back(static_cast<int>(m_entries.size()));
    return id;
}

void GraphWriter::addSource(int tensor)
{
    m_sources.push_back(addNode(
        {{"op", "null"}, {"name", m_program.tensors[at(tensor)].name}, {"inputs", Json::array()}},
        {tensor}));
}

GraphWriter::Entry GraphWriter::entryOf(int tensor)
{
    const ProgramTensor& value = m_program.tensors[at(tensor)];
    if (m_entryOf[at(tensor)].node >= 0 || value.viewOf < 0) return m_entryOf[at(tensor)];
    Json attrs = {
        {"func_name", "__nop"}, {"num_inputs", "1"}, {"num_outputs", "1"}, {"flatten_data", "0"}};
    const Json source = reference(value.viewOf);
    addNode({{"op", "tvm_op"},
             {"name", value.name},
             {"attrs", std::move(attrs)},
             {"inputs", Json::array({source})}},
            {tensor});
    return m_entryOf[at(tensor)];
}

Json GraphWriter::reference(int tensor)
{
    const Entry entry = entryOf(tensor);
    CHECK(entry.node >= 0) << m_program.tensors[at(tensor)].name << " is read before it is written";
    return Json::array({entry.node, entry.output, 0});
}

void GraphWriter::addCall(const KernelCall& call)
{
    const ProgramKernel& kernel = m_program.kernels[at(call.kernel)];
    const size_t inputCount = call.arguments.size() - at(call.outputCount);
    Json inputs = Json::array();
    for (size_t i = 0; i < inputCount; ++i) inputs.push_back(reference(call.arguments[i]));
    Json attrs = {{"func_name", kernel.function},
                  {"num_inputs", std::to_string(inputCount)},
                  {"num_outputs", std::to_string(call.outputCount)},
                  {"flatten_data", "0"}};
    if (!kernel.textHash.empty()) attrs["hash"] = kernel.textHash;
    const auto outputs = call.arguments.begin() + static_cast<std::ptrdiff_t>(inputCount);
    addNode({{"op", "tvm_op"},
             {"name", call.name},
             {"attrs", std::move(attrs)},
             {"inputs", std::move(inputs)}},
            {outputs, call.arguments.end()});
}

std::string GraphWriter::attributes() const
{
    Json dtypes = Json::array();
    Json shapes = Json::array();
    Json storages = Json::array();
    Json devices = Json::array();
    for (const int tensor : m_entries) {
        dtypes.push_back(dtypeText(m_program.tensors[at(tensor)].dtype));
        shapes.push_back(m_program.tensors[at(tensor)].shape);
        storages.push_back(m_storage.storageOf[at(tensor)]);
        devices.push_back(1); // the device's type, despite the key's name
    }
    return "{\n    \"dltype\": " + Json::array({"list_str", std::move(dtypes)}).dump() +
           ",\n    \"device_index\": " + Json::array({"list_int", std::move(devices)}).dump() +
           ",\n    \"storage_id\": " + Json::array({"list_int", std::move(storages)}).dump() +
           ",\n    \"shape\": " + Json::array({"list_shape", std::move(shapes)}).dump() + "\n  }";
}

std::string GraphWriter::text()
{
    for (const int input : m_program.inputs) addSource(input);
    for (size_t t = 0; t < m_program.tensors.size(); ++t)
        if (m_program.tensors[t].role == TensorRole::Constant && m_program.tensors[t].viewOf < 0)
            addSource(static_cast<int>(t));
    for (const KernelCall& call : m_program.calls) addCall(call);
    Json heads = Json::array();
    for (const int output : m_program.outputs) heads.push_back(reference(output));

    std::vector<std::string> lines;
    for (const Json& node : m_nodes) lines.push_back("    " + node.dump());
    return "{\n  \"nodes\": [\n" + core::join(lines, ",\n") +
           "\n  ],\n  \"arg_nodes\": " + Json(m_sources).dump() +
           ",\n  \"heads\": " + heads.dump() + ",\n  \"attrs\": " + attributes() +
           ",\n  \"node_row_ptr\": " + Json(m_rows).dump() + "\n}\n";
}

} // namespace

core::Result<std::string> graphJson(const ExecutorProgram& program, const StoragePlan& storage)
{
    for (const ProgramTensor& tensor : program.tensors) {
        if (tensor.viewOf < 0 || tensor.bytes() == program.tensors[at(tensor.viewOf)].bytes())
            continue;
        return core::makeError(core::DiagnosticCode::UnsupportedFeature,
                               "the graph executor cannot place " + core::quoted(tensor.name) +
                                   " inside another tensor; use the AOT executor");
    }
    return GraphWriter(program, storage).text();
}

} // namespace tenon::compiler
