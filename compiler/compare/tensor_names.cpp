// SPDX-License-Identifier: Apache-2.0
// Which values of the module are which tensors of the file: a node's last value is its first output
// where one node made it, otherwise only the node's name is known.
#include "compiler/compare/tensor_names.h"

#include "compiler/compare/channel_names.h"
#include "compiler/executor/program_parts.h"
#include "compiler/frontend/importer.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using OutputNames = std::vector<std::vector<std::string>>;

/// What the file calls the results of its nodes; empty where nodes go by their tensors' names.
Result<OutputNames> outputNamesOf(const std::string& format, const std::string& path)
{
    for (const Importer* importer : allImporters()) {
        if (importer->format != format || !importer->outputNames) continue;
        auto file = MappedFile::open(path);
        if (!file) return file.error();
        return importer->outputNames(path, **file);
    }
    return OutputNames();
}

void add(std::vector<std::string>& names, const std::vector<std::string>& more)
{
    for (const std::string& name : more)
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
}

/// The last node that each source node was imported as.
std::map<SourceId, NodeId> lastNodes(const Module& module)
{
    std::map<SourceId, NodeId> out;
    for (const NodeId id : module.main().order)
        if (const NodeRecord& node = module.node(id);
            node.kind == NodeKind::Op && node.origin.size() == 1)
            out[node.origin[0]] = id;
    return out;
}

/// Quantized tensors also go by the names of the real values that they stand for, and what is real
/// before or again by theirs.
void addRealNames(const Module& module, TensorNames& names)
{
    const auto addOf = [&](ValueRef to, ValueRef from) {
        if (const auto found = names.find(from); found != names.end())
            add(names[to], std::vector<std::string>(found->second));
    };
    for (const NodeId id : module.main().order) {
        const NodeRecord& node = module.node(id);
        if (isOp(node, qnnQuantizeOp)) addOf({id, 0}, node.operands[0]);
        if (!isOp(node, qnnDequantizeOp)) continue;
        addOf(node.operands[0], {id, 0});
        addOf({id, 0}, node.operands[0]);
    }
    for (const NodeId id : module.main().order)
        if (const NodeRecord& node = module.node(id); isOp(node, qnnQuantizeOp))
            if (module.node(node.operands[0].node).kind == NodeKind::Op)
                addOf(node.operands[0], {id, 0});
}

/// What is reshaped into an output is the same tensor: a kernel writes it, and the reshape is no
/// kernel.
void addViewedNames(const Module& module, TensorNames& names)
{
    const std::vector<NodeId>& order = module.main().order;
    for (size_t i = order.size(); i-- > 0;) {
        const NodeRecord& node = module.node(order[i]);
        if (!isOneOf(node, reshapeOp, squeezeOp, expandDimsOp)) continue;
        if (const auto found = names.find({node.id, 0}); found != names.end())
            add(names[node.operands[0]], std::vector<std::string>(found->second));
    }
}

ReferenceValues matched(const TensorNames& names, const std::vector<ValueRef>& wanted,
                        const std::map<std::string, Tensor>& tensors)
{
    ReferenceValues out;
    for (const ValueRef value : wanted)
        if (const auto known = names.find(value); known != names.end())
            if (const auto found = counterpartOf(known->second, tensors))
                if (auto tensor = inLayout(found->at->second, found->axes))
                    out.emplace(value, std::move(*tensor));
    return out;
}

/// A value's own name comes first in its list: it counts before those that others have of it, as
/// integers have the names of the real values that they stand for.
std::map<std::string, ValueRef> valuesByName(const TensorNames& names)
{
    std::map<std::string, ValueRef> out;
    bool isLeft = true;
    for (size_t place = 0; isLeft; ++place) {
        isLeft = false;
        for (const auto& [value, list] : names) {
            if (place >= list.size()) continue;
            out.try_emplace(list[place], value);
            isLeft = true;
        }
    }
    return out;
}

/// A value of the other model, and what brings it into the layout of this one's.
struct Paired
{
    ValueRef value;
    std::vector<int64_t> axes;
};

std::map<ValueRef, Paired> pairsOf(const TensorNames& names, const std::vector<ValueRef>& wanted,
                                   const std::map<std::string, ValueRef>& valueOf)
{
    std::map<ValueRef, Paired> out;
    for (const ValueRef value : wanted)
        if (const auto known = names.find(value); known != names.end())
            if (const auto found = counterpartOf(known->second, valueOf))
                out.emplace(value, Paired{found->at->second, found->axes});
    return out;
}

Diagnostic nothingMatches(const TensorNames& names, const std::string& what)
{
    std::string example;
    if (!names.empty() && !names.begin()->second.empty())
        example = "; this model's are called " + core::quoted(names.begin()->second.front()) +
                  " and the like";
    return makeError(DiagnosticCode::UnknownName,
                     "no tensor of the reference has the name of one that the " + what + example);
}

} // namespace

Result<TensorNames> tensorNames(const Loaded& loaded, const std::string& path)
{
    const auto outputs = outputNamesOf(loaded.facts.format, path);
    if (!outputs) return outputs.error();
    const Module& module = loaded.module;
    const GraphFunction& main = module.main();
    TensorNames names;
    for (size_t i = 0; i < main.results.size(); ++i)
        add(names[main.results[i]], {resultName(main, i)});
    for (const auto& [source, id] : lastNodes(module)) {
        const NodeRecord& node = module.node(id);
        const bool isKnown = source.value < outputs->size();
        const size_t count = isKnown ? (*outputs)[source.value].size() : 1;
        for (uint32_t i = 0; i < node.resultCount() && i < count; ++i)
            add(names[{id, i}], {isKnown ? (*outputs)[source.value][i] : node.name});
    }
    addRealNames(module, names);
    addViewedNames(module, names);
    return names;
}

ReferenceSource namedReference(TensorNames names, const NamedValues& tensors)
{
    std::map<std::string, Tensor> byName(tensors.begin(), tensors.end());
    return [names = std::move(names),
            byName = std::move(byName)](const std::vector<ValueRef>& wanted, const NamedValues&,
                                        JobContext&) -> Result<ReferenceValues> {
        ReferenceValues out = matched(names, wanted, byName);
        if (out.empty()) return nothingMatches(names, "compiled model computes");
        return out;
    };
}

ReferenceSource modelReference(TensorNames names, std::shared_ptr<const Loaded> other,
                               const TensorNames& otherNames, CompileOptions options,
                               ProgramRunner here)
{
    const std::map<std::string, ValueRef> valueOf = valuesByName(otherNames);
    auto source = levelZeroReference(std::move(other), std::move(options), std::move(here));
    return [names = std::move(names), valueOf, source = std::move(source)](
               const std::vector<ValueRef>& wanted, const NamedValues& inputs,
               JobContext& job) -> Result<ReferenceValues> {
        const auto pairs = pairsOf(names, wanted, valueOf);
        if (pairs.empty()) return nothingMatches(names, "compiled model computes");
        std::vector<ValueRef> asked;
        for (const auto& [value, theirs] : pairs) asked.push_back(theirs.value);
        std::sort(asked.begin(), asked.end());
        asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
        auto values = source(asked, inputs, job);
        if (!values) return values;
        ReferenceValues out;
        for (const auto& [value, theirs] : pairs)
            if (auto tensor = inLayout(values->at(theirs.value), theirs.axes))
                out.emplace(value, std::move(*tensor));
        return out;
    };
}

} // namespace tenon::compiler
