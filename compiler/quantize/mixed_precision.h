// SPDX-License-Identifier: Apache-2.0
// Which layers of a quantized model get more than 8 bits: by what each costs the outputs, until the
// error, the size or the time is as asked for; and the curve of all that lies between.
#pragma once

#include "compiler/frontend/importer.h"
#include "core/base/result.h"
#include "core/jobs/job.h"
#include "core/quantize/precision_curve.h"

#include <functional>
#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// One kernel call, and the nodes of the model that it computes.
struct PricedCall
{
    std::vector<std::string> nodes;
    double time = 0;
};

/// A model file where it is to run.
struct PricedModel
{
    ModelCost cost;
    std::vector<PricedCall> calls; ///< as far as known
    std::string place;             ///< "this computer"
    std::string timeUnit;          ///< "us" or "instructions"
    bool isEmulated = false;
};
/// What the model of a file takes there, with these sizes of what it leaves open.
using PriceFile = std::function<Result<PricedModel>(const std::string& path,
                                                    const ImportOptions& sizes, JobContext& job)>;
/// What an ONNX model takes there.
using PriceModel = std::function<Result<PricedModel>(const std::string& bytes, JobContext& job)>;

/// 0: no limit.
struct MixLimits
{
    double loss = 0; ///< of every output, as a share of its root mean square
    int64_t flashBytes = 0;
    double time = 0; ///< in the unit that the place has
    bool isAny() const { return loss > 0 || flashBytes > 0 || time > 0; }
};

struct MixQuestion
{
    MixLimits limits;
    bool measuresCurve = false;  ///< points of the curve
    bool measures16Bits = false; ///< each layer alone, as in 8 bits
    size_t curvePoints = 6;      ///< that are measured
    PriceModel price;            ///< empty: sizes of files only
};

/// What a choice does to the model.
struct MixTools
{
    /// Loss of the model's outputs: the largest of root(noise / signal).
    std::function<Result<double>(const PrecisionChoice&)> lossOf;
    /// The model's file.
    std::function<Result<std::string>(const PrecisionChoice&)> write;
};

struct ChosenPrecisions
{
    PrecisionCosts costs;
    std::vector<CurvePoint> curve; ///< some of its points are measured
    PrecisionChoice choice;
};

/// `layers` say what they are, what their weights take and what is pinned; the rest is measured.
/// With limits as few layers become wider as the loss allows, or as many as size and time do; all
/// of them when no number meets the loss. Errors: BadArgument for a size or time that the model in
/// 8 bits exceeds or that contradicts the loss, and those of the tools.
Result<ChosenPrecisions> choosePrecisions(PrecisionCosts layers, const MixQuestion& question,
                                          const MixTools& tools, JobContext& job);

} // namespace tenon::compiler
