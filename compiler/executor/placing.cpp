// SPDX-License-Identifier: Apache-2.0
// Asks for the owners of memory, so that views count as what they are of.
#include "compiler/executor/placing.h"

#include <algorithm>

namespace tenon::compiler {

bool isFree(const ExecutorProgram& program, int tensor)
{
    const ProgramTensor& facts = program.tensors[static_cast<size_t>(tensor)];
    return facts.role == TensorRole::Intermediate && facts.viewOf < 0 &&
           std::none_of(program.outputs.begin(), program.outputs.end(),
                        [&](int output) { return program.memoryOwner(output) == tensor; });
}

KernelCall* lastWriterOf(ExecutorProgram& program, int owner, size_t calls)
{
    for (size_t c = calls; c-- > 0;) {
        KernelCall& call = program.calls[c];
        for (auto out = call.arguments.end() - call.outputCount; out != call.arguments.end(); ++out)
            if (program.memoryOwner(*out) == owner) return &call;
    }
    return nullptr;
}

} // namespace tenon::compiler
