// SPDX-License-Identifier: Apache-2.0
// TfliteTensors: the tensors of a TensorFlow Lite model while it becomes an ONNX message. One of
// four axes may be there in the file's order, in that of ONNX ("planes"), or both: whoever reads it
// first in the other order turns it.
#pragma once

#include "compiler/frontend/tflite/file/tflite_model.h"
#include "compiler/quantize/onnx_document.h"

#include <map>
#include <optional>
#include <set>

namespace tenon::compiler {

class TfliteTensors
{
public:
    TfliteTensors(const TfliteModel& model, const std::string& path)
        : m_model(model)
        , m_graph(model.subgraphs.front())
        , m_path(path)
        , m_into(m_out.mutable_graph())
    {
    }

protected:
    const TfliteTensor& tensor(int64_t index) const
    {
        return m_graph.tensors.at(static_cast<size_t>(index));
    }
    const std::string& nameOf(int64_t index) const { return tensor(index).name; }
    size_t rankOf(int64_t index) const { return tensor(index).shape.size(); }
    // Of the operator under way.
    int64_t input(size_t at) const { return at < m_op->inputs.size() ? m_op->inputs[at] : -1; }
    int64_t output() const { return m_op->outputs.at(0); }
    int option(int field) const { return m_op->options.number<int8_t>(field); }
    int64_t size(int field, int otherwise = 1) const
    {
        return m_op->options.number<int32_t>(field, otherwise);
    }
    /// The first failure stays.
    void fail(const std::string& what);

    /// An input or result of the graph.
    void declare(int64_t index, tenon_onnx::ValueInfoProto& info);
    bool isConstant(int64_t index) const;
    /// The result of the operator is this constant.
    void define(const Tensor& value) { m_defined.insert_or_assign(output(), value); }
    /// A tensor that nodes make, or will, is this constant.
    void settle(int64_t index, const Tensor& value);
    Tensor constantOf(int64_t index);
    std::string add(const Tensor& value, const std::string& name);
    std::string number(const std::string& leaf, float value);
    std::string integers(const std::string& leaf, const std::vector<int64_t>& values);
    tenon_onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                                const std::string& result, const std::string& name);
    /// What an operator computes on the way.
    std::string inner(const std::string& op, const std::vector<std::string>& inputs,
                      const std::string& leaf);
    void turn(const std::string& from, const std::string& result, const std::vector<int64_t>& order)
    {
        setIntegers(node("Transpose", {from}, result, result), "perm", order);
    }
    void clip(const std::string& from, const std::string& result, const std::string& name,
              float low, float high);
    /// A fused activation, as the schema numbers them.
    void apply(const std::string& from, const std::string& result, const std::string& name,
               int activation);

    std::string asGiven(int64_t index);  ///< in the file's order of axes
    std::string asPlanes(int64_t index); ///< with the channels in front of rows and columns
    bool hasPlanes(int64_t index) const { return m_planes.contains(index); }
    /// Where the result of the operator is to be written.
    std::string resultName(bool isPlanes);
    /// Likewise one of several, in the file's order.
    std::string given(int64_t result)
    {
        m_given.insert(result);
        return nameOf(result);
    }

    const TfliteModel& m_model;
    const TfliteSubgraph& m_graph;
    const std::string& m_path;
    tenon_onnx::ModelProto m_out;
    tenon_onnx::GraphProto* m_into; ///< nodes go there; constants are of the whole model
    const TfliteOperator* m_op = nullptr;
    std::optional<Diagnostic> m_problem;

private:
    std::map<int64_t, Tensor> m_defined;
    std::set<int64_t> m_given;
    std::map<int64_t, std::string> m_planes;
};

} // namespace tenon::compiler
