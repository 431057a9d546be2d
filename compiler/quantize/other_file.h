// SPDX-License-Identifier: Apache-2.0
// Whether what is made of a model may be written to a file.
#pragma once

#include "core/base/result.h"

#include <string>

namespace tenon::compiler {

using namespace core;

/// Error BadArgument where `output` is the model's own file, or one that holds weights of it.
Status needOtherFile(const std::string& model, const std::string& output);

} // namespace tenon::compiler
