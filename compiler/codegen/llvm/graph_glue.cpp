// SPDX-License-Identifier: Apache-2.0
// Glue of the graph executor: packed functions around kernels, and the linked parameters.
#include "compiler/codegen/llvm/glue.h"
#include "compiler/codegen/llvm/glue_support.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

size_t at(int index) { return static_cast<size_t>(index); }

void addPackedKernel(IrText& ir, const ExecutorProgram& program, const KernelCall& call)
{
    const ProgramKernel& kernel = program.kernels[at(call.kernel)];
    const std::string signature = addSignature(ir, program, kernel.function, call.arguments);
    const std::vector<std::string> dividers = dividersOf(program, call.kernel);
    const std::string fault = dividers.empty() ? "" : ir.addString(divisionFault(dividers));
    beginPackedFunction(ir, kernel.function, signature);
    std::vector<std::string> pointers;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
        const std::string index = std::to_string(i);
        ir.line("  %p" + index + " = call ptr @tenon.data(ptr %args, i32 " + index + ")");
        pointers.push_back("ptr %p" + index);
    }
    ir.line("  %status = call i32 " + irSymbol(kernel.symbol) + "(" + core::join(pointers, ", ") +
            ")");
    if (!dividers.empty()) addFaultReturn(ir, fault);
    ir.line("  ret i32 %status\n}\n");
}

/// `_lookup_linked_param(storage id)` returns the constant's address, or null for other storages.
void addLinkedParams(IrText& ir, const ExecutorProgram& program, const StoragePlan& storage)
{
    std::vector<std::string> pointers(storage.bytes.size(), "ptr null");
    for (size_t t = 0; t < program.tensors.size(); ++t) {
        const ProgramTensor& tensor = program.tensors[t];
        if (tensor.role != TensorRole::Constant || tensor.viewOf >= 0) continue;
        const std::string symbol = irSymbol(constantSymbol(static_cast<int>(t)));
        ir.line(symbol + " = external hidden constant i8, align 64");
        pointers[at(storage.storageOf[t])] = "ptr " + symbol;
    }
    const std::string count = std::to_string(pointers.size());
    const std::string table =
        pointers.empty()
            ? "null"
            : ir.addConstant("[" + count + " x ptr]", "[" + core::join(pointers, ", ") + "]");
    ir.line(
        R"(define i32 @_lookup_linked_param(ptr %args, ptr %codes, i32 %count, ptr %value, ptr %valueCode, ptr %resource) nounwind {
  store i64 0, ptr %value
  store i32 4, ptr %valueCode
  %id = load i64, ptr %args)");
    ir.line("  %isKnown = icmp ult i64 %id, " + count);
    ir.line("  br i1 %isKnown, label %look, label %done\nlook:");
    ir.line("  %at = getelementptr ptr, ptr " + table + ", i64 %id");
    ir.line(R"(  %pointer = load ptr, ptr %at
  %isNull = icmp eq ptr %pointer, null
  br i1 %isNull, label %done, label %found
found:
  store ptr %pointer, ptr %value
  store i32 3, ptr %valueCode
  br label %done
done:
  ret i32 0
}
)");
}

} // namespace

std::string graphGlueText(const ExecutorProgram& program, const StoragePlan& storage)
{
    IrText ir;
    addGlueSupport(ir);
    declareKernels(ir, program);
    std::vector<bool> isWritten(program.kernels.size(), false);
    for (const KernelCall& call : program.calls) {
        if (isWritten[at(call.kernel)]) continue;
        isWritten[at(call.kernel)] = true;
        addPackedKernel(ir, program, call);
    }
    addLinkedParams(ir, program, storage);
    return ir.text();
}

} // namespace tenon::compiler
