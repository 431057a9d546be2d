// SPDX-License-Identifier: Apache-2.0
// The sample program and its kernel in LLVM IR text.
#include "tests/compiler/executor/sample_program.h"

#include "compiler/codegen/back_end.h"

namespace tenon::test {

using compiler::ExecutorProgram;
using compiler::KernelCall;
using compiler::ProgramTensor;
using compiler::TensorRole;

ExecutorProgram sampleProgram()
{
    const auto tensor = [](const char* name, TensorRole role) {
        return ProgramTensor{.name = name, .dtype = core::kFloat32, .shape = {2, 3}, .role = role};
    };
    ExecutorProgram program;
    program.tensors = {
        tensor("x", TensorRole::Input),
        tensor("b", TensorRole::Input),
        tensor("w", TensorRole::Constant),
        tensor("sum", TensorRole::Intermediate),
        tensor("twice", TensorRole::Intermediate),
        tensor("y", TensorRole::Intermediate),
        tensor("flat", TensorRole::Intermediate),
    };
    program.tensors[2].constant =
        core::Tensor::of<float>(core::kFloat32, {2, 3}, {10, 20, 30, 40, 50, 60});
    program.tensors[6].viewOf = 3;
    program.tensors[6].shape = {6};
    program.inputs = {0, 1};
    program.outputs = {5, 6, 0, 2};
    program.outputNames = {"y", "flat", "x_again", "w_again"};
    program.kernels = {{.symbol = "tenon_kernel_add",
                        .function = "tvmgen_default_fused_add",
                        .parameterCount = 3,
                        .workspaceBytes = 24,
                        .textHash = "00ff"}};
    const auto call = [](const char* name, std::vector<int> arguments, const char* node) {
        return KernelCall{
            .name = name, .kernel = 0, .arguments = std::move(arguments), .fromNodes = {node}};
    };
    program.calls = {call("fused_add", {0, 2, 3}, "Add_0"), call("fused_add_1", {3, 3, 4}, "Add_1"),
                     call("fused_add_2", {4, 1, 5}, "Add_2")};
    return program;
}

std::string sampleKernelText()
{
    return R"(
@tenon__TVMBackendAllocWorkspace = external hidden global ptr
@tenon__TVMBackendFreeWorkspace = external hidden global ptr
define hidden i32 @tenon_kernel_add(ptr %a, ptr %b, ptr %out) nounwind {
entry:
  %alloc = load ptr, ptr @tenon__TVMBackendAllocWorkspace
  %scratch = call ptr %alloc(i32 1, i32 0, i64 24, i32 2, i32 32)
  %isNull = icmp eq ptr %scratch, null
  br i1 %isNull, label %failed, label %loop
failed:
  ret i32 -1
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %atA = getelementptr float, ptr %a, i64 %i
  %atB = getelementptr float, ptr %b, i64 %i
  %atScratch = getelementptr float, ptr %scratch, i64 %i
  %x = load float, ptr %atA
  %y = load float, ptr %atB
  %sum = fadd float %x, %y
  store float %sum, ptr %atScratch
  %next = add i64 %i, 1
  %isMore = icmp ult i64 %next, 6
  br i1 %isMore, label %loop, label %copy
copy:
  %k = phi i64 [ 0, %loop ], [ %nextK, %copy ]
  %from = getelementptr float, ptr %scratch, i64 %k
  %to = getelementptr float, ptr %out, i64 %k
  %value = load float, ptr %from
  store float %value, ptr %to
  %nextK = add i64 %k, 1
  %isMoreK = icmp ult i64 %nextK, 6
  br i1 %isMoreK, label %copy, label %done
done:
  %free = load ptr, ptr @tenon__TVMBackendFreeWorkspace
  %freed = call i32 %free(i32 1, i32 0, ptr %scratch)
  ret i32 0
}
)";
}

std::string failingKernelText()
{
    return "define hidden i32 @tenon_kernel_add(ptr %a, ptr %b, ptr %out) {\n  ret i32 -1\n}\n";
}

compiler::MachineSpec sampleMachine(const std::string& triple)
{
    compiler::MachineSpec spec = compiler::hostMachine();
    if (triple.empty()) return spec;
    spec = {.triple = triple, .cpu = "generic"};
    spec.backEnd = compiler::findBackEnd({.kind = "llvm", .mtriple = triple});
    return spec;
}

} // namespace tenon::test
