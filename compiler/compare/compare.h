// SPDX-License-Identifier: Apache-2.0
// compare(): runs data sets on a device and on a reference, and says of every tensor how far the
// device's is off, and whether its own kernel or what came before is to blame.
#pragma once

#include "compiler/compare/program_values.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::compiler {

using NamedValues = std::vector<std::pair<std::string, Tensor>>;

/// Runs a program on inputs by name: its outputs. The same program comes again for every data set.
using ProgramRunner = std::function<Result<std::vector<Tensor>>(
    const CompileResultPtr& program, const NamedValues& inputs, JobContext& job)>;

/// Values of the model as the reference has them, as far as it knows them.
using ReferenceValues = std::map<ValueRef, Tensor>;
using ReferenceSource = std::function<Result<ReferenceValues>(
    const std::vector<ValueRef>& wanted, const NamedValues& inputs, JobContext& job)>;

/// Takes the values of a tensor of the comparison, by its index: the reference's and the device's,
/// in the model's form. Later calls for the same tensor are of data sets that are further off.
using TensorKeeper =
    std::function<Status(size_t tensor, const Tensor& reference, const Tensor& device)>;

/// The same numbers on paper, summed from either end.
struct NoiseSources
{
    ReferenceSource forwards; ///< empty: the reference itself
    ReferenceSource backwards;
};

struct CompareRequest
{
    std::shared_ptr<const Loaded> loaded;
    CompileOptions options;
    std::vector<NamedValues> sets; ///< at least one, of all inputs, for a model that compiles
    ErrorLimits limits;
    ProgramRunner device;
    ReferenceSource reference;
    /// What rounding alone moves; empty: nobody asks.
    std::optional<NoiseSources> noise = {};
    /// Tensors that one program hands out, and takes; 0: as the device has room.
    int64_t pieceBytes = 0;
    bool isolates = true;
    TensorKeeper keep = {}; ///< empty: nobody wants the values
};

/// Errors: the compiler's, the runners', DynamicShape where nothing can be tapped.
Result<Comparison> compareTensors(const CompareRequest& request, JobContext& job);

/// The model at level 0, where nothing is fused, folded or laid out anew, with the wanted values as
/// its outputs; `options` say for what it is compiled.
ReferenceSource levelZeroReference(std::shared_ptr<const Loaded> loaded, CompileOptions options,
                                   ProgramRunner here);
/// The same of reversedSums().
ReferenceSource reversedReference(const Loaded& loaded, CompileOptions options, ProgramRunner here);

} // namespace tenon::compiler
