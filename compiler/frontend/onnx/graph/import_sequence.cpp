// SPDX-License-Identifier: Apache-2.0
// Sequences as lists of names: what is put together and taken apart inside a model needs no
// sequence at run time.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/import/sized.h"
#include "compiler/frontend/onnx/graph/onnx_graph.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr size_t kMaxElements = 1 << 16;

const std::vector<std::string>& sequenceAt(OnnxNode& node, size_t input)
{
    static const std::vector<std::string> kNone;
    if (const std::vector<std::string>* elements = node.elements(input)) return *elements;
    node.fail(DiagnosticCode::BadModel, "input " + std::to_string(input) + " must be a sequence");
    return kNone;
}

void outputSequence(OnnxNode& node, size_t output, std::vector<std::string> elements)
{
    if (elements.size() > kMaxElements)
        return node.fail(DiagnosticCode::UnsupportedFeature, "a sequence of " +
                                                                 std::to_string(elements.size()) +
                                                                 " tensors is too long");
    node.outputValue(output,
                     {.type = untypedValue(), .isTyped = true, .elements = std::move(elements)});
}

/// The position that input `input` names among `count`, or `fallback` when it is absent.
size_t positionOf(OnnxNode& node, size_t input, size_t count, size_t fallback)
{
    if (!node.has(input)) return fallback;
    const std::vector<int64_t> given = node.staticIntegers(input);
    if (node.hasFailed()) return 0;
    const auto extent = static_cast<int64_t>(count);
    if (given.size() != 1 || given[0] < -extent || given[0] >= extent) {
        node.fail(DiagnosticCode::BadAttribute, "the position [" + join(given, ", ") +
                                                    "] is outside [-" + std::to_string(extent) +
                                                    ", " + std::to_string(extent) + ")");
        return 0;
    }
    return static_cast<size_t>(given[0] < 0 ? given[0] + extent : given[0]);
}

/// ConcatFromSequence of tensors that are stacked along a first axis.
void joinStacked(OnnxNode& node, ValueRef all, bool isNewAxis)
{
    const Shape shape = node.typeOf(all).shape;
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t axis = node.axisOf(node.integer("axis", 0), isNewAxis ? rank : rank - 1);
    if (node.hasFailed()) return;
    Formula f(node);
    std::vector<int64_t> axes = counted(1, rank);
    axes.insert(axes.begin() + axis, 0);
    const ValueRef moved = axis == 0 ? all : f.transpose(all, axes);
    if (isNewAxis) return node.output(0, moved);
    Shape joined(shape.begin() + 1, shape.end());
    Dim& extent = joined[static_cast<size_t>(axis)];
    extent = extent * shape[0];
    node.output(0, reshapedTo(node, moved, joined));
}

/// Where each piece of an axis ends.
std::vector<int64_t> endsOf(OnnxNode& node, int64_t extent)
{
    std::vector<int64_t> sizes{1};
    const bool isList = node.has(1) && node.rank(1) == 1;
    if (node.has(1)) sizes = node.staticIntegers(1);
    if (node.hasFailed()) return {};
    const bool isPositive = std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) {
        return size >= (isList ? 0 : 1) && size <= std::max<int64_t>(extent, 1);
    });
    std::vector<int64_t> ends;
    int64_t at = 0;
    if (isPositive && isList)
        for (const int64_t size : sizes) ends.push_back(at += size);
    if (isPositive && !isList && sizes.size() == 1)
        while (at < extent && ends.size() <= kMaxElements)
            ends.push_back(at = std::min(at + sizes[0], extent));
    if (!isPositive || at != extent)
        node.fail(DiagnosticCode::BadAttribute,
                  "the sizes [" + join(sizes, ", ") + "] do not split an axis of " +
                      std::to_string(extent),
                  "split");
    return ends;
}

} // namespace

void OnnxGraph::importSequenceConstruct(OnnxNode& node)
{
    std::vector<std::string> names;
    for (int i = 0; i < node.proto().input_size(); ++i) {
        const auto input = static_cast<size_t>(i);
        if (node.type(input).dtype != node.type(0).dtype || node.elements(input))
            node.fail(DiagnosticCode::DtypeMismatch,
                      "the elements of a sequence must be tensors of one type");
        names.push_back(node.proto().input(i));
    }
    if (names.empty())
        node.fail(DiagnosticCode::BadOperandCount, "a sequence is constructed from one tensor on");
    outputSequence(node, 0, std::move(names));
}

void OnnxGraph::importSequenceEmpty(OnnxNode& node)
{
    node.integer("dtype", 1);
    outputSequence(node, 0, {});
}

void OnnxGraph::importSequenceInsert(OnnxNode& node)
{
    std::vector<std::string> names = sequenceAt(node, 0);
    node.type(1);
    if (node.elements(1))
        node.fail(DiagnosticCode::UnsupportedFeature, "a sequence of sequences is not supported");
    size_t at = names.size();
    if (node.has(2)) {
        const std::vector<int64_t> given = node.staticIntegers(2);
        const auto count = static_cast<int64_t>(names.size());
        const bool fits = given.size() == 1 && given[0] >= -count && given[0] <= count;
        if (!fits)
            node.fail(DiagnosticCode::BadAttribute, "the position [" + join(given, ", ") +
                                                        "] is outside [-" + std::to_string(count) +
                                                        ", " + std::to_string(count) + "]");
        if (node.hasFailed()) return;
        at = static_cast<size_t>(given[0] < 0 ? given[0] + count : given[0]);
    }
    if (node.hasFailed()) return;
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(at), node.proto().input(1));
    outputSequence(node, 0, std::move(names));
}

void OnnxGraph::importSequenceErase(OnnxNode& node)
{
    std::vector<std::string> names = sequenceAt(node, 0);
    if (names.empty()) node.fail(DiagnosticCode::BadModel, "the sequence is empty already");
    const size_t at = positionOf(node, 1, names.size(), names.size() - 1);
    if (node.hasFailed()) return;
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(at));
    outputSequence(node, 0, std::move(names));
}

void OnnxGraph::importSequenceAt(OnnxNode& node)
{
    const std::vector<std::string>& names = sequenceAt(node, 0);
    if (!node.has(1)) node.input(1); // says that it is missing
    const size_t at = positionOf(node, 1, names.size(), 0);
    if (node.hasFailed()) return;
    node.forward(0, *m_state.find(names[at]), "it takes a tensor out of a list known at import");
}

void OnnxGraph::importSequenceLength(OnnxNode& node)
{
    const std::vector<std::string>& names = sequenceAt(node, 0);
    if (node.hasFailed()) return;
    if (node.isStacked(0))
        return node.outputDims(0, {m_state.find(names[0])->type.shape.at(0)}, true);
    const auto count = static_cast<int64_t>(names.size());
    node.outputConstant(0, Tensor::of<int64_t>(kInt64, {}, {count}));
}

void OnnxGraph::importSplitToSequence(OnnxNode& node)
{
    Formula f(node);
    const int64_t axis = node.axisOf(node.integer("axis", 0), node.rank(0));
    const bool keepsAxis = node.integer("keepdims", 1) != 0 || node.has(1);
    if (node.elements(0)) node.fail(DiagnosticCode::BadModel, "the input must be a tensor");
    if (node.hasFailed()) return;
    const auto extent = node.type(0).shape[static_cast<size_t>(axis)].constant();
    if (!extent) {
        node.shape(0); // says that the dimension is needed
        return;
    }
    std::vector<ImportedValue> pieces;
    int64_t begin = 0;
    for (const int64_t end : endsOf(node, *extent)) {
        const ValueRef piece = f.slice(node.input(0), axis, begin, end);
        const ValueRef shown = keepsAxis ? piece : f.squeeze(piece, {axis});
        pieces.push_back({.ref = shown, .type = node.typeOf(shown), .isTyped = true});
        begin = end;
    }
    outputElements(node, 0, std::move(pieces));
}

void OnnxGraph::outputElements(OnnxNode& node, size_t output, std::vector<ImportedValue> values)
{
    if (node.hasFailed() || !node.usesOutput(output)) return;
    std::vector<std::string> names;
    for (ImportedValue& value : values) {
        value.name = node.proto().output(static_cast<int>(output)) + "[" +
                     std::to_string(names.size()) + "]";
        names.push_back(value.name);
        if (!m_state.define(std::move(value)))
            node.fail(DiagnosticCode::BadModel,
                      "the name " + quoted(names.back()) + " is defined twice");
    }
    outputSequence(node, output, std::move(names));
}

void OnnxGraph::importConcatFromSequence(OnnxNode& node)
{
    Formula f(node);
    const std::vector<std::string>& names = sequenceAt(node, 0);
    const bool isStacked = node.integer("new_axis", 0) != 0;
    if (!node.hasAttr("axis"))
        node.fail(DiagnosticCode::BadAttribute, "attribute `axis` is missing", "axis");
    if (names.empty())
        node.fail(DiagnosticCode::ShapeMismatch, "an empty sequence cannot be joined");
    if (node.hasFailed()) return;
    std::vector<ValueRef> parts;
    for (const std::string& name : names) parts.push_back(m_state.place(*m_state.find(name)));
    if (node.isStacked(0)) return joinStacked(node, parts[0], isStacked);
    const auto rank = static_cast<int64_t>(node.typeOf(parts[0]).shape.size());
    const int64_t axis = node.axisOf(node.integer("axis", 0), rank + int64_t{isStacked});
    if (isStacked)
        for (ValueRef& part : parts) part = f.expand(part, axis);
    node.output(0, f.concat(parts, axis));
}

void OnnxGraph::importSequenceMap(OnnxNode& node)
{
    const tenon_onnx::GraphProto* graph = node.graphAttr("body");
    const size_t count = sequenceAt(node, 0).size();
    for (size_t i = 1; i < node.inputCount(); ++i)
        if (node.elements(i) && node.elements(i)->size() != count)
            node.fail(DiagnosticCode::ShapeMismatch, "the sequences differ in length");
    if (node.hasFailed()) return;
    const bool fits = graph->input_size() == static_cast<int>(node.inputCount()) &&
                      graph->output_size() == static_cast<int>(node.outputCount());
    if (!fits)
        return node.fail(DiagnosticCode::BadModel,
                         "the body's inputs and outputs do not fit the node's");
    std::vector<std::vector<ImportedValue>> made(node.outputCount());
    for (size_t k = 0; k < count && !node.hasFailed(); ++k) {
        Types params;
        std::vector<ValueRef> arguments;
        for (size_t i = 0; i < node.inputCount(); ++i) {
            const std::vector<std::string>* elements = node.elements(i);
            arguments.push_back(elements ? m_state.place(*m_state.find((*elements)[k]))
                                         : node.input(i));
            params.push_back(node.typeOf(arguments.back()));
        }
        const auto body =
            importBody(*graph, params,
                       m_state.sources[node.source().value].name + "[" + std::to_string(k) + "]");
        if (!body)
            return node.fail(DiagnosticCode::UnsupportedOperator, "the body cannot be imported");
        std::vector<ImportedValue> results = inlineBody(*body, arguments);
        for (size_t i = 0; i < results.size(); ++i) made[i].push_back(std::move(results[i]));
    }
    for (size_t i = 0; i < made.size(); ++i) outputElements(node, i, std::move(made[i]));
}

} // namespace tenon::compiler
