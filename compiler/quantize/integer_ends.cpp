// SPDX-License-Identifier: Apache-2.0
// Quantizers at the ends go away, and the graph's declarations change their type.
#include "compiler/quantize/integer_ends.h"

#include "compiler/quantize/float_graph.h"
#include "core/base/text.h"
#include "core/tensor/onnx_types.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;
using tenon_onnx::ValueInfoProto;

class EndWriter
{
public:
    explicit EndWriter(ModelProto& model)
        : m_model(model)
        , m_graph(*model.mutable_graph())
    {
    }

    /// All that read it are quantizers of one scale: their integers are the input.
    bool takesIntegers(ValueInfoProto& input, const LinearRange& range)
    {
        std::vector<int> quantizers;
        for (int i = 0; i < m_graph.node_size(); ++i)
            for (const std::string& read : m_graph.node(i).input()) {
                if (read != input.name()) continue;
                if (m_graph.node(i).op_type() != "QuantizeLinear") return false;
                quantizers.push_back(i);
            }
        if (quantizers.size() != 1) return false;
        const std::string integers = m_graph.node(quantizers[0]).output(0);
        erase(quantizers[0]);
        rename(integers, input.name());
        retype(input, range);
        return true;
    }

    /// The integers in front of the last dequantizer are the result, for others to read as well.
    bool givesIntegers(ValueInfoProto& result, const LinearRange& range)
    {
        const int last = producer(result.name());
        if (last < 0 || m_graph.node(last).op_type() != "DequantizeLinear") return false;
        const std::string integers = m_graph.node(last).input(0);
        if (producer(integers) < 0 || isResult(integers)) return false;
        const std::string real = result.name() + "_dequantized_again";
        const bool isRead = rename(result.name(), real) > 1;
        if (!isRead) erase(producer(real));
        rename(integers, result.name());
        retype(result, range);
        return true;
    }

private:
    int producer(const std::string& tensor) const
    {
        for (int i = 0; i < m_graph.node_size(); ++i)
            for (const std::string& output : m_graph.node(i).output())
                if (output == tensor) return i;
        return -1;
    }
    bool isResult(const std::string& tensor) const
    {
        return std::any_of(m_graph.output().begin(), m_graph.output().end(),
                           [&](const ValueInfoProto& output) { return output.name() == tensor; });
    }
    void erase(int node) { m_graph.mutable_node()->DeleteSubrange(node, 1); }
    /// At how many places it stood in nodes.
    int rename(const std::string& from, const std::string& to)
    {
        int count = 0;
        const auto change = [&](std::string& name) {
            if (name != from) return;
            name = to;
            ++count;
        };
        for (NodeProto& node : *m_graph.mutable_node()) {
            for (std::string& input : *node.mutable_input()) change(input);
            for (std::string& output : *node.mutable_output()) change(output);
        }
        return count;
    }
    void retype(ValueInfoProto& info, const LinearRange& range)
    {
        info.mutable_type()->mutable_tensor_type()->set_elem_type(onnxTypeOf(range.dtype));
        note("tenon.scale." + info.name(), exact(static_cast<double>(range.scale)));
        note("tenon.zero_point." + info.name(), std::to_string(range.zero));
    }
    void note(const std::string& key, const std::string& value)
    {
        auto& property = *m_model.add_metadata_props();
        property.set_key(key);
        property.set_value(value);
    }

    ModelProto& m_model;
    GraphProto& m_graph;
};

void warnOfFloats(const ModelProto& model, QuantizeReport& report)
{
    const FloatGraph graph(model.graph());
    const auto check = [&](const auto& infos, const std::string& what) {
        for (const ValueInfoProto& info : infos)
            if (graph.isFloat32(info.name()) && !graph.isConstant(info.name()))
                report.remarks.push_back(makeWarning(DiagnosticCode::BadArgument,
                                                     what + " " + quoted(info.name()) +
                                                         " stays in float: no operator takes or "
                                                         "gives it as integers"));
    };
    check(model.graph().input(), "input");
    check(model.graph().output(), "result");
}

} // namespace

void makeEndsInteger(ModelProto& model, QuantizeReport& report)
{
    std::map<std::string, LinearRange> ranges;
    for (const TensorAccount& tensor : report.tensors) ranges[tensor.name] = tensor.range;
    EndWriter writer(model);
    for (ValueInfoProto& input : *model.mutable_graph()->mutable_input())
        if (const auto range = ranges.find(input.name());
            range != ranges.end() && writer.takesIntegers(input, range->second))
            report.ends.push_back({input.name(), true, range->second});
    for (ValueInfoProto& result : *model.mutable_graph()->mutable_output())
        if (const auto range = ranges.find(result.name());
            range != ranges.end() && writer.givesIntegers(result, range->second))
            report.ends.push_back({result.name(), false, range->second});
    warnOfFloats(model, report);
}

} // namespace tenon::compiler
