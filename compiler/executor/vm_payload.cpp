// SPDX-License-Identifier: Apache-2.0
// A VM program as the bytes that the runtime reads.
#include "compiler/executor/byte_stream.h"
#include "compiler/executor/vm_code.h"
#include "runtime/include/tenon/vm_code.h"

namespace tenon::compiler {
namespace {

void writeWords(ByteStream& out, const std::vector<int64_t>& words)
{
    out.number<uint64_t>(words.size());
    for (const int64_t word : words) out.number(word);
}

void writeValue(ByteStream& out, const ProgramTensor& tensor, const std::string& name, int64_t reg)
{
    out.string(name);
    out.number(vmDtype(tensor.dtype));
    out.number(reg);
    writeWords(out, tensor.shape);
}

const ProgramTensor& tensorOf(const ExecutorProgram& program, int index)
{
    return program.tensors.at(static_cast<size_t>(index));
}

} // namespace

std::string vmExecutablePayload(const ExecutorProgram& program)
{
    const VmCode& code = *program.vm;
    ByteStream out;
    out.number<int64_t>(kTenonVmVersion).string(program.moduleName);
    out.number(code.tensorRegisters).number(code.lists);
    out.number<uint64_t>(program.calls.size());
    out.number(code.arenaBytes);
    writeWords(out, code.presets);
    out.number<uint64_t>(program.inputs.size());
    for (size_t i = 0; i < program.inputs.size(); ++i) {
        const ProgramTensor& tensor = tensorOf(program, program.inputs[i]);
        writeValue(out, tensor, tensor.name, code.inputRegisters.at(i));
    }
    out.number<uint64_t>(program.outputs.size());
    for (size_t i = 0; i < program.outputs.size(); ++i)
        writeValue(out, tensorOf(program, program.outputs[i]), program.outputNames.at(i),
                   code.outputRegisters.at(i));
    out.number<uint64_t>(code.constants.size());
    for (const int constant : code.constants)
        writeValue(out, tensorOf(program, constant), tensorOf(program, constant).name, 0);
    std::vector<int64_t> signatures;
    for (const ProgramKernel& kernel : program.kernels)
        signatures.insert(signatures.end(), {kernel.parameterCount, kernel.sizeCount});
    writeWords(out, signatures);
    out.strings(code.texts);
    std::vector<int64_t> lines;
    for (const auto& [at, text] : code.lines) lines.insert(lines.end(), {at, text});
    writeWords(out, lines);
    writeWords(out, code.words);
    return out.bytes();
}

} // namespace tenon::compiler
