// SPDX-License-Identifier: Apache-2.0
// A quantized model beside its float model on the same data: how far every tensor is off.
#pragma once

#include "compiler/quantize/observe.h"
#include "compiler/quantize/quantize.h"

namespace tenon::compiler {

/// Sums over data of what one tensor should be and of what it is off.
struct TensorLoss
{
    double signal = 0;
    double noise = 0;
    double product = 0; ///< of both, for the cosine
    double power = 0;   ///< of the quantized
    double largest = 0;

    void add(const Tensor& expected, const Tensor& actual, const ValueLimits& limits);
    double sqnrDb() const;
    double share() const; ///< root of noise over signal
    double cosine() const;
};

/// The float tensors of `names` on data, kept to be compared with again and again.
struct FloatValues
{
    std::vector<std::map<std::string, Tensor>> sets; ///< by name, one per data set
    std::vector<std::string> results;
    std::map<std::string, ValueLimits> limits = {}; ///< of tensors whose readers know no others
};

Result<FloatValues> floatValues(const tenon_onnx::ModelProto& model,
                                const std::vector<std::string>& names, const CalibrationData& data,
                                const OpenRunner& open, JobContext& job);

/// Loss of `names` (float name -> name in `quantized`) and of every result, by float name.
Result<std::map<std::string, TensorLoss>>
measureLoss(const tenon_onnx::ModelProto& quantized,
            const std::map<std::string, std::string>& names, const FloatValues& expected,
            const CalibrationData& data, const OpenRunner& open, JobContext& job);

} // namespace tenon::compiler
