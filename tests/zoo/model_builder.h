// SPDX-License-Identifier: Apache-2.0
// Writes an ONNX model node by node; weights come from a seeded generator.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"
#include "tests/zoo/zoo.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::test {

using Dims = std::vector<int64_t>;
using Attr = std::variant<int64_t, float, std::string, Dims>;
using Attrs = std::vector<std::pair<std::string, Attr>>;

/// A convolution as architectures describe it, over as many axes as its kernel has. `pads` is
/// {top, left, bottom, right}; empty: same size at stride 1. `strides`: empty: `stride` of all
/// axes.
struct ConvSpec
{
    int64_t inputs = 0;
    int64_t outputs = 0;
    Dims kernel = {3, 3};
    int64_t stride = 1;
    Dims pads = {};
    int64_t groups = 1;
    bool hasBias = false;
    int64_t dilation = 1;
    Dims strides = {};
};

/// Every method that adds a node returns the name of the tensor it makes; `scope` is "/a/b/c".
class ModelBuilder
{
public:
    ModelBuilder(const std::string& graphName, const ZooOptions& options, int64_t opset = 13);

    /// Dimensions of -1, -2 and -3 are `batch`, `rows` and `columns`.
    std::string input(const std::string& name, int32_t elementType, const Dims& dims);
    void output(const std::string& tensor, const std::string& name, const Dims& dims);

    /// Uniform weights of standard deviation `deviation` around `mean`.
    std::string weight(const std::string& name, const Dims& dims, double deviation,
                       double mean = 0);
    std::string integers(const std::string& name, const Dims& values);
    std::string floats(const std::string& name, const std::vector<float>& values);
    std::string scalar(const std::string& name, float value);
    std::string integer(const std::string& name, int64_t value);

    std::string node(const std::string& op, const std::string& scope,
                     const std::vector<std::string>& inputs, const Attrs& attrs = {});
    /// A node of several results.
    std::vector<std::string> nodes(const std::string& op, const std::string& scope,
                                   const std::vector<std::string>& inputs, const Attrs& attrs,
                                   int outputs);

    std::string conv(const std::string& scope, const std::string& x, const ConvSpec& spec);
    std::string batchNorm(const std::string& scope, const std::string& x, int64_t channels);
    std::string relu(const std::string& scope, const std::string& x);
    std::string relu6(const std::string& scope, const std::string& x);
    /// conv, batch_norm, relu under scope/{conv,bn,act}.
    std::string convBnRelu(const std::string& scope, const std::string& x, const ConvSpec& spec);
    /// x W^T + b of a matrix.
    std::string dense(const std::string& scope, const std::string& x, int64_t inputs,
                      int64_t outputs);
    /// Global average pool, flatten, dense.
    std::string classifier(const std::string& x, int64_t channels, int64_t classes);

    /// "/a/b/c", "weight" -> "a.b.c.weight", as exporters name parameters.
    static std::string parameter(const std::string& scope, const std::string& leaf);
    int64_t channels(int64_t published) const; ///< divided by the options' divisor
    int nodeCount() const { return m_model.graph().node_size(); }
    std::string bytes() const;

private:
    double nextUniform(); ///< in [-1, 1)
    tenon_onnx::TensorProto& addInitializer(const std::string& name, int32_t elementType,
                                            const Dims& dims);

    tenon_onnx::ModelProto m_model;
    uint64_t m_random;
    int64_t m_channelDivisor;
};

} // namespace tenon::test
