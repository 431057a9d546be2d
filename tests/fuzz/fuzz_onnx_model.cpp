// SPDX-License-Identifier: Apache-2.0
// Models that are well-formed protobuf and nonsense otherwise: small models of the zoo whose
// attributes, shapes, types and wires are changed as the bytes say, then imported and lowered.
#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "compiler/passes/pass.h"
#include "tests/fuzz/fuzz.h"
#include "tests/zoo/zoo.h"

#include <array>
#include <new>
#include <span>

namespace {

using namespace tenon;
using tenon_onnx::GraphProto;

/// Decisions read from the bytes; zeros once they are used up.
class Choices
{
public:
    explicit Choices(std::string_view bytes)
        : m_bytes(bytes)
    {
    }
    bool isEmpty() const { return m_bytes.empty(); }
    int below(int limit)
    {
        if (limit <= 0) return 0;
        unsigned value = 0;
        for (int i = 0; i < 2 && !m_bytes.empty(); ++i, m_bytes.remove_prefix(1))
            value = value << 8 | static_cast<uint8_t>(m_bytes.front());
        return static_cast<int>(value % static_cast<unsigned>(limit));
    }
    int64_t oddNumber()
    {
        static constexpr std::array<int64_t, 14> kNumbers = {
            -1, 0, 1, 2, 3, 4, 5, 7, -2, -3, 16, 1000, INT64_MIN, INT64_MAX};
        return kNumbers[static_cast<size_t>(below(static_cast<int>(kNumbers.size())))];
    }

private:
    std::string_view m_bytes;
};

void changeAttribute(GraphProto& graph, Choices& choices)
{
    auto& node = *graph.mutable_node(choices.below(graph.node_size()));
    if (node.attribute_size() == 0) return;
    auto& attribute = *node.mutable_attribute(choices.below(node.attribute_size()));
    if (attribute.ints_size() > 0)
        attribute.set_ints(choices.below(attribute.ints_size()), choices.oddNumber());
    else
        attribute.set_i(choices.oddNumber());
}

void changeWeight(GraphProto& graph, Choices& choices)
{
    if (graph.initializer_size() == 0) return;
    auto& tensor = *graph.mutable_initializer(choices.below(graph.initializer_size()));
    switch (choices.below(4)) {
    case 0:
        if (tensor.dims_size() > 0)
            tensor.set_dims(choices.below(tensor.dims_size()), choices.oddNumber());
        break;
    case 1: tensor.set_data_type(choices.below(27)); break;
    case 2: tensor.clear_dims(); break;
    default: tensor.add_dims(choices.oddNumber());
    }
}

void changeWiring(GraphProto& graph, Choices& choices)
{
    auto& node = *graph.mutable_node(choices.below(graph.node_size()));
    const auto& other = graph.node(choices.below(graph.node_size()));
    switch (choices.below(5)) {
    case 0: node.set_op_type(other.op_type()); break;
    case 1:
        if (node.input_size() > 0 && other.input_size() > 0)
            node.set_input(choices.below(node.input_size()), other.input(0));
        break;
    case 2:
        if (node.input_size() > 0) node.set_input(choices.below(node.input_size()), "");
        break;
    case 3: node.add_input(other.input_size() > 0 ? other.input(0) : ""); break;
    default: graph.mutable_node()->DeleteSubrange(choices.below(graph.node_size()), 1);
    }
}

void changeInput(GraphProto& graph, Choices& choices)
{
    auto& type = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type();
    auto& shape = *type.mutable_shape();
    if (choices.below(4) == 0)
        type.set_elem_type(choices.below(17));
    else if (shape.dim_size() > 0)
        shape.mutable_dim(choices.below(shape.dim_size()))->set_dim_value(choices.oddNumber());
}

const tenon_onnx::ModelProto& seedModel(int index)
{
    static const auto kModels = [] {
        std::array<tenon_onnx::ModelProto, 4> models;
        const test::ZooOptions small = {.imageSize = 8, .channelDivisor = 64, .nodes = 12};
        models[0].ParseFromString(test::makeDscnn(small));
        models[1].ParseFromString(test::makeUnet(small));
        models[2].ParseFromString(test::makeTransformer(small));
        models[3].ParseFromString(test::makeSynthetic(small));
        return models;
    }();
    return kModels[static_cast<size_t>(index)];
}

std::string changedModel(Choices choices)
{
    tenon_onnx::ModelProto model = seedModel(choices.below(4));
    auto& graph = *model.mutable_graph();
    for (int i = 0; i < 6 && !choices.isEmpty() && graph.node_size() > 0; ++i) {
        switch (choices.below(4)) {
        case 0: changeAttribute(graph, choices); break;
        case 1: changeWeight(graph, choices); break;
        case 2: changeWiring(graph, choices); break;
        default: changeInput(graph, choices);
        }
    }
    return model.SerializeAsString();
}

void importAndLower(const std::shared_ptr<const std::string>& bytes)
{
    auto loaded = compiler::loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, "", "fuzz", {});
    if (!loaded || core::hasErrors(loaded->diagnostics)) return;
    if (!compiler::dynamicInputErrors(loaded->module).empty()) return;
    const auto target = core::parseTarget("llvm -mcpu=x86-64-v3");
    core::JobContext job;
    const compiler::PassContext context = {.target = *target, .job = &job};
    const auto trace = compiler::runPasses(loaded->module, context, {});
    static_cast<void>(trace);
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const auto bytes =
        std::make_shared<const std::string>(changedModel(Choices(fuzzText(data, size))));
    try {
        importAndLower(bytes);
    } catch (const std::bad_alloc&) {
        // An error of its own at the job boundary; sizes may be legal and too large for this run.
    }
    return 0;
}
