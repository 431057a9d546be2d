// SPDX-License-Identifier: Apache-2.0
// What packaging hands to a back end: a program, its kernels and its data.
#pragma once

#include "compiler/codegen/output_format.h"
#include "compiler/executor/executor_kind.h"
#include "core/target/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

struct DataSection;
struct ExecutorProgram;
struct ProgramMemory;
struct StoragePlan;

struct GlueParts
{
    const ExecutorProgram& program;
    ExecutorKind executor;
    OutputFormat format;
    const ProgramMemory* memory = nullptr; ///< the AOT executor's plan
    const StoragePlan* storage = nullptr;  ///< the graph executor's
};

/// Weights, and what describes the artifact, each to be written as an object.
struct DataParts
{
    const std::string& triple;
    const DataSection& weights;
    std::string_view blob; ///< content of __tvm_dev_mblob
    std::string_view manifest;
    std::string weightsPath;
    std::string descriptionPath;
};

/// Who calls a program in C, and how.
enum class CInterface : uint8_t
{
    Packed,  ///< TVM's packed function over tensors
    Structs, ///< a struct of input pointers and one of output pointers
    Unpacked ///< the pointers themselves, inputs before outputs
};

/// Name of an input's or output's member of the structs.
std::string cMemberName(const std::string& tensor);
/// Name of the workspace array, for who looks it up in an image.
std::string cWorkspaceSymbol(const ExecutorProgram& program);

struct SourceProgram
{
    const ExecutorProgram& program;
    const ProgramMemory& memory;
    ExecutorKind executor;
    std::vector<std::string> kernels; ///< SourceKernel::text of each
    const core::Target& target;
    std::string model; ///< its name
    CInterface interface = CInterface::Packed;
    bool bringsHeaders = false; ///< those of the runtime's ABI, too, where the interface is that
    bool isMarked = false;      ///< TVMGEN_MARK(index) stands before each call and behind the last
};

/// One file: its path below the folder, and its content.
struct SourceFile
{
    std::string path;
    std::string text;
};

} // namespace tenon::compiler
