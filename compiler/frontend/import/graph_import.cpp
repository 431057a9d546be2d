// SPDX-License-Identifier: Apache-2.0
// Names, problems, nodes and outputs of a graph that is imported.
#include "compiler/frontend/import/graph_import.h"

#include "core/base/text.h"

#include <queue>

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Calls `fn` with the names that a node and its bodies read.
template <typename Fn>
void forEachRead(const NodeNames& node, const Fn& fn)
{
    for (const std::string& name : node.inputs) fn(name);
    for (const std::string& name : node.readInside) fn(name);
}

} // namespace

GraphImport::GraphImport(std::string file, const ImportOptions& options)
    : m_file(std::move(file))
    , m_dims(options.dims)
    , m_options(options)
{
}

void GraphImport::report(Diagnostic diagnostic)
{
    diagnostic.location.file = m_file;
    diagnostic.location.graphPath = m_path;
    m_diagnostics.push_back(std::move(diagnostic));
}

void GraphImport::report(Diagnostic diagnostic, SourceId source)
{
    diagnostic.location.node = m_state.sources[source.value].name;
    diagnostic.location.op = m_state.sources[source.value].op;
    report(std::move(diagnostic));
}

bool GraphImport::isFirstComplaint(SourceId source) const
{
    return m_diagnostics.empty() ||
           m_diagnostics.back().location.node != m_state.sources[source.value].name;
}

void GraphImport::addNames(NodeNames names)
{
    forEachRead(names, [&](const std::string& name) { addReadName(name); });
    for (const std::string& output : names.outputs)
        if (!output.empty()) m_producers.emplace(output, m_nodes.size());
    m_nodes.push_back(std::move(names));
}

std::vector<int> GraphImport::sortedNodes()
{
    // The file must be sorted already; accept any order without a cycle.
    std::vector<size_t> waiting(m_nodes.size(), 0);
    std::vector<std::vector<int>> users(m_nodes.size());
    bool isSorted = true;
    for (size_t i = 0; i < m_nodes.size(); ++i)
        forEachRead(m_nodes[i], [&](const std::string& input) {
            const auto found = m_producers.find(input);
            if (found == m_producers.end()) return;
            isSorted = isSorted && found->second < i;
            ++waiting[i];
            users[found->second].push_back(static_cast<int>(i));
        });
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (size_t i = 0; i < m_nodes.size(); ++i)
        if (waiting[i] == 0) ready.push(static_cast<int>(i));
    std::vector<int> order;
    while (!ready.empty()) {
        order.push_back(ready.top());
        ready.pop();
        for (const int user : users[static_cast<size_t>(order.back())])
            if (--waiting[static_cast<size_t>(user)] == 0) ready.push(user);
    }
    if (order.size() < m_nodes.size()) {
        for (size_t i = 0; i < m_nodes.size(); ++i)
            if (waiting[i] > 0) {
                report(makeError(DiagnosticCode::BadModel,
                                 "the node takes part in a cycle or depends on one"),
                       SourceId(m_firstSource + static_cast<uint32_t>(i)));
                order.push_back(static_cast<int>(i));
            }
    } else if (!isSorted) {
        report(makeWarning(DiagnosticCode::BadModel,
                           "the nodes are not in topological order; they were sorted"));
    }
    return order;
}

void GraphImport::defineUnknownInputs(const std::vector<std::string>& inputs, SourceId source)
{
    std::set<std::string> reported;
    for (const std::string& name : inputs) {
        if (name.empty() || m_state.find(name) || !reported.insert(name).second) continue;
        // In a cycle the name is produced, only too late; that has been said.
        if (!m_producers.contains(name))
            report(makeError(DiagnosticCode::BadModel,
                             "the node reads " + quoted(name) + ", which nothing produces",
                             {.detail = name}),
                   source);
        m_state.define({.name = name, .type = untypedValue()});
    }
}

void GraphImport::defineLentMemory(const std::vector<std::string>& inputs)
{
    for (const std::string& name : inputs)
        if (!name.empty() && !m_state.find(name))
            m_state.define({.name = name, .type = untypedValue()});
}

bool GraphImport::settle(NodeImport& node, const std::string& chooser)
{
    node.checkInputsSeen();
    for (Diagnostic& note : node.notes()) report(std::move(note), node.source());
    if (!node.hasFailed()) {
        node.foldIntegers();
        node.finish();
        return true;
    }
    // Of two branches that do not fit one another, or of which one cannot be imported, the value of
    // an input may choose the other.
    const bool isChoice = !chooser.empty() && node.neededValue().empty() &&
                          (node.error().code == DiagnosticCode::UnsupportedFeature ||
                           node.error().code == DiagnosticCode::UnsupportedOperator) &&
                          !inputsBehind(chooser).empty();
    Diagnostic error = node.error();
    if (isChoice) error.message += ", unless it is known which one runs; that follows";
    report(withNeededValues(std::move(error), isChoice ? chooser : node.neededValue()),
           node.source());
    node.rollBack();
    return false;
}

void GraphImport::addOpaque(const std::string& op, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs,
                            const std::vector<std::optional<TensorType>>& declared, SourceId source)
{
    std::vector<ValueRef> operands;
    for (const std::string& name : inputs) {
        ImportedValue* value = name.empty() ? nullptr : m_state.find(name);
        operands.push_back(value ? m_state.place(*value) : ValueRef{});
    }
    Types types;
    for (const auto& type : declared) types.push_back(type.value_or(untypedValue()));
    const NodeId id = m_state.addOpaque(op, std::move(operands), types, source);
    for (uint32_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].empty()) continue;
        ImportedValue value{.name = outputs[i],
                            .ref = {id, i},
                            .type = types[i],
                            .isTyped = declared[i].has_value()};
        ImportedValue* known = m_state.find(value.name);
        const bool isPlaceholder =
            known && !known->ref.node.isValid() && !known->constant && !known->dims;
        if (isPlaceholder)
            *known = std::move(value);
        else if (!m_state.define(std::move(value)) && isFirstComplaint(source))
            report(
                makeError(DiagnosticCode::BadModel, "the name " + quoted(outputs[i]) +
                                                        " is defined twice; names must be unique "
                                                        "in a graph"),
                source);
    }
}

void GraphImport::addOutputs(const std::vector<std::string>& names)
{
    for (const std::string& name : names) {
        ImportedValue* value = m_state.find(name);
        if (value && value->elements) {
            report(unsupportedSequence("output " + quoted(name)));
            continue;
        }
        const ValueRef ref = value ? m_state.place(*value) : ValueRef{};
        if (!ref.node.isValid()) {
            report(makeError(
                DiagnosticCode::BadModel,
                "the output " + quoted(name) +
                    (value ? " has no value that can be computed" : " is produced by no node"),
                {.detail = name}));
            continue;
        }
        m_state.function.results.push_back(ref);
        m_state.function.resultNames.push_back(name);
    }
    if (names.empty()) report(makeError(DiagnosticCode::BadModel, "the graph has no outputs"));
}

Loaded GraphImport::take()
{
    Loaded loaded;
    loaded.changes = m_state.ledger();
    loaded.module = m_state.finish();
    loaded.diagnostics = std::move(m_diagnostics);
    loaded.neededValues = std::move(m_neededValues);
    return loaded;
}

Diagnostic unsupportedSequence(const std::string& what)
{
    return makeError(DiagnosticCode::UnsupportedDtype,
                     what + " is a sequence; compiled models return tensors only, so return its "
                            "elements one by one or join them");
}

} // namespace tenon::compiler
