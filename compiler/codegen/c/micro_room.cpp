// SPDX-License-Identifier: Apache-2.0
// Lower limits: code, stack and statics come on top.
#include "compiler/codegen/c/micro_room.h"

#include "compiler/codegen/c/micro_program.h"
#include "compiler/executor/memory.h"
#include "core/base/text.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

constexpr size_t kLargest = 5; ///< that are named

struct Part
{
    std::string name;
    int64_t bytes = 0;
    std::string call =
        {}; ///< whose it is, as people call it; empty: of none, or it has no such name
};

std::string bytes(int64_t count) { return core::thousands(count) + " B"; }

int64_t sum(const std::vector<Part>& parts)
{
    int64_t out = 0;
    for (const Part& part : parts) out += part.bytes;
    return out;
}

/// By owner of the memory: the first call with that argument, which writes what is no constant.
std::map<int, std::string> callsOf(const ExecutorProgram& program)
{
    std::map<int, std::string> out;
    for (const KernelCall& call : program.calls)
        for (size_t i = 0; i < call.arguments.size(); ++i) {
            const int owner = program.memoryOwner(call.arguments[i]);
            const ProgramTensor& tensor = program.tensors[static_cast<size_t>(owner)];
            const bool isWritten =
                i + static_cast<size_t>(call.outputCount) >= call.arguments.size();
            if (isWritten || tensor.role == TensorRole::Constant)
                out.emplace(owner, call.title.text());
        }
    return out;
}

std::vector<Part> weights(const ExecutorProgram& program)
{
    std::vector<Part> out;
    std::map<int, std::string> calls = callsOf(program);
    for (size_t i = 0; i < program.tensors.size(); ++i) {
        const ProgramTensor& tensor = program.tensors[i];
        if (tensor.role == TensorRole::Constant && tensor.viewOf < 0)
            out.push_back({tensor.name, tensor.bytes(), calls[static_cast<int>(i)]});
    }
    return out;
}

std::vector<Part> memory(const SourceProgram& source)
{
    std::vector<Part> out;
    const ExecutorProgram& program = source.program;
    if (source.executor == ExecutorKind::Graph) return {{"arena", microArenaBytes(program)}};
    out.push_back({"workspace", source.memory.workspaceBytes()});
    if (source.memory.hasIo()) return out;
    for (const auto* ports : {&program.inputs, &program.outputs})
        for (const int port : *ports) {
            const ProgramTensor& tensor = program.tensors[static_cast<size_t>(port)];
            out.push_back({tensor.name, tensor.bytes()});
        }
    return out;
}

/// Buffers of the workspace, which share its memory.
std::vector<Part> buffers(const SourceProgram& source)
{
    std::vector<Part> out;
    std::map<int, std::string> calls = callsOf(source.program);
    const std::vector<BufferInfo>& planned = source.memory.problem.buffers;
    for (size_t i = 0; i < planned.size(); ++i)
        out.push_back({planned[i].name, planned[i].sizeBytes, calls[source.memory.tensorOf[i]]});
    return out;
}

void addNotes(const char* what, std::vector<Part> parts, core::Diagnostic& error)
{
    std::erase_if(parts, [](const Part& part) { return part.bytes == 0; });
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.bytes > b.bytes; });
    for (size_t i = 0; i < std::min(kLargest, parts.size()); ++i) {
        const std::string& call = parts[i].call;
        error.notes.push_back({core::Severity::Note,
                               core::DiagnosticCode::OutOfMemory,
                               std::string(what) + " " + core::quoted(parts[i].name) +
                                   (call.empty() ? "" : " of " + core::quoted(call)) + " takes " +
                                   bytes(parts[i].bytes),
                               {}});
    }
}

} // namespace

core::Status checkRoom(const SourceProgram& source, const core::MicroCore& core)
{
    const std::vector<Part> flash = weights(source.program), ram = memory(source);
    const int64_t flashBytes = sum(flash), ramBytes = sum(ram);
    if (flashBytes <= core.flashBytes && ramBytes <= core.ramBytes) return core::kDone;
    const std::string board(core.board.empty() ? core.cpu : core.board);
    core::Diagnostic error = core::makeError(
        core::DiagnosticCode::OutOfMemory,
        "the model does not fit " + board + ": its weights take " + bytes(flashBytes) + " of " +
            bytes(core.flashBytes) + " of flash, its memory " + bytes(ramBytes) + " of " +
            bytes(core.ramBytes) +
            " of RAM, before any code and stack; `tenon footprint --board` says what would help");
    if (flashBytes > core.flashBytes) addNotes("the constant", flash, error);
    if (ramBytes > core.ramBytes) {
        addNotes("of the memory", ram, error);
        addNotes("in the workspace", buffers(source), error);
    }
    return error;
}

} // namespace tenon::compiler
