// SPDX-License-Identifier: Apache-2.0
// Options, tensors and layouts of one operator.
#include "compiler/frontend/tflite/graph/tflite_node.h"

#include "compiler/frontend/tflite/file/element_types.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

const std::vector<int64_t> kToFirst{0, 3, 1, 2}, kToLast{0, 2, 3, 1};

} // namespace

std::vector<std::string> namesOf(const TfliteSubgraph& graph, const std::vector<int64_t>& ids)
{
    std::vector<std::string> names;
    for (const int64_t id : ids) {
        const TfliteTensor* tensor = id < 0 ? nullptr : &graph.tensors[static_cast<size_t>(id)];
        names.push_back(!tensor || tensor->isVariable ? std::string() : tensor->name);
    }
    return names;
}

TfliteNode::TfliteNode(GraphState& state, ChannelsFirst& layouts, const TfliteSubgraph& graph,
                       const TfliteOperator& op, SourceId source)
    : NodeImport(state, source, op.name, namesOf(graph, op.inputs), namesOf(graph, op.outputs))
    , m_graph(graph)
    , m_operator(op)
    , m_layouts(layouts)
{
}

int64_t TfliteNode::integer(int field, int64_t fallback) const
{
    return m_operator.options.number<int32_t>(field, static_cast<int32_t>(fallback));
}

int64_t TfliteNode::byte(int field, int64_t fallback) const
{
    return m_operator.options.number<int8_t>(field, static_cast<int8_t>(fallback));
}

bool TfliteNode::flag(int field, bool fallback) const
{
    return m_operator.options.number<uint8_t>(field, fallback ? 1 : 0) != 0;
}

double TfliteNode::number(int field, double fallback) const
{
    return static_cast<double>(
        m_operator.options.number<float>(field, static_cast<float>(fallback)));
}

std::vector<int64_t> TfliteNode::integers(int field) const
{
    return m_operator.options.integers(field);
}

const TfliteTensor* TfliteNode::tensorAt(const std::vector<int64_t>& ids, size_t index) const
{
    if (index >= ids.size() || ids[index] < 0) return nullptr;
    return &m_graph.tensors[static_cast<size_t>(ids[index])];
}

const TfliteTensor* TfliteNode::inputTensor(size_t input) const
{
    return tensorAt(m_operator.inputs, input);
}

const TfliteTensor* TfliteNode::outputTensor(size_t output) const
{
    return tensorAt(m_operator.outputs, output);
}

const TfliteTensor* TfliteNode::intermediate(size_t index) const
{
    return tensorAt(m_operator.intermediates, index);
}

namespace {

bool holdsQuantized(const TfliteTensor* tensor)
{
    if (!tensor || tensor->quantization.scales.empty()) return false;
    const auto dtype = tfliteDataType(tensor->type);
    return dtype && dtype->isInt() && !dtype->isBool() && dtype->bits <= 32;
}

} // namespace

bool TfliteNode::isQuantized(size_t input)
{
    return has(input) && holdsQuantized(inputTensor(input));
}

bool TfliteNode::isOutputQuantized(size_t output) const
{
    return holdsQuantized(outputTensor(output));
}

bool TfliteNode::isComplex(size_t input) const
{
    const TfliteTensor* tensor = inputTensor(input);
    return tensor && tensor->type == kTfliteComplex;
}

int64_t TfliteNode::fileRank(size_t input) { return rank(input) - (isComplex(input) ? 1 : 0); }

std::optional<DataType> TfliteNode::outputType(size_t output) const
{
    const TfliteTensor* tensor = outputTensor(output);
    return tensor ? tfliteDataType(tensor->type) : std::nullopt;
}

ValueRef TfliteNode::moved(ValueRef value, const std::vector<int64_t>& order)
{
    if (hasFailed()) return {};
    const Shape& shape = typeOf(value).shape;
    Shape target;
    std::vector<int64_t> sizes;
    for (const int64_t axis : order) target.push_back(shape[static_cast<size_t>(axis)]);
    const auto isOne = [&](size_t axis) { return shape[axis] == Dim(1); };
    // Where either the channels or the plane are single, the elements lie in the same order.
    const bool isFirst = order == kToLast;
    const bool isPlain =
        isFirst ? isOne(1) || (isOne(2) && isOne(3)) : isOne(3) || (isOne(1) && isOne(2));
    const auto known = constantShape(target);
    const ValueRef out = isPlain && known ? emit("reshape", {value}, {{"newshape", *known}})
                                          : emit("transpose", {value}, {{"axes", order}});
    if (!hasFailed()) m_layouts.moves.insert(out.node);
    return out;
}

bool TfliteNode::isChannelsFirst(size_t input)
{
    if (!has(input) || rank(input) != 4 || constant(input)) return false;
    const ValueRef value = this->input(input);
    return !hasFailed() && m_layouts.first.count(value) > 0;
}

ValueRef TfliteNode::toChannelsFirst(ValueRef value)
{
    if (hasFailed()) return {};
    const auto known = m_layouts.first.find(value);
    if (known != m_layouts.first.end()) return known->second;
    if (typeOf(value).shape.size() != 4) {
        fail(DiagnosticCode::ShapeMismatch,
             "a picture [N, H, W, C] is needed but the value is " + typeOf(value).text());
        return {};
    }
    const ValueRef out = moved(value, kToFirst);
    if (hasFailed()) return {};
    m_layouts.first[value] = out;
    m_keys.push_back(value);
    return out;
}

ValueRef TfliteNode::channelsFirst(size_t input) { return toChannelsFirst(this->input(input)); }

ValueRef TfliteNode::toChannelsLast(ValueRef value)
{
    const ValueRef last = moved(value, kToLast);
    if (hasFailed()) return {};
    m_layouts.first[last] = value;
    m_keys.push_back(last);
    return last;
}

void TfliteNode::outputChannelsFirst(size_t output, ValueRef value)
{
    this->output(output, toChannelsLast(value));
}

void TfliteNode::forgetLayouts()
{
    for (const ValueRef key : m_keys) m_layouts.first.erase(key);
}

} // namespace tenon::compiler
