// SPDX-License-Identifier: Apache-2.0
// Inputs of a model out of files, with errors that name the files.
#pragma once

#include "app/runs/given_tensors.h"

namespace tenon::runs {

/// What lies in files and folders, for each input: readTensors() and assignInputs().
Result<remote::NamedTensors> readInputs(const std::vector<ManifestTensor>& inputs,
                                        const std::vector<std::string>& paths);

/// What is to be said of inputs of which some elements are NaN or infinite.
std::vector<Diagnostic> notesOnValues(const remote::NamedTensors& inputs);

/// The same error, which says where the tensors came from unless it does already.
Diagnostic foundIn(Diagnostic error, const std::vector<std::string>& paths);

} // namespace tenon::runs
