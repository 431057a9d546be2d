// SPDX-License-Identifier: Apache-2.0
// The manifest of a program.
#include "compiler/package/package.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

size_t at(int index) { return static_cast<size_t>(index); }

core::ManifestTensor described(const ProgramTensor& tensor, std::string name)
{
    return {std::move(name), tensor.dtype.text(), tensor.shape, tensor.dims};
}

} // namespace

core::ManifestMemory describedMemory(const ExecutorProgram& program, const ProgramMemory* memory)
{
    core::ManifestMemory out;
    for (const ProgramKernel& kernel : program.kernels)
        out.kernelWorkspaceBytes = std::max(out.kernelWorkspaceBytes, kernel.workspaceBytes);
    for (const ProgramTensor& tensor : program.tensors)
        if (tensor.role == TensorRole::Constant && tensor.viewOf < 0)
            out.constantBytes += tensor.bytes();
    for (const int input : program.inputs) out.ioBytes += program.tensors[at(input)].bytes();
    for (const int output : program.outputs) out.ioBytes += program.tensors[at(output)].bytes();
    if (program.vm && !memory) return out; // all memory is taken at run time
    if (!memory) {
        const StoragePlan storage = planStorage(program);
        std::set<int> counted;
        for (size_t t = 0; t < program.tensors.size(); ++t)
            if (program.tensors[t].role == TensorRole::Intermediate && storage.storageOf[t] >= 0 &&
                counted.insert(storage.storageOf[t]).second)
                out.workspaceBytes += storage.bytes[at(storage.storageOf[t])];
        return out;
    }
    out.algorithm = memory->plan.algorithm;
    out.workspaceBytes = memory->workspaceBytes();
    out.lowerBoundBytes = memory->plan.lowerBoundBytes;
    for (size_t i = 0; i < memory->problem.buffers.size(); ++i) {
        const BufferInfo& buffer = memory->problem.buffers[i];
        out.buffers.push_back({buffer.name, buffer.sizeBytes, memory->plan.placements[i].offset,
                               buffer.first, buffer.last});
    }
    return out;
}

core::ManifestCall describedCall(const ExecutorProgram& program, const KernelCall& call)
{
    core::ManifestCall out;
    out.name = call.name;
    out.title = call.title.text();
    out.kernel = call.kernel;
    out.fromNodes = call.fromNodes;
    out.flops = call.flops;
    out.leastFlops = call.leastFlops;
    out.macs = call.macs;
    out.movedBytes = call.movedBytes;
    out.weightBytes = call.weightBytes;
    out.method = call.method;
    out.refusal = call.refusal;
    out.plainReason = call.plainReason;
    for (size_t i = call.arguments.size() - at(call.outputCount); i < call.arguments.size(); ++i) {
        const ProgramTensor& tensor = program.tensors[at(call.arguments[i])];
        out.outputs.push_back(described(tensor, tensor.name));
    }
    return out;
}

core::Manifest makeManifest(const ExecutorProgram& program, ExecutorKind executor,
                            const ProgramMemory* memory, core::Manifest head)
{
    core::Manifest manifest = std::move(head);
    manifest.executor = executorName(executor);
    manifest.moduleName = program.moduleName;
    for (const int input : program.inputs) {
        const ProgramTensor& tensor = program.tensors[at(input)];
        manifest.inputs.push_back(described(tensor, tensor.name));
    }
    for (size_t i = 0; i < program.outputs.size(); ++i)
        manifest.outputs.push_back(
            described(program.tensors[at(program.outputs[i])], program.outputNames[i]));
    // A driver that knows the code sizes has filled in the kernels already.
    if (manifest.kernels.empty())
        for (const ProgramKernel& kernel : program.kernels)
            manifest.kernels.push_back({kernel.symbol, kernel.function, kernel.textHash, 0});
    for (const KernelCall& call : program.calls)
        manifest.calls.push_back(describedCall(program, call));
    manifest.memory = describedMemory(program, memory);
    manifest.bounds = program.bounds;
    return manifest;
}

} // namespace tenon::compiler
