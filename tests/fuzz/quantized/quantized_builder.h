// SPDX-License-Identifier: Apache-2.0
// QuantizedBuilder: nodes of a quantized graph, each evaluated as it is added, so that scales are
// those of its values.
#pragma once

#include "tests/fuzz/quantized/quantized_graph.h"

#include <optional>
#include <random>

namespace tenon::test {

/// Scale and zero point of a quantized tensor, and the names of their constants.
struct Grid
{
    core::DataType dtype;
    double scale = 1;
    std::string scaleName, zeroName;
};

class QuantizedBuilder
{
public:
    using Set = std::function<void(tenon_onnx::NodeProto&)>;

    explicit QuantizedBuilder(uint64_t seed);

    int64_t pick(int64_t low, int64_t high); ///< inclusive
    bool chance(int percent) { return pick(1, 100) <= percent; }
    double between(double low, double high);
    double normal();
    template <typename T>
    T oneOf(std::initializer_list<T> all)
    {
        return all.begin()[pick(0, static_cast<int64_t>(all.size()) - 1)];
    }

    /// A new quantized tensor: a float input and its quantization, or an input of integers.
    std::string addInput(const Dims& shape);
    /// A quantized tensor of the rank, mostly one of the newest; a new input when there is none.
    std::string tensorOfRank(size_t rank);
    /// Another one of this shape; nothing when there is none.
    std::optional<std::string> another(const Dims& shape, const std::string& than);
    const Dims& shape(const std::string& name) const { return tensor(name).exact.shape; }
    const Grid& grid(const std::string& quantized) const { return m_grids.at(quantized); }

    std::string constant(core::DataType dtype, Dims shape, std::vector<double> values);
    std::string scalar(double value) { return constant(core::kFloat32, {}, {value}); }
    std::string integers(const Dims& values);
    /// Adds a node of one real result.
    std::string apply(const std::string& op, const std::vector<std::string>& in,
                      const Set& set = {});
    /// The real value of a quantized tensor: by a dequantization of its own or by the one it has.
    std::string dequantized(const std::string& quantized);
    /// The real value as integers, of a scale that fits it or of the given one.
    std::string quantized(const std::string& real, const Grid* grid = nullptr);
    /// Adds QLinearConv or QLinearMatMul; operands behind the weight's are scales of the result.
    std::string quantizedLayer(const std::string& op, std::vector<std::string> in, const Set& set,
                               const std::string& bias);
    /// Integers of a weight whose real values are about 1 / sqrt(fanIn).
    struct Weight
    {
        std::string integers, scale, zero;
        std::vector<double> scales;
    };
    Weight weight(const Dims& shape, int64_t fanIn, size_t channelAxis);
    std::string dequantized(const Weight& weight, size_t channelAxis);
    /// The type of a new quantized tensor.
    core::DataType anyType();
    int opset() const { return m_graph.opset; }
    QuantizedGraph finish() { return std::move(m_graph); }

private:
    const GraphTensor& tensor(const std::string& name) const { return m_graph.tensors.at(name); }
    std::string add(tenon_onnx::NodeProto node, core::DataType dtype);
    Grid fittingGrid(const Array& values);
    Array randomNumbers(const Dims& shape);

    std::mt19937_64 m_random;
    QuantizedGraph m_graph;
    core::DataType m_type;
    bool m_mixesTypes, m_hasWide;
    std::map<std::string, Grid> m_grids;
    std::map<std::string, std::string> m_reals; ///< quantized tensor -> its dequantization
    int m_names = 0;
};

/// Adds a few nodes that end in one quantized tensor.
void addRandomPiece(QuantizedBuilder& builder);
void addLayer(QuantizedBuilder& builder);          ///< convolution or dense layer
void addQuantizedLayer(QuantizedBuilder& builder); ///< QLinearConv or QLinearMatMul
/// The activation and quantization behind what was computed.
void finishPiece(QuantizedBuilder& builder, const std::string& real);
/// The real value of a tensor, sometimes moved or limited before it is used.
std::string readReal(QuantizedBuilder& builder, const std::string& quantized);

} // namespace tenon::test
