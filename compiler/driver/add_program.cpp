// SPDX-License-Identifier: Apache-2.0
// From kernels to a program: calls in order, joins placed, memory planned.
#include "compiler/driver/compile_stages.h"
#include "compiler/executor/place_joins.h"
#include "compiler/executor/place_slices.h"
#include "compiler/ops/source_macs.h"
#include "compiler/passes/fuse/fusion_groups.h"
#include "compiler/passes/fuse/within_wholes.h"
#include "compiler/passes/slice_ranges.h"
#include "core/ir/tir/text.h"
#include "runtime/include/tenon/c_backend_api.h"

#include <map>

namespace tenon::compiler {
namespace {

// What the passes count on to be placed is placed.
static_assert(kPartAlignment == kKernelAlignment);

/// The source of every kernel, and the memory it wants to be lent.
Status writeKernels(CompileResult& result)
{
    for (size_t i = 0; i < result.kernels.size(); ++i) {
        CompiledKernel& kernel = result.kernels[i];
        auto lowered = tir::parsePrimFunc(kernel.loweredText);
        if (!lowered) return lowered.error();
        lowered->attrs.set("vector_bytes", int64_t{result.facts.vectorBytes});
        auto source = result.machine.backEnd->sources->writeKernel(*lowered, kernel.symbol);
        if (!source) {
            Diagnostic error = source.error();
            const std::string title = titleOfKernel(result.program, static_cast<int>(i));
            error.location.detail = "kernel " + (title.empty() ? kernel.name : title);
            for (const KernelCall& call : result.program.calls)
                if (call.kernel == static_cast<int>(i) && error.location.node.empty() &&
                    !call.fromNodes.empty())
                    error.location.node = call.fromNodes.front();
            return error;
        }
        kernel.object = std::make_shared<const std::string>(std::move(source->text));
        result.program.kernels[i].scratchBytes = source->scratchBytes;
    }
    return kDone;
}

/// Names of the calls that only join, with the pieces that each part has in the whole.
std::map<std::string, int64_t> joinsOf(const Module& lowered, const ExecutorProgram& program)
{
    std::map<std::string, int64_t> joins;
    for (const KernelCall& call : program.calls) {
        const NodeRecord& node = lowered.node(call.node);
        const std::vector<NodeId>& members = lowered.function(node.callee).order;
        if (const int64_t pieces = node.attrs.integer(kPiecesAttr, 0); pieces > 0)
            joins[call.name] = pieces;
        else if (members.size() == 1 && joinsWholeTensors(lowered.node(members[0])) &&
                 !node.attrs.has(kWithinWholeAttr))
            joins[call.name] = 1;
    }
    return joins;
}

/// Names of the calls that only copy one piece of their operand, with the bytes in front of it.
std::map<std::string, int64_t> slicesIn(const Module& lowered, const ExecutorProgram& program)
{
    std::map<std::string, int64_t> slices;
    for (const KernelCall& call : program.calls) {
        const NodeRecord& node = lowered.node(call.node);
        const std::vector<NodeId>& members = lowered.function(node.callee).order;
        if (members.size() != 1 || call.outputCount != 1 || node.attrs.has(kWithinWholeAttr))
            continue;
        if (const auto first = firstOfPiece(lowered, lowered.node(members[0])))
            slices[call.name] = *first * lowered.node(members[0]).types[0].dtype.bytes();
    }
    return slices;
}

/// Kernels whose calls were all placed away; the others keep their order.
void dropUnusedKernels(CompileResult& result)
{
    std::vector<int> to(result.kernels.size(), -1);
    for (const KernelCall& call : result.program.calls) to[static_cast<size_t>(call.kernel)] = 0;
    size_t kept = 0;
    for (size_t k = 0; k < to.size(); ++k) {
        if (to[k] < 0) continue;
        to[k] = static_cast<int>(kept);
        if (kept != k) {
            result.kernels[kept] = std::move(result.kernels[k]);
            result.program.kernels[kept] = std::move(result.program.kernels[k]);
        }
        ++kept;
    }
    result.kernels.resize(kept);
    result.program.kernels.resize(kept);
    for (KernelCall& call : result.program.calls)
        call.kernel = to[static_cast<size_t>(call.kernel)];
}

void addMacs(CompileResult& result)
{
    const Module& lowered = result.passes.last();
    const auto macs = SourceMacs(result.passes.imported).in(lowered);
    for (KernelCall& call : result.program.calls) {
        const NodePtr& node = lowered.findNode(call.node);
        if (!node || !node->callee.isValid()) continue;
        for (const NodeId member : lowered.function(node->callee).order)
            if (const auto found = macs.find(member); found != macs.end())
                call.macs += found->second;
    }
}

/// A runtime takes so many inputs or outputs, of so many dimensions.
Status checkTaken(const ExecutorProgram& program, const std::vector<int>& tensors, const char* what)
{
    if (tensors.size() > TENON_MOST_TENSORS)
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "the model has " + std::to_string(tensors.size()) + " " + what +
                             "s; a runtime takes at most " + std::to_string(TENON_MOST_TENSORS));
    for (const int index : tensors) {
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(index)];
        if (tensor.shape.size() > TENON_MOST_DIMS)
            return makeError(
                DiagnosticCode::UnsupportedFeature,
                std::string("an ") + what + " has " + std::to_string(tensor.shape.size()) +
                    " dimensions; a runtime takes at most " + std::to_string(TENON_MOST_DIMS),
                {.detail = tensor.name});
    }
    return kDone;
}

Status checkTaken(const ExecutorProgram& program)
{
    if (Status taken = checkTaken(program, program.inputs, "input"); !taken) return taken;
    return checkTaken(program, program.outputs, "output");
}

/// Where values lie, and with C source in which of its memories.
Status addMemory(CompileResult& result)
{
    const BackEnd& backEnd = *result.machine.backEnd;
    const int64_t alignment =
        backEnd.workspaceAlignment ? backEnd.workspaceAlignment(result.target) : 64;
    MemoryRequest request{.alignment = alignment};
    if (result.options.executor == ExecutorKind::Aot && backEnd.sources) {
        if (!result.options.workspacePools.empty()) request.pools = result.options.workspacePools;
        request.constantPools = result.options.constantPools;
        request.constantAlignment = backEnd.constantsAlignment(result.target);
        request.takesIo = result.takesIo;
    }
    auto memory = planProgram(result.program, result.options.planner, request);
    if (!memory) return memory.error();
    result.memory = std::move(*memory);
    return kDone;
}

} // namespace

Module wiredModule(const CompileResult& result)
{
    const Module& lowered = result.passes.last();
    const bool placesTensors =
        result.options.executor == ExecutorKind::Aot && vmReason(lowered).empty();
    return placesTensors ? withinWholes(lowered) : lowered;
}

Status addProgram(CompileResult& result, const Module& lowered)
{
    if (result.options.executor != ExecutorKind::Vm) {
        result.vmReason = vmReason(lowered);
        if (!result.vmReason.empty()) result.options.executor = ExecutorKind::Vm;
    }
    const bool isVm = result.options.executor == ExecutorKind::Vm;
    if (isVm) {
        auto vm = buildVmProgram(lowered, result.kernels, result.options.planner);
        if (!vm) return vm.error();
        result.program = std::move(vm->program);
        result.memory = std::move(vm->memory);
    } else {
        auto program = buildProgram(lowered, result.kernels);
        if (!program) return program.error();
        result.program = std::move(*program);
    }
    if (Status taken = checkTaken(result.program); !taken) return taken;
    addMacs(result);
    for (size_t i = 0; i < result.kernels.size(); ++i)
        result.kernels[i].function = result.program.kernels[i].function;
    const BackEnd& backEnd = *result.machine.backEnd;
    if (backEnd.sources && !backEnd.runs(result.options.executor))
        return makeError(
            DiagnosticCode::UnsupportedFeature,
            "the vm executor needs a target of kind llvm, but the model needs the vm: " +
                (result.vmReason.empty() ? "it was asked for" : result.vmReason));
    if (result.options.executor == ExecutorKind::Aot) {
        placeJoins(result.program, joinsOf(lowered, result.program));
        if (!backEnd.traits(result.machine).savesMemory) // a view keeps the whole operand
            placeSlices(result.program, slicesIn(lowered, result.program));
        dropUnusedKernels(result);
    }
    if (backEnd.sources)
        if (Status written = writeKernels(result); !written) return written;
    if (isVm) return kDone;
    return addMemory(result);
}

} // namespace tenon::compiler
