// SPDX-License-Identifier: Apache-2.0
// Post-training quantization: a float ONNX model and example data in, a model with QuantizeLinear
// and DequantizeLinear (QDQ) and an account of every tensor out.
#pragma once

#include "compiler/driver/model_runner.h"
#include "compiler/quantize/mixed_precision.h"
#include "compiler/quantize/tensor_range.h"

#include <optional>
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
    std::vector<std::string> wideNodes;  ///< what these layers read and make has 16 bits, by name
    Precision wider = Precision::Float;  ///< what layers get for which 8 bits are too few
    MixLimits limits;                    ///< until these hold
    bool measuresSensitivity = false;    ///< every layer alone, and the curve of mixing them
    PriceFile price;        ///< what models take where they are to run; empty: nobody says
    bool needsPrice = true; ///< an error where nobody can say; else a remark
    ImportOptions sizes;    ///< that the written model has bound; the others are open there, too
    bool hasIntegerEnds = false; ///< inputs and results of the written model are the integers
    /// To compare the result with the float model; empty: the data that ranges follow from.
    CalibrationData evaluation;
    size_t measuredSets = 16; ///< of those, at most
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
    /// How often values came in parts of equal width from `least` to `greatest`.
    std::vector<int64_t> counts;
    double clippedShare = 0; ///< of the values, that lose more than half a step at the ends
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

/// An input or result of the written model that is no real number.
struct IntegerEnd
{
    std::string name;
    bool isInput = false;
    LinearRange range;
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
    /// Of every layer, where limits or the sensitivity were asked for.
    std::optional<ChosenPrecisions> precisions;
    std::optional<PricedModel> before, after; ///< the given and the written model, where priced
    std::vector<IntegerEnd> ends;             ///< inputs, then results that are integers
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
