// SPDX-License-Identifier: Apache-2.0
// What decides whether a tensor may lie in another one.
#pragma once

#include "compiler/executor/program.h"

namespace tenon::compiler {

/// An intermediate in memory of its own, which is no output of the model's either.
bool isFree(const ExecutorProgram& program, int tensor);

/// The last of the first `calls` calls that writes memory of `owner`, or a null pointer.
KernelCall* lastWriterOf(ExecutorProgram& program, int owner, size_t calls);

} // namespace tenon::compiler
