// SPDX-License-Identifier: Apache-2.0
// What every layer of a quantized model costs in each precision, and what mixing them comes to:
// error against size and time. What the command line prints and the window draws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

enum class Precision : uint8_t
{
    Int8,  ///< activations and weights
    Int16, ///< activations; weights have 8 bits
    Float
};
constexpr size_t kPrecisions = 3;

std::string_view nameOf(Precision precision); ///< "int8", "int16", "float"
std::optional<Precision> precisionOf(std::string_view name);

/// A model file where it is to run; what is 0 is not known.
struct ModelCost
{
    int64_t flashBytes = 0; ///< code, weights and tables
    int64_t ramBytes = 0;   ///< workspace, inputs and outputs
    double time = 0;        ///< of a run, in PrecisionCosts::timeUnit
};

/// One layer, by precision.
struct LayerCost
{
    std::string layer;
    std::string op;
    std::string output; ///< what comes out of its kernel
    /// Of the outputs when this layer alone is quantized: root of noise over signal.
    std::array<double, kPrecisions> loss{};
    std::array<int64_t, kPrecisions> weightBytes{};
    std::array<double, kPrecisions> time{};
    std::optional<Precision> pinned; ///< asked for; else the curve chooses
};

/// One precision per layer.
using PrecisionChoice = std::vector<Precision>;

struct PrecisionCosts
{
    std::vector<LayerCost> layers;      ///< in order of computation
    double wholeLoss = 0;               ///< with all layers, and what lies between them, in 8 bits
    ModelCost inFloat, in8Bits;         ///< whole models, as measured
    std::string place;                  ///< where they run; empty: no times
    std::string timeUnit;               ///< "us" or "instructions"
    bool isEmulated = false;            ///< times say nothing of a real processor
    Precision wider = Precision::Float; ///< what harmful layers are given
    bool knowsTimes() const { return inFloat.time > 0 && in8Bits.time > 0; }
};

/// What a choice comes to by what each layer costs alone: noise of several layers adds up as
/// energies do; bytes and times lie between those of both ends, as far as the layers' weights and
/// times go there. What no layer explains goes with all of them.
struct PredictedCost
{
    double loss = 0;
    int64_t flashBytes = 0;
    double time = 0;
};
PredictedCost predict(const PrecisionCosts& costs, const PrecisionChoice& choice);

/// Layers that nobody pinned, the most harmful first: what the wider precision saves of the loss.
std::vector<size_t> byHarm(const PrecisionCosts& costs);
/// The `count` most harmful ones wider, pinned ones as they are, the others in 8 bits.
PrecisionChoice widened(const PrecisionCosts& costs, size_t count);

struct MeasuredCost
{
    double loss = 0;
    int64_t fileBytes = 0;
    ModelCost cost;
};

struct CurvePoint
{
    size_t widerLayers = 0; ///< of byHarm(), from the front
    PredictedCost predicted;
    std::optional<MeasuredCost> measured;
};
/// From all in 8 bits to all wider.
std::vector<CurvePoint> predictedCurve(const PrecisionCosts& costs);

/// 20 log10(1 / loss): a loss as signal to noise in dB, at most 200.
double decibelsOf(double loss);

} // namespace tenon::core
