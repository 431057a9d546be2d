// SPDX-License-Identifier: Apache-2.0
// Sizes and values that a model leaves open: what a build takes by itself, and what it asks for.
#pragma once

#include "compiler/frontend/loaded.h"

#include <string>

namespace tenon::compiler {

/// Opens a model for a build. Where nothing but the batch is open (the first dimension of inputs)
/// and nobody bound it, it becomes 1, which a note among the diagnostics says. Numbers bound to a
/// scalar input as if they were sizes become its value. Bounds are narrowed to what can be
/// computed.
Result<Loaded> loadForBuild(const std::string& path, const ImportOptions& options);

/// What binds everything that is open, at once and as a command line takes it: "--shape
/// x=1,3,224,224
/// --value sr=16000". The numbers are those of the data beside the model, else some with which it
/// can be imported, where there are such. Empty when nothing is open.
std::string proposedBindings(const std::string& path, const Loaded& loaded,
                             const ImportOptions& options);

/// True when an input's sizes are known at run time only, without bounds.
bool hasUnboundSizes(const Module& module);

} // namespace tenon::compiler
