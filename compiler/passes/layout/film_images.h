// SPDX-License-Identifier: Apache-2.0
// Convolutions over three axes as convolutions of images, with what stands between them.
#pragma once

#include "compiler/passes/pass.h"

namespace tenon::compiler {

Patches filmsAsImages(const Module& module, const GraphFunction& function);

} // namespace tenon::compiler
