// SPDX-License-Identifier: Apache-2.0
// The IR shared by all glue: structures of the C ABI, argument checks, error texts, copies.
#include "compiler/codegen/llvm/glue_support.h"

#include "compiler/codegen/llvm/texts.h"
#include "core/base/text.h"
#include "runtime/include/tenon/c_backend_api.h"

#include <set>

namespace tenon::compiler {
namespace {

std::string argumentText(std::string_view function, size_t index, const ProgramTensor& tensor)
{
    return std::string(function) + ": Expect arg[" + std::to_string(index) + "] to be a compact " +
           tensor.dtype.text() + " tensor of shape (" + core::join(tensor.shape, ", ") +
           ") on the CPU";
}

} // namespace

void addGlueSupport(IrText& ir)
{
    ir.line(kGlueTypes);
    for (const std::string_view name : kRuntimePointers) {
        ir.line("@" + std::string(name) + " = global ptr null");
        ir.line("@tenon" + std::string(name) + " = hidden alias ptr, ptr @" + std::string(name));
    }
    ir.line("@__tvm_module_ctx = global ptr null");
    ir.line(kGlueFunctions);
}

void declareKernels(IrText& ir, const ExecutorProgram& program)
{
    std::set<std::string> declared;
    for (const ProgramKernel& kernel : program.kernels) {
        if (!declared.insert(kernel.symbol).second) continue;
        std::vector<std::string> types(static_cast<size_t>(kernel.parameterCount), "ptr");
        types.insert(types.end(), static_cast<size_t>(kernel.sizeCount), "i64");
        ir.line("declare hidden i32 " + irSymbol(kernel.symbol) + "(" + core::join(types, ", ") +
                ")");
    }
}

std::string addSignature(IrText& ir, const ExecutorProgram& program, std::string_view function,
                         const std::vector<int>& tensors)
{
    std::vector<std::string> arguments;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(tensors[i])];
        const std::string shape = ir.addNumbers(tensor.shape);
        const std::string text = ir.addString(argumentText(function, i, tensor));
        arguments.push_back("%Argument { i32 " + std::to_string(tensor.shape.size()) + ", " +
                            irDtype(tensor.dtype) + ", ptr " + shape + ", ptr " + text + " }");
    }
    const std::string count = std::to_string(tensors.size());
    const std::string list = tensors.empty()
                                 ? "null"
                                 : ir.addConstant("[" + count + " x %Argument]",
                                                  "[" + core::join(arguments, ", ") + "]");
    const std::string text = ir.addString(std::string(function) + ": num_args should be " + count);
    return ir.addConstant("%Signature",
                          "{ i32 " + count + ", ptr " + list + ", ptr " + text + " }");
}

void addFaultReturn(IrText& ir, const std::string& text)
{
    ir.line("  %isFault = icmp eq i32 %status, " + std::to_string(kTenonDividedByZero));
    ir.line("  br i1 %isFault, label %fault, label %other\nfault:");
    ir.line("  %faultCode = call i32 @tenon.fail(ptr " + text + ")");
    ir.line("  ret i32 %faultCode\nother:");
}

void beginPackedFunction(IrText& ir, std::string_view function, const std::string& signature)
{
    ir.line("define i32 " + irSymbol(function) +
            "(ptr %args, ptr %codes, i32 %count, ptr %value, ptr %valueCode, ptr %resource) "
            "nounwind {");
    ir.line("  %checked = call i32 @tenon.check(ptr %args, ptr %codes, i32 %count, ptr " +
            signature + ")");
    ir.line("  %isRight = icmp eq i32 %checked, 0");
    ir.line("  br i1 %isRight, label %right, label %wrong");
    ir.line("wrong:\n  ret i32 -1\nright:");
}

} // namespace tenon::compiler
