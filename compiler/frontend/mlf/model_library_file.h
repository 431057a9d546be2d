// SPDX-License-Identifier: Apache-2.0
// Whether an archive is a model or holds only code.
#pragma once

#include <string>

namespace tenon::compiler {

/// True for a Model Library Format archive, by its content; false for what cannot be read, too.
bool isModelLibraryFile(const std::string& path);

} // namespace tenon::compiler
