// SPDX-License-Identifier: Apache-2.0
// StepModel: a model that is evaluated while it is written, each operation rounded by itself, so
// that what comes behind a step (floor, a comparison, an index) is known to the bit.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/tensor/onnx_types.h"
#include "core/tensor/tensor.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test {

using core::DataType;
using core::Tensor;
using Dims = std::vector<int64_t>;
using Numbers = std::vector<double>; ///< of the type they are computed in

struct StepValue
{
    std::string name;
    Tensor tensor;

    DataType dtype() const { return tensor.dtype(); }
    const Dims& shape() const { return tensor.shape(); }
    int64_t size() const { return tensor.size(); }
};

/// The nearest number of the type.
double inType(DataType dtype, double value);
/// Numbers as a tensor; every one must be a number of the type.
Tensor tensorOf(DataType dtype, Dims shape, const Numbers& values);

class StepModel
{
public:
    explicit StepModel(uint64_t seed);

    int64_t pick(int64_t low, int64_t high); ///< inclusive
    bool chance(int percent) { return pick(1, 100) <= percent; }
    double uniform(double low, double high);

    StepValue input(const Tensor& tensor);
    StepValue constant(const Tensor& tensor);
    StepValue scalar(DataType dtype, double value);

    /// A node whose result is known; attributes follow.
    tenon_onnx::NodeProto& node(const std::string& op, const std::vector<StepValue>& inputs,
                                const std::vector<Tensor>& results);
    /// The results of the last node.
    StepValue last(size_t result = 0) const { return m_last.at(result); }
    void output(const StepValue& value);

    tenon_onnx::ModelProto model;
    std::vector<StepValue> inputs;
    std::vector<StepValue> outputs;
    std::vector<std::string> made; ///< per output, how
    std::string how;               ///< of the outputs that come next
    bool needsVm = false;          ///< a run tells sizes

private:
    std::string newName() { return "v" + std::to_string(m_count++); }

    std::mt19937_64 m_random;
    std::vector<StepValue> m_last;
    int m_count = 0;
};

void setInt(tenon_onnx::NodeProto& node, const std::string& name, int64_t value);
void setInts(tenon_onnx::NodeProto& node, const std::string& name, const Dims& values);
void setFloat(tenon_onnx::NodeProto& node, const std::string& name, double value);
void setText(tenon_onnx::NodeProto& node, const std::string& name, const std::string& value);

/// ONNX's elementwise arithmetic in the values' own type; one of two shapes may be a scalar's or
/// that of the last dimension.
StepValue apply(StepModel& m, const std::string& op, const StepValue& a);
StepValue apply(StepModel& m, const std::string& op, const StepValue& a, const StepValue& b);

/// A chain of elementwise arithmetic whose results lie at or next to whole numbers.
StepValue addChain(StepModel& m, DataType dtype);
/// One step on the value; its results become outputs.
void addStep(StepModel& m, const StepValue& value);
/// Operators with positions of their own: Resize, Range, integer division.
void addOther(StepModel& m);
/// NonMaxSuppression, whose number of rows only a run tells.
void addSuppression(StepModel& m);
/// Sums and what is behind them: known to the bit where terms are added in order.
void addSum(StepModel& m);

} // namespace tenon::test
