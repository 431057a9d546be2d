// SPDX-License-Identifier: Apache-2.0
// FlexAttention: attention whose scores and weights pass through bodies of the model.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/graph/onnx_graph.h"
#include "core/base/text.h"

#include <cmath>

namespace tenon::compiler {
namespace {

/// [batch, heads, length, size] of an operand.
std::vector<int64_t> headsOf(OnnxNode& node, size_t input, const char* what)
{
    std::vector<int64_t> shape = node.shape(input);
    if (!node.hasFailed() && shape.size() != 4)
        node.fail(DiagnosticCode::ShapeMismatch, std::string(what) + " has the shape (" +
                                                     join(shape, ", ") + ") but must be of rank 4");
    shape.resize(4, 1);
    return shape;
}

/// Every key or value head once for each query head that shares it.
ValueRef shared(Formula& f, ValueRef heads, const std::vector<int64_t>& shape, int64_t times)
{
    if (times == 1) return heads;
    const ValueRef wide =
        f.broadcast(f.expand(heads, 2), {shape[0], shape[1], times, shape[2], shape[3]});
    return f.reshape(wide, {shape[0], shape[1] * times, shape[2], shape[3]});
}

std::optional<DataType> softmaxType(OnnxNode& node, DataType own)
{
    const int64_t asked = node.integer("softmax_precision", onnxTypeOf(own));
    const auto dtype = dataTypeOf(static_cast<int32_t>(asked));
    if (dtype && dtype->isFloat() && asked == onnxTypeOf(*dtype)) return dtype;
    node.fail(DiagnosticCode::BadAttribute, "softmax_precision names no float type",
              "softmax_precision");
    return std::nullopt;
}

} // namespace

/// `value` after the body of this attribute, if there is one.
ValueRef OnnxGraph::modified(OnnxNode& node, const char* attr, ValueRef value)
{
    if (node.hasFailed() || !node.hasAttr(attr)) return value;
    const tenon_onnx::GraphProto* graph = node.graphAttr(attr);
    if (node.hasFailed()) return {};
    if (graph->input_size() != 1 || graph->output_size() != 1) {
        node.fail(DiagnosticCode::BadModel,
                  std::string(attr) + " must have one input and one output", attr);
        return {};
    }
    const TensorType type = node.typeOf(value);
    const auto body =
        importBody(*graph, {type}, m_state.sources[node.source().value].name + "." + attr);
    if (!body) {
        node.fail(DiagnosticCode::UnsupportedOperator,
                  "the body " + quoted(attr) + " cannot be imported");
        return {};
    }
    if (!(body->results.at(0).type == type)) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  std::string(attr) + " makes " + body->results[0].type.text() + " of " +
                      type.text() + "; it must keep the type",
                  attr);
        m_state.eraseBody(body->function);
        return {};
    }
    return inlineBody(*body, {value}).at(0).ref;
}

void OnnxGraph::importFlexAttention(OnnxNode& node)
{
    Formula f(node);
    const std::vector<int64_t> query = headsOf(node, 0, "Q"), key = headsOf(node, 1, "K"),
                               value = headsOf(node, 2, "V");
    const DataType own = node.type(0).dtype;
    const auto precise = softmaxType(node, own);
    if (node.hasFailed()) return;
    const bool fits = query[3] > 0 && key[1] > 0 && query[1] % key[1] == 0 && query[0] == key[0] &&
                      query[3] == key[3] && value[0] == key[0] && value[1] == key[1] &&
                      value[2] == key[2];
    if (!fits)
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "Q (" + join(query, ", ") + "), K (" + join(key, ", ") + ") and V (" +
                             join(value, ", ") + ") do not fit together");
    const double scale = node.number("scale", 1 / std::sqrt(static_cast<double>(query[3])));
    const int64_t times = query[1] / key[1];
    const ValueRef keys = f.transpose(shared(f, node.input(1), key, times), {0, 1, 3, 2});
    ValueRef scores = f.multiply(f.matmul(node.input(0), keys), scale);
    // Nothing may fail between the two bodies: what was inlined stays.
    scores = modified(node, "score_mod", scores);
    ValueRef weights =
        f.cast(f.call("nn.softmax", {f.cast(scores, *precise)}, {{"axis", int64_t{3}}}), own);
    weights = modified(node, "prob_mod", weights);
    node.output(0, f.matmul(weights, shared(f, node.input(2), value, times)));
}

} // namespace tenon::compiler
