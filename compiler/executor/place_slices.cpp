// SPDX-License-Identifier: Apache-2.0
// Views in place of copies, in execution order, so that slices of slices are views, too.
#include "compiler/executor/place_slices.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

ProgramTensor& tensorOf(ExecutorProgram& program, int index)
{
    return program.tensors[static_cast<size_t>(index)];
}

bool canBeView(const ExecutorProgram& program, const KernelCall& slice, int64_t offset)
{
    const int piece = slice.arguments.back(), whole = slice.arguments.front();
    const ProgramTensor& tensor = program.tensors[static_cast<size_t>(piece)];
    const ProgramTensor& owner = program.tensors[static_cast<size_t>(program.memoryOwner(whole))];
    return tensor.role == TensorRole::Intermediate && tensor.viewOf < 0 &&
           owner.role == TensorRole::Intermediate &&
           (program.memoryOffset(whole) + offset) % kKernelAlignment == 0 &&
           std::none_of(program.outputs.begin(), program.outputs.end(),
                        [&](int output) { return program.memoryOwner(output) == piece; });
}

/// The last call in front of `reader` that writes memory of `owner`.
KernelCall* writerOf(ExecutorProgram& program, int owner, size_t reader)
{
    for (size_t c = reader; c-- > 0;) {
        KernelCall& call = program.calls[c];
        for (auto out = call.arguments.end() - call.outputCount; out != call.arguments.end(); ++out)
            if (program.memoryOwner(*out) == owner) return &call;
    }
    return nullptr;
}

} // namespace

void placeSlices(ExecutorProgram& program, const std::map<std::string, int64_t>& slices)
{
    const size_t before = program.calls.size();
    for (size_t c = 0; c < program.calls.size();) {
        const KernelCall slice = program.calls[c];
        const auto found = slices.find(slice.name);
        const int whole = slice.arguments.front();
        KernelCall* writer = found != slices.end() && canBeView(program, slice, found->second)
                                 ? writerOf(program, program.memoryOwner(whole), c)
                                 : nullptr;
        if (!writer) {
            ++c;
            continue;
        }
        ProgramTensor& piece = tensorOf(program, slice.arguments.back());
        piece.viewOf = whole;
        piece.viewOffsetBytes = found->second;
        writer->sources.insert(writer->sources.end(), slice.sources.begin(), slice.sources.end());
        writer->fromNodes.insert(writer->fromNodes.end(), slice.fromNodes.begin(),
                                 slice.fromNodes.end());
        program.calls.erase(program.calls.begin() + static_cast<std::ptrdiff_t>(c));
    }
    if (program.calls.size() < before) verifyProgram(program);
}

} // namespace tenon::compiler
