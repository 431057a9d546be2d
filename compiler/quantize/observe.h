// SPDX-License-Identifier: Apache-2.0
// Running a model on data and looking at tensors inside of it.
#pragma once

#include "compiler/driver/model_runner.h"
#include "compiler/quantize/onnx_document.h"
#include "compiler/quantize/value_histogram.h"

#include <map>
#include <set>

namespace tenon::compiler {

/// A model whose inner tensors can be fetched by name.
class Observed
{
public:
    /// `names` become further results; sizes that the model leaves open are those of `data`.
    static Result<Observed> open(const tenon_onnx::ModelProto& model,
                                 const std::vector<std::string>& names, const CalibrationData& data,
                                 const OpenRunner& open, JobContext& job);

    /// Every tensor of `names` and every result, by name.
    Result<std::map<std::string, Tensor>> run(const DataSet& data);

private:
    std::unique_ptr<ModelRunner> m_runner;
    std::vector<std::string> m_results;
    std::set<std::string> m_inputs;
};

/// Inputs of the model that nobody gives a constant.
std::vector<std::string> inputsOf(const tenon_onnx::ModelProto& model);

/// The data fit the model's inputs, are alike, and those of one input at least are not all the same
/// number. Errors name the data set and the input.
Status checkData(const tenon_onnx::ModelProto& model, const CalibrationData& data);

/// Sizes of every input that the model does not fix, as the first data set has them.
ImportOptions sizesOf(const tenon_onnx::ModelProto& model, const CalibrationData& data);

/// What one tensor held over all data.
struct SeenTensor
{
    ValueHistogram values;
    std::vector<double> channelMeans; ///< by index of the second axis; empty: fewer than two axes
    std::vector<double> channelPeaks; ///< largest magnitude of each
};

/// What the tensors hold over all data. Error NumericMismatch names the node that gives NaN or
/// infinity, and for which data.
Result<std::map<std::string, SeenTensor>> observeValues(const tenon_onnx::ModelProto& model,
                                                        const std::vector<std::string>& names,
                                                        const CalibrationData& data,
                                                        const OpenRunner& open, JobContext& job);

} // namespace tenon::compiler
