// SPDX-License-Identifier: Apache-2.0
// Glue of the VM executor: every kernel behind one signature, and a table of kernels and constants.
#include "compiler/codegen/llvm/glue.h"
#include "compiler/codegen/llvm/glue_support.h"
#include "compiler/executor/vm_code.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

/// i32 @tenon.vm.<i>(ptr tensors, ptr sizes).
void addTrampoline(IrText& ir, const ProgramKernel& kernel, const std::string& number)
{
    ir.line("define internal i32 @tenon.vm." + number + "(ptr %tensors, ptr %sizes) nounwind {");
    std::vector<std::string> arguments;
    const auto addLoads = [&](int count, const std::string& type, const std::string& name) {
        for (int i = 0; i < count; ++i) {
            const std::string value = "%" + name + std::to_string(i);
            ir.line("  " + value + "At = getelementptr " + type + ", ptr %" + name + "s, i32 " +
                    std::to_string(i));
            ir.line("  " + value + " = load " + type + ", ptr " + value + "At");
            arguments.push_back(type + " " + value);
        }
    };
    addLoads(kernel.parameterCount, "ptr", "tensor");
    addLoads(kernel.sizeCount, "i64", "size");
    ir.line("  %status = call i32 " + irSymbol(kernel.symbol) + "(" + core::join(arguments, ", ") +
            ")");
    ir.line("  ret i32 %status\n}\n");
}

std::string addPointers(IrText& ir, const std::vector<std::string>& pointers)
{
    if (pointers.empty()) return "null";
    return ir.addConstant("[" + std::to_string(pointers.size()) + " x ptr]",
                          "[" + core::join(pointers, ", ") + "]");
}

} // namespace

std::string vmGlueText(const ExecutorProgram& program)
{
    IrText ir;
    addGlueSupport(ir);
    declareKernels(ir, program);
    std::vector<std::string> kernels;
    std::vector<std::string> constants;
    for (const ProgramKernel& kernel : program.kernels) {
        const std::string number = std::to_string(kernels.size());
        addTrampoline(ir, kernel, number);
        kernels.push_back("ptr @tenon.vm." + number);
    }
    for (const int constant : program.vm->constants) {
        const std::string symbol = irSymbol(constantSymbol(constant));
        ir.line(symbol + " = external hidden constant i8, align 64");
        constants.push_back("ptr " + symbol);
    }
    const std::string kernelTable = addPointers(ir, kernels);
    const std::string constantTable = addPointers(ir, constants);
    const std::string table = ir.addConstant(
        "{ i64, ptr, i64, ptr }", "{ i64 " + std::to_string(kernels.size()) + ", ptr " +
                                      kernelTable + ", i64 " + std::to_string(constants.size()) +
                                      ", ptr " + constantTable + " }");
    ir.line("define i32 @tenon_vm_table(ptr %args, ptr %codes, i32 %count, ptr %value, "
            "ptr %valueCode, ptr %resource) nounwind {");
    ir.line("  store ptr " + table + ", ptr %value");
    ir.line("  store i32 3, ptr %valueCode\n  ret i32 0\n}\n");
    return ir.text();
}

} // namespace tenon::compiler
