// SPDX-License-Identifier: Apache-2.0
// VmCode: the bytecode of a program for the VM executor; the instructions are those of
// runtime/include/tenon/vm_code.h.
#pragma once

#include "compiler/executor/program.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tenon::compiler {

struct VmCode
{
    std::vector<int64_t> words;
    std::vector<int64_t> presets; ///< first value of each scalar register
    int64_t tensorRegisters = 0;
    int64_t lists = 0;
    int64_t arenaBytes = 0;               ///< memory of the values whose largest size is known
    std::vector<int> constants;           ///< tensor of the program behind each constant
    std::vector<int64_t> inputRegisters;  ///< one per input of the program
    std::vector<int64_t> outputRegisters; ///< one per output
    std::vector<std::string> texts;
    std::vector<std::pair<int64_t, int64_t>> lines; ///< from word on: text that names the node
};

/// DLPack's triple as one word.
inline int64_t vmDtype(core::DataType dtype)
{
    return static_cast<int64_t>(dtype.kind) | int64_t{dtype.bits} << 8 | int64_t{dtype.lanes} << 16;
}

/// Payload of a TenonVmExecutable in the blob of modules.
std::string vmExecutablePayload(const ExecutorProgram& program);

} // namespace tenon::compiler
