// SPDX-License-Identifier: Apache-2.0
// Post-training quantization: a float ONNX model and example data in, a model with QuantizeLinear
// and DequantizeLinear (QDQ) and an account of every tensor out.
#pragma once

#include "compiler/driver/model_runner.h"
#include "compiler/quantize/mixed_precision.h"
#include "compiler/quantize/tensor_range.h"

#include <string>
#include <vector>

namespace tenon::compiler {

struct QuantizeOptions
{
    RangeOptions activations;
    DataType weightType = kInt8; ///< always symmetric
    /// Biases take up what the rounding of weights adds to the mean of every output channel.
    bool correctsBias = false;
    bool isPerChannel = true;            ///< weights have a scale per output channel
    bool equalizes = false;              ///< channels of consecutive layers, before all else
    std::vector<std::string> floatNodes; ///< stay as they are, by name
    std::vector<std::string> floatOps;   ///< by operator ("Softmax")
    /// To compare the result with the float model; empty: the data that ranges follow from.
    CalibrationData evaluation;
    size_t measuredSets = 16; ///< of those, at most
    /// Of an output's root mean square: more layers stay in float until no output is off by more.
    /// 0: no limit.
    double largestLoss = 0;
};

/// An activation that is rounded to integers.
struct TensorAccount
{
    std::string name;
    std::string node; ///< that makes it; "" for an input of the model
    std::string op;
    double least = 0; ///< seen with the data
    double greatest = 0;
    LinearRange range;
    double expectedSqnrDb = 0; ///< of rounding and clipping this tensor alone
    double measuredSqnrDb = 0; ///< against the float model, with all that is quantized before it
    std::string sameAs;        ///< whose scale it shares, because its node only moves values
    double measuredLeast = 0;  ///< in the data that were measured, in float
    double measuredGreatest = 0;
    double exceedingShare = 0; ///< of the measured sets, with values beyond what was seen
};

/// A constant that became integers.
struct WeightAccount
{
    std::string name;
    std::string node; ///< that reads it
    std::string op;
    DataType dtype;
    size_t channels = 1; ///< scales
    double leastScale = 0;
    double greatestScale = 0;
    double sqnrDb = 0;
};

struct FloatNode
{
    std::string node;
    std::string op;
    std::string reason;
};

/// Two layers whose channels were scaled between them.
struct EqualizedPair
{
    std::string first;
    std::string second;
    size_t channels = 0; ///< whose factor is not 1
    double least = 1;
    double greatest = 1;
};

struct OutputAccount
{
    std::string name;
    double sqnrDb = 0;
    double largestError = 0;
    double cosine = 1;
};

struct QuantizeReport
{
    size_t dataSets = 0;
    size_t measuredSets = 0;
    size_t quantizedNodes = 0;
    size_t floatBytes = 0; ///< of the files
    size_t quantizedBytes = 0;
    int64_t opset = 0; ///< of the result
    int64_t givenOpset = 0;
    size_t foldedBatchNorms = 0;
    std::vector<EqualizedPair> equalized;
    std::vector<TensorAccount> tensors;
    std::vector<WeightAccount> weights;
    std::vector<FloatNode> floats;
    std::vector<OutputAccount> outputs;
    std::vector<LayerHarm> harms; ///< in order, where a loss was asked for
    std::vector<Diagnostic> remarks;
};

struct QuantizedModel
{
    std::string bytes; ///< of an ONNX file
    QuantizeReport report;
};

/// Folds batch normalization, observes the model on `data` and writes integers wherever the
/// operators have integer kernels. Errors: BadModel for what is no float ONNX model or has nothing
/// to quantize, UnknownName for excluded nodes that there are not, BadArgument for data that say
/// nothing, NumericMismatch naming the node that gives NaN or infinity, and those of `open`.
Result<QuantizedModel> quantizeModel(const std::string& path, const CalibrationData& data,
                                     const QuantizeOptions& options, const OpenRunner& open,
                                     JobContext& job);

/// "int8", "uint8", "int16", "uint16"; nothing for other names.
std::optional<DataType> activationTypeOf(std::string_view name);

} // namespace tenon::compiler
