// SPDX-License-Identifier: Apache-2.0
// The two kinds of images whose parts are measured.
#pragma once

#include "remote/footprint/footprint.h"

namespace tenon::remote {

/// Bare-metal image of a `c` target for a Cortex-M: compiled, linked, and run on an emulated board
/// for the stack.
core::Result<ExecutorFootprint> measureMicroImage(const compiler::CompileResult& result,
                                                  compiler::CInterface interface);

/// Code, constants and metadata of a linked library.
core::Result<FlashBytes> flashOfLibrary(const std::string& path,
                                        const core::ManifestMemory& memory);

/// The part of measureLibrary() that needs no run.
core::Result<ExecutorFootprint> countLibrary(const compiler::CompileResult& result);

/// Shared library of an `llvm` target with the server that runs it.
core::Result<ExecutorFootprint> measureLibrary(const compiler::CompileResult& result);

} // namespace tenon::remote
