// SPDX-License-Identifier: Apache-2.0
// Bare-metal images: C sources compiled by GCC and linked with the start-up code of runtime/micro.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "core/target/micro_core.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// Where QEMU counts instructions, each takes 2^6 ns of the board's time: more than one tick of its
/// timer.
inline constexpr int kInstructionShift = 6;

struct MicroImage
{
    const core::Target& target;
    std::vector<std::string> sources; ///< paths
    std::string includes;             ///< folder of the model's header
    std::string_view optimization;    ///< "-Os"
    std::vector<std::string> options = {};
};

/// The core that images for the target are linked for. Errors: UnsupportedTarget for a target that
/// names none, or without GCC, with the package that has it.
core::Result<const core::MicroCore*> linkableCore(const core::Target& target);

/// Sources of the graph executor for bare boards, as paths.
std::vector<std::string> microGraphSources();

/// Where the linker script finds the core's memories.
std::vector<std::string> microMemoryOptions(const core::MicroCore& core);

/// What programs of that executor need on a bare board, below `runtime`; the AOT executor nothing.
/// Error IoFailure.
core::Result<std::vector<SourceFile>> microRuntimeFiles(ExecutorKind executor);

/// Compiles, links without what is not used, writes `path`. Errors: those of linkableCore(), and
/// BoardFailure with what the compiler says.
core::Status linkMicroImage(const MicroImage& image, const std::string& path);

} // namespace tenon::compiler
