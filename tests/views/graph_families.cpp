// SPDX-License-Identifier: GPL-3.0-or-later
// Modules node by node; the same number of nodes gives the same graph.
#include "tests/views/graph_families.h"

#include <memory>
#include <random>
#include <string>

namespace tenon::tests {

using namespace core;

namespace {

const TensorType kFamilyType{kFloat32, makeShape({1, 8, 16, 16})};

/// Adds nodes to the main function of a new module.
class Builder
{
public:
    Builder()
    {
        m_main.id = m_module.ids().nextFunction();
        m_main.name = "main";
        m_module.setMain(m_main.id);
    }
    NodeId input(const std::string& name)
    {
        NodeRecord record;
        record.id = m_module.ids().nextNode();
        record.kind = NodeKind::Parameter;
        record.name = name;
        record.types = {kFamilyType};
        m_main.params.push_back(record.id);
        const NodeId id = record.id;
        m_module.setNode(std::move(record));
        return id;
    }
    NodeId node(const std::string& op, const std::vector<NodeId>& operands)
    {
        std::vector<ValueRef> values;
        for (const NodeId operand : operands) values.push_back({operand, 0});
        NodeRecord record = newOpNode(m_module, op, values);
        record.name = op + "_" + std::to_string(m_sources->size());
        record.types = {kFamilyType};
        record.origin = {SourceId(static_cast<uint32_t>(m_sources->size()))};
        m_sources->push_back({record.name, op, "", {}});
        m_main.order.push_back(record.id);
        const NodeId id = record.id;
        m_module.setNode(std::move(record));
        return id;
    }
    int size() const { return static_cast<int>(m_main.order.size()); }
    /// The `i`-th node.
    NodeId at(int i) const { return m_main.order[static_cast<size_t>(i)]; }
    Module finish(NodeId last)
    {
        m_main.results = {{last, 0}};
        m_main.resultNames = {"result"};
        m_module.setFunction(m_main);
        m_module.setSources(m_sources);
        return m_module;
    }

private:
    Module m_module;
    GraphFunction m_main;
    std::shared_ptr<std::vector<SourceNode>> m_sources =
        std::make_shared<std::vector<SourceNode>>();
};

NodeId convolution(Builder& b, NodeId x)
{
    return b.node("nn.relu", {b.node("nn.batch_norm", {b.node("nn.conv2d", {x})})});
}

Module chain(int count)
{
    Builder b;
    NodeId x = b.input("image");
    while (b.size() < count) x = convolution(b, x);
    return b.finish(x);
}

Module ladder(int count)
{
    Builder b;
    NodeId x = b.input("image");
    while (b.size() < count) {
        const NodeId inner = b.node("nn.batch_norm", {b.node("nn.conv2d", {convolution(b, x)})});
        x = b.node("nn.relu", {b.node("add", {inner, x})});
    }
    return b.finish(x);
}

Module transformer(int count)
{
    Builder b;
    NodeId x = b.input("tokens");
    const NodeId mask = b.input("mask");
    while (b.size() < count) {
        const NodeId normal = b.node("nn.batch_norm", {x});
        const NodeId query = b.node("nn.dense", {normal}), key = b.node("nn.dense", {normal});
        const NodeId scores = b.node("add", {b.node("nn.batch_matmul", {query, key}), mask});
        const NodeId mixed = b.node("nn.batch_matmul",
                                    {b.node("nn.softmax", {scores}), b.node("nn.dense", {normal})});
        x = b.node("add", {b.node("nn.dense", {mixed}), x});
        const NodeId wide = b.node("nn.relu", {b.node("nn.dense", {b.node("nn.batch_norm", {x})})});
        x = b.node("add", {b.node("nn.dense", {wide}), x});
    }
    return b.finish(x);
}

Module randomDag(int count)
{
    constexpr int kNear = 20, kFarEvery = 50;
    Builder b;
    const NodeId image = b.input("image");
    std::mt19937 random(7);
    b.node("nn.conv2d", {image});
    while (b.size() < count) {
        const int size = b.size();
        const auto near = [&] {
            return b.at(size - 1 -
                        static_cast<int>(random() % static_cast<unsigned>(std::min(size, kNear))));
        };
        const NodeId one = near();
        if (random() % 3 == 0) {
            const NodeId other =
                random() % kFarEvery == 0
                    ? b.at(static_cast<int>(random() % static_cast<unsigned>(size)))
                    : near();
            b.node("add", {one, other});
        } else {
            const char* ops[] = {"nn.conv2d", "nn.relu", "nn.batch_norm"};
            b.node(ops[random() % 3], {one});
        }
    }
    return b.finish(b.at(b.size() - 1));
}

/// Every normalization becomes a multiplication and a sum.
views::PassStep simplified(const Module& before)
{
    views::PassStep step{QStringLiteral("SimplifyInference"),
                         QStringLiteral("simplify"),
                         false,
                         true,
                         0,
                         {},
                         before};
    std::vector<Patch> patches;
    for (const NodeId id : before.main().order) {
        const NodeRecord& node = before.node(id);
        if (node.op != "nn.batch_norm") continue;
        Patch patch{"expand-batch-norm", "inference needs no statistics", before.mainId(), {id}};
        NodeRecord multiply = newOpNode(step.after, "multiply", node.operands);
        multiply.types = node.types;
        NodeRecord add = newOpNode(step.after, "add", {{multiply.id, 0}});
        add.types = node.types;
        patch.replace.push_back({{id, 0}, {add.id, 0}});
        patch.nodes = {multiply, add};
        patch.erase = {id};
        patches.push_back(std::move(patch));
    }
    step.changes = applyPatches(step.after, patches).changes;
    sortTopologically(step.after, before.mainId());
    return step;
}

/// One call of `first` and its only reader `second`.
Patch fusePair(Module& module, NodeId first, NodeId second)
{
    GraphFunction function;
    function.id = module.ids().nextFunction();
    function.name = "fused";
    Patch patch{"fuse", "the activation is its only reader", module.mainId()};
    NodeRecord inner = module.node(first);
    NodeRecord call;
    call.id = module.ids().nextNode();
    call.kind = NodeKind::Call;
    call.callee = function.id;
    call.operands = inner.operands;
    call.types = {kFamilyType};
    for (ValueRef& operand : inner.operands) {
        NodeRecord parameter;
        parameter.id = module.ids().nextNode();
        parameter.kind = NodeKind::Parameter;
        parameter.types = {kFamilyType};
        function.params.push_back(parameter.id);
        operand = {parameter.id, 0};
        patch.nodes.push_back(parameter);
    }
    patch.nodes.push_back(inner);
    patch.nodes.push_back(call);
    patch.from = patch.moved = function.order = {first, second};
    function.results = {{second, 0}};
    patch.replace.push_back({{second, 0}, {call.id, 0}});
    patch.functions = {function};
    return patch;
}

views::PassStep fuse(const Module& before)
{
    views::PassStep step{
        QStringLiteral("FuseOps"), QStringLiteral("fuse"), false, true, 0, {}, before};
    const GraphFunction main = before.main();
    std::unordered_map<uint32_t, int> readers;
    for (const NodeId id : main.order)
        for (const ValueRef& operand : before.node(id).operands) ++readers[operand.node.value];
    for (const ValueRef& result : main.results) ++readers[result.node.value];
    std::vector<Patch> patches;
    for (const NodeId id : main.order) {
        const NodeRecord& node = before.node(id);
        if (node.op != "nn.relu") continue;
        const NodeId inner = node.operands[0].node;
        const NodeRecord& producer = before.node(inner);
        if (producer.kind == NodeKind::Parameter || producer.op == "nn.relu" ||
            readers[inner.value] != 1)
            continue;
        patches.push_back(fusePair(step.after, inner, id));
    }
    step.changes = applyPatches(step.after, patches).changes;
    for (const Patch& patch : patches)
        for (const GraphFunction& function : patch.functions)
            step.after.setFunction(function); // it keeps giving its own member
    sortTopologically(step.after, before.mainId());
    return step;
}

} // namespace

std::vector<GraphFamily> allFamilies()
{
    return {GraphFamily::Chain, GraphFamily::Ladder, GraphFamily::Transformer,
            GraphFamily::RandomDag};
}

const char* familyName(GraphFamily family)
{
    switch (family) {
    case GraphFamily::Chain: return "chain";
    case GraphFamily::Ladder: return "residual ladder";
    case GraphFamily::Transformer: return "transformer with one mask";
    case GraphFamily::RandomDag: break;
    }
    return "random DAG";
}

views::DocumentPtr familyDocument(GraphFamily family, int count)
{
    auto document = std::make_shared<views::Document>();
    document->name = document->path = QStringLiteral("family.onnx");
    document->opset = QStringLiteral("13");
    document->imported = family == GraphFamily::Chain         ? chain(count)
                         : family == GraphFamily::Ladder      ? ladder(count)
                         : family == GraphFamily::Transformer ? transformer(count)
                                                              : randomDag(count);
    document->passes.push_back(simplified(document->imported));
    document->passes.push_back(fuse(document->passes.back().after));
    return document;
}

} // namespace tenon::tests
