// SPDX-License-Identifier: Apache-2.0
// VmArena: the static plan of a VM program's values whose largest size is known.
#pragma once

#include "compiler/executor/memory.h"
#include "compiler/executor/vm_writer.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::compiler {

/// A buffer belongs to the value that was placed in it and to all that stand for the same memory;
/// it ends with the last of them. Program points are calls.
class VmArena
{
public:
    /// `at`: the word of the code that will hold the offset.
    void place(ValueRef value, const ProgramTensor& tensor, int tensorIndex, size_t at, int call);
    void takeAtRunTime() { ++m_atRunTime; } ///< one more value that has no place in the plan
    /// `alias`, which is that tensor of the program, is the same memory as `value`.
    void share(ValueRef alias, ValueRef value, int tensorIndex);
    void drop(ValueRef value, int call); ///< `call`: the last one so far
    void keep(ValueRef value);           ///< to the end of the program

    /// Plans with the named planner and writes the offsets into the code.
    Result<ProgramMemory> finish(VmWriter& writer, std::string_view planner, int calls,
                                 size_t tensors);

private:
    struct Buffer
    {
        BufferInfo facts;
        std::vector<int> tensors; ///< the one placed, then aliases
        size_t word = 0;
        int owners = 1;
        bool isKept = false;
    };

    std::vector<Buffer> m_buffers;
    int m_atRunTime = 0;
    std::unordered_map<ValueRef, size_t> m_bufferOf;
};

} // namespace tenon::compiler
