// SPDX-License-Identifier: Apache-2.0
// Packages: from a program and its kernel objects to one loadable file.
#pragma once

#include "compiler/codegen/back_end.h"
#include "compiler/executor/memory.h"
#include "compiler/executor/program.h"
#include "core/artifact/manifest.h"
#include "core/ir/module.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

struct PackageInput
{
    const ExecutorProgram& program;
    ExecutorKind executor = ExecutorKind::Aot;
    /// Kernel objects and the builtins object; references to `tenon__TVM...` and among one another.
    std::vector<std::string_view> objects;
    MachineSpec machine;
    /// The plan of the AOT executor (planProgram) or of the VM's arena; not used for graph.
    const ProgramMemory* memory = nullptr;
    /// Head of the manifest: tool, model, target, opt level; packaging fills in the rest.
    core::Manifest manifest = {};
    /// As it was imported; for Model Library Format archives.
    const core::Module* module = nullptr;
    /// Compiles the glue's text; a driver puts its object cache here. Default: the back end's.
    std::function<core::Result<std::string>(const std::string& irText)> emitGlue = {};
    /// Calls the linker; a driver puts its workers here. Default: in this process.
    std::function<core::Status(const LinkJob&, const std::string& output)> link = {};
};

/// What was written, and how long its parts took.
struct PackageReport
{
    core::Manifest manifest;
    std::string graphJson; ///< graph executor only
    std::vector<std::string> exports;
    int64_t fileBytes = 0;
    bool isUnchanged = false; ///< the file held it already; libraries only
    double glueMs = 0;
    double dataMs = 0;
    double linkMs = 0; ///< linking or archiving
};

/// Writes `path` atomically: at every instant it holds the old or the whole new file. A library
/// that stands there already is not written again.
core::Result<PackageReport> writePackage(const PackageInput& input, OutputFormat format,
                                         const std::string& path);

/// What a program takes of memory; `memory` is null for the graph executor, whose storages count.
core::ManifestMemory describedMemory(const ExecutorProgram& program, const ProgramMemory* memory);
/// The manifest of a program: everything but the head.
core::Manifest makeManifest(const ExecutorProgram& program, ExecutorKind executor,
                            const ProgramMemory* memory, core::Manifest head);
core::ManifestCall describedCall(const ExecutorProgram& program, const KernelCall& call);

} // namespace tenon::compiler
