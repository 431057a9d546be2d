// SPDX-License-Identifier: Apache-2.0
// The forms that a compiled model is written in.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::compiler {

enum class OutputFormat : uint8_t
{
    SharedLibrary, ///< .so
    Object,        ///< .o, everything in one relocatable object
    Tar,           ///< .tar of objects, linked by whoever loads it, or of sources
    ModelLibrary,  ///< .mlf.tar, code and everything that a project wants to know of it
    WasmModule,    ///< .wasm, which needs no runtime
    Program,       ///< .elf, which needs no runtime either
    Folder         ///< of sources
};

/// By the path's suffix: .so, .o, .tar, .mlf.tar, .wasm, .elf; error BadArgument names them.
core::Result<OutputFormat> outputFormatOf(const std::string& path);

/// ".so"; empty for a folder.
std::string_view suffixOf(OutputFormat format);
/// "shared library"
std::string_view formatName(OutputFormat format);
/// True for what a runtime, an engine or the system loads as it is.
bool isRunnable(OutputFormat format);
/// True for what runs without a runtime beside it.
bool standsAlone(OutputFormat format);

} // namespace tenon::compiler
