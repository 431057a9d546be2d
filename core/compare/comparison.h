// SPDX-License-Identifier: Apache-2.0
// Comparison: every tensor that a device computed beside the reference, and where they part. What
// the command line prints and the window paints.
#pragma once

#include "core/compare/tensor_error.h"
#include "core/ir/kernel_title.h"
#include "core/ir/node.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::core {

/// One result of one kernel call.
struct ComparedTensor
{
    std::string name;               ///< of the node of the model that gives it, or of the output
    bool isInModel = true;          ///< false: only the compiled program has it
    bool isInReference = true;      ///< false: stands beside what this model's kernels define
    std::string type;               ///< in the model's form: "Tensor[(1, 8, 4, 4), float32]"
    std::string form;               ///< how the program holds it; "" as the model does
    QuantizedUnits units = {};      ///< what its integers stand for
    size_t call = 0;                ///< in execution order
    std::string function;           ///< the kernel's
    KernelTitle title = {};         ///< the call's
    std::vector<std::string> nodes; ///< of the model that the call computes
    std::vector<SourceId> sources;  ///< the same
    TensorError cumulative = {};    ///< everything before it ran on the device, too
    std::optional<TensorError> isolated = {}; ///< the kernel's inputs were those of the reference
    /// The model at level 0 with its sums from the end against the same from the start: what
    /// rounding alone moves.
    std::optional<TensorError> noise = {};
    size_t set = 0; ///< the data set that is worst

    /// Rounding alone moves it about as far as the device is off.
    bool isNoise() const;
};

/// A value of the model that nothing holds in the compiled program.
struct AbsorbedValue
{
    std::string node;  ///< that gives it in the model
    std::string title; ///< of the kernel that computes it on its way; "" where none does
    std::string rule;  ///< that computes past it
    std::string reason;
};

struct Comparison
{
    std::string model;
    std::string target;
    std::string executor;
    int optLevel = 0;
    std::string place;     ///< where the device's side ran
    std::string reference; ///< what it was compared with
    size_t sets = 0;
    size_t builds = 0; ///< programs that the device's side took, for memory
    ErrorLimits limits;
    std::vector<ComparedTensor> tensors;  ///< in execution order
    std::vector<AbsorbedValue> absorbed;  ///< in the model's order
    std::vector<std::string> notCompared; ///< kernel calls, with the reason
    /// The first tensor that leaves tolerance, as an index; nothing where none does.
    std::optional<size_t> first() const;
    /// Elements outside of limits over all tensors whose noise is known.
    struct Share
    {
        int64_t elements = 0;
        int64_t device = 0; ///< outside of the reference
        int64_t noise = 0;  ///< outside by rounding alone
    };
    std::optional<Share> noiseShare() const;
    /// Indices, the one whose own kernel is furthest off first; tensors without an isolated error
    /// by their cumulative one behind them.
    std::vector<size_t> ranked() const;
};

using ComparisonPtr = std::shared_ptr<const Comparison>;

} // namespace tenon::core
