// SPDX-License-Identifier: Apache-2.0
// Views in place of copies, in execution order, so that slices of slices are views, too.
#include "compiler/executor/place_slices.h"

#include "compiler/executor/placing.h"

namespace tenon::compiler {
namespace {

bool canBeView(const ExecutorProgram& program, const KernelCall& slice, int64_t offset)
{
    const int whole = slice.arguments.front();
    const auto owner = static_cast<size_t>(program.memoryOwner(whole));
    return isFree(program, slice.arguments.back()) &&
           program.tensors[owner].role == TensorRole::Intermediate &&
           (program.memoryOffset(whole) + offset) % kKernelAlignment == 0;
}

} // namespace

void placeSlices(ExecutorProgram& program, const std::map<std::string, int64_t>& slices)
{
    const size_t before = program.calls.size();
    for (size_t c = 0; c < program.calls.size();) {
        const KernelCall slice = program.calls[c++];
        const auto found = slices.find(slice.name);
        if (found == slices.end() || !canBeView(program, slice, found->second)) continue;
        const int whole = slice.arguments.front();
        KernelCall* writer = lastWriterOf(program, program.memoryOwner(whole), c - 1);
        if (!writer) continue;
        ProgramTensor& piece = program.tensors[static_cast<size_t>(slice.arguments.back())];
        piece.viewOf = whole;
        piece.viewOffsetBytes = found->second;
        writer->sources.insert(writer->sources.end(), slice.sources.begin(), slice.sources.end());
        writer->fromNodes.insert(writer->fromNodes.end(), slice.fromNodes.begin(),
                                 slice.fromNodes.end());
        program.calls.erase(program.calls.begin() + static_cast<std::ptrdiff_t>(--c));
    }
    if (program.calls.size() < before) verifyProgram(program);
}

} // namespace tenon::compiler
