// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime as the reference of a comparison, where it is installed.
#pragma once

#include "compiler/compare/tensor_names.h"

namespace tenon::runs {

using namespace core;

/// The model of `path` there, with every tensor that is wanted as an output. Errors: BadArgument
/// for a model that is no ONNX file, and where no library is named.
Result<compiler::ReferenceSource> ortReference(compiler::TensorNames names, const std::string& path,
                                               const std::string& library);

} // namespace tenon::runs
