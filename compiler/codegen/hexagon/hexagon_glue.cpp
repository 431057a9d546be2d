// SPDX-License-Identifier: Apache-2.0
// A Hexagon program from its first instruction on: there is no C library for it to start from, so
// start.ll asks the Linux kernel itself for files, memory and the time. Numbers of system calls are
// as all newer architectures share them: 56 openat, 57 close, 63 read, 64 write, 94 exit_group, 214
// brk, 403 clock_gettime64. Closing a number that no file has changes nothing; it tells those who
// count instructions where an inference ends (count_plugin.c).
#include "compiler/codegen/hexagon/hexagon_glue.h"

#include "compiler/codegen/hexagon/texts.h"
#include "compiler/codegen/llvm/glue_support.h"
#include "compiler/executor/program.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

std::string bytesName(size_t index) { return "@tenon.bytes" + std::to_string(index); }

int64_t bytesOf(const ExecutorProgram& program, int tensor)
{
    return program.tensors[static_cast<size_t>(tensor)].bytes();
}

/// Memory and descriptions of the inputs and outputs, and the arguments made of them.
void addArguments(IrText& ir, const ExecutorProgram& program, const std::vector<int>& tensors)
{
    std::vector<std::string> values;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(tensors[i])];
        const std::string shape = ir.addNumbers(tensor.shape);
        const std::string number = std::to_string(i);
        ir.line(bytesName(i) + " = internal global [" +
                std::to_string(std::max<int64_t>(tensor.bytes(), 1)) +
                " x i8] zeroinitializer, align 128");
        ir.line("@tenon.tensor" + number + " = internal global %Tensor { ptr " + bytesName(i) +
                ", %Device { i32 1, i32 0 }, i32 " + std::to_string(tensor.shape.size()) + ", " +
                irDtype(tensor.dtype) + ", ptr " + shape + ", ptr null, i64 0 }");
        values.push_back("{ ptr, i32 } { ptr @tenon.tensor" + number + ", i32 0 }");
    }
    const std::string count = std::to_string(tensors.size());
    const std::vector<std::string> codes(tensors.size(), "i32 7"); // DLTensor*
    ir.line("@tenon.values = internal global [" + count + " x { ptr, i32 }] [" +
            core::join(values, ", ") + "], align 8");
    ir.line("@tenon.codes = internal global [" + count + " x i32] [" + core::join(codes, ", ") +
            "]");
    ir.line("@tenon.result = internal global i64 0\n@tenon.resultCode = internal global i32 0");
    ir.line("@tenon.counts = internal global [3 x i32] zeroinitializer");
}

/// `name` transfers tensors [first, end) one after another.
void addTransfers(IrText& ir, const std::string& name, int call, const ExecutorProgram& program,
                  const std::vector<int>& tensors, size_t first)
{
    ir.line("define internal void " + name + "(i32 %file) noinline nounwind {");
    for (size_t i = 0; i < tensors.size(); ++i)
        ir.line("  call void @tenon.transfer(i32 " + std::to_string(call) + ", i32 %file, ptr " +
                bytesName(first + i) + ", i32 " + std::to_string(bytesOf(program, tensors[i])) +
                ")");
    ir.line("  ret void\n}");
}

} // namespace

std::string hexagonProgramText(const ExecutorProgram& program)
{
    IrText ir;
    std::vector<int> all = program.inputs;
    all.insert(all.end(), program.outputs.begin(), program.outputs.end());
    const size_t marks = program.calls.size() + 1;
    addArguments(ir, program, all);
    ir.line("@tenon.marks = internal global [" + std::to_string(marks) + " x i64] zeroinitializer");
    ir.line(R"ir(@tenon.badFile = internal constant [29 x i8] c"cannot read or write a file\0A\00"
@tenon.usage = internal constant [41 x i8] c"wants three files: INPUTS OUTPUTS TIMES\0A\00")ir");
    addTransfers(ir, "@tenon.readAll", 63, program, program.inputs, 0);
    addTransfers(ir, "@tenon.writeAll", 64, program, program.outputs, program.inputs.size());
    const std::string prefix = "tvmgen_" + program.moduleName;
    std::string system = core::replaced(std::string(kStart), "@COUNT@", std::to_string(all.size()));
    system = core::replaced(system, "@MARKBYTES@", std::to_string(8 * marks));
    system = core::replaced(system, "@MAIN@", prefix + "___tvm_main__");
    system = core::replaced(system, "@PROFILE@", prefix + "___tenon_profile__");
    // IrText numbers its constants; a text of its own would repeat the names of the glue's.
    return core::replaced(ir.text(), "@tenon.constant.", "@tenon.shape.") + system +
           aloneRuntimeText("tenon.initialize");
}

} // namespace tenon::compiler
