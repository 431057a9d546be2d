// SPDX-License-Identifier: Apache-2.0
// Glue of the AOT executor: a straight line of kernel calls over one planned workspace.
#include "compiler/codegen/llvm/glue.h"
#include "compiler/codegen/llvm/glue_support.h"
#include "core/base/text.h"
#include "runtime/include/tenon/c_backend_api.h"

#include <map>

namespace tenon::compiler {
namespace {

size_t at(int index) { return static_cast<size_t>(index); }

enum class Entry : uint8_t
{
    Main,
    Profile ///< marks each call
};

/// Writes one entry function; the IR names are %in<i>, %out<i> and %workspace.
class EntryWriter
{
public:
    EntryWriter(IrText& ir, const ExecutorProgram& program, const ProgramMemory& memory);
    void write(Entry entry, const std::string& name, const std::string& signature);

private:
    void addPrologue(Entry entry);
    void addCall(size_t index, Entry entry);
    void addCopies();
    void addEpilogue(Entry entry);
    std::string pointer(int tensor, const std::string& name);

    IrText& m_ir;
    const ExecutorProgram& m_program;
    const ProgramMemory& m_memory;
    std::vector<bool> m_isDirect;
    std::map<int, std::string> m_base; ///< memory owner -> value its bytes start at
    std::vector<std::string> m_texts; ///< what to say when call i fails, last: when memory runs out
    std::map<size_t, std::string> m_faults; ///< what to say when the data of call i are at fault
    std::vector<std::string> m_failures;    ///< operands of the phi of those texts
};

EntryWriter::EntryWriter(IrText& ir, const ExecutorProgram& program, const ProgramMemory& memory)
    : m_ir(ir)
    , m_program(program)
    , m_memory(memory)
    , m_isDirect(directOutputs(program))
{
    for (size_t i = 0; i < program.inputs.size(); ++i)
        m_base[program.inputs[i]] = "%in" + std::to_string(i);
    for (size_t i = 0; i < program.outputs.size(); ++i)
        if (m_isDirect[i])
            m_base[program.memoryOwner(program.outputs[i])] = "%out" + std::to_string(i);
    for (size_t t = 0; t < program.tensors.size(); ++t)
        if (program.tensors[t].role == TensorRole::Constant)
            m_base[static_cast<int>(t)] = irSymbol(constantSymbol(static_cast<int>(t)));
}

/// The operand "ptr ..." for a tensor's first byte, computed as %name where it needs computing.
std::string EntryWriter::pointer(int tensor, const std::string& name)
{
    const int owner = m_program.memoryOwner(tensor);
    int64_t offset = m_program.memoryOffset(tensor);
    std::string base = "%workspace";
    if (const auto known = m_base.find(owner); known != m_base.end()) {
        base = known->second;
    } else {
        const int buffer = m_memory.bufferOf[at(owner)];
        CHECK(buffer >= 0) << m_program.tensors[at(owner)].name << " has no memory";
        offset += m_memory.plan.placements[at(buffer)].offset;
    }
    // Only empty tensors need no memory; nobody looks behind their pointers.
    if (base == "%workspace" && m_memory.workspaceBytes() == 0) return "ptr null";
    if (offset == 0) return "ptr " + base;
    m_ir.line("  %" + name + " = getelementptr i8, ptr " + base + ", i64 " +
              std::to_string(offset));
    return "ptr %" + name;
}

void EntryWriter::addPrologue(Entry entry)
{
    const size_t inputs = m_program.inputs.size();
    for (size_t i = 0; i < inputs + m_program.outputs.size(); ++i) {
        const std::string name =
            i < inputs ? "in" + std::to_string(i) : "out" + std::to_string(i - inputs);
        m_ir.line("  %" + name + " = call ptr @tenon.data(ptr %args, i32 " + std::to_string(i) +
                  ")");
    }
    if (entry == Entry::Profile) m_ir.line("  %mark = load ptr, ptr @tenon__TenonProfileMark");
    const std::string bytes = std::to_string(m_memory.workspaceBytes());
    if (m_memory.workspaceBytes() > 0) {
        m_ir.line("  %alloc = load ptr, ptr @tenon__TVMBackendAllocWorkspace");
        m_ir.line("  %workspace = call ptr %alloc(i32 1, i32 0, i64 " + bytes + ", i32 2, i32 8)");
        m_ir.line("  %hasNone = icmp eq ptr %workspace, null");
        m_ir.line("  br i1 %hasNone, label %noMemory, label %call0\nnoMemory:");
        m_ir.line("  %noMemoryCode = call i32 @tenon.fail(ptr " + m_texts.back() + ")");
        m_ir.line("  ret i32 %noMemoryCode");
    } else {
        m_ir.line("  br label %call0");
    }
}

void EntryWriter::addCall(size_t index, Entry entry)
{
    const KernelCall& call = m_program.calls[index];
    const std::string number = std::to_string(index);
    m_ir.line("call" + number + ":");
    if (entry == Entry::Profile) m_ir.line("  call void %mark(i32 " + number + ")");
    std::vector<std::string> pointers;
    for (size_t i = 0; i < call.arguments.size(); ++i)
        pointers.push_back(pointer(call.arguments[i], "c" + number + "p" + std::to_string(i)));
    m_ir.line("  %status" + number + " = call i32 " +
              irSymbol(m_program.kernels[at(call.kernel)].symbol) + "(" +
              core::join(pointers, ", ") + ")");
    std::string text = m_texts[index];
    if (const auto fault = m_faults.find(index); fault != m_faults.end()) {
        m_ir.line("  %isFault" + number + " = icmp eq i32 %status" + number + ", " +
                  std::to_string(kTenonDividedByZero));
        m_ir.line("  %text" + number + " = select i1 %isFault" + number + ", ptr " + fault->second +
                  ", ptr " + text);
        text = "%text" + number;
    }
    m_ir.line("  %isDone" + number + " = icmp eq i32 %status" + number + ", 0");
    m_ir.line("  br i1 %isDone" + number + ", label %call" + std::to_string(index + 1) +
              ", label %failed");
    m_failures.push_back("[ " + text + ", %call" + number + " ]");
}

void EntryWriter::addCopies()
{
    for (size_t i = 0; i < m_program.outputs.size(); ++i) {
        if (m_isDirect[i]) continue;
        const int tensor = m_program.outputs[i];
        const std::string number = std::to_string(i);
        const std::string from = pointer(tensor, "copy" + number);
        m_ir.line("  call void @tenon.copy(ptr %out" + number + ", " + from + ", i64 " +
                  std::to_string(m_program.tensors[at(tensor)].bytes()) + ")");
    }
}

void EntryWriter::addEpilogue(Entry entry)
{
    const std::string count = std::to_string(m_program.calls.size());
    m_ir.line("call" + count + ":");
    if (entry == Entry::Profile) m_ir.line("  call void %mark(i32 " + count + ")");
    addCopies();
    const auto freeWorkspace = [&](const std::string& name) {
        if (m_memory.workspaceBytes() == 0) return;
        m_ir.line("  %" + name + " = load ptr, ptr @tenon__TVMBackendFreeWorkspace");
        m_ir.line("  %" + name + "Code = call i32 %" + name + "(i32 1, i32 0, ptr %workspace)");
    };
    freeWorkspace("free");
    m_ir.line("  ret i32 0");
    if (!m_program.calls.empty()) {
        m_ir.line("failed:\n  %text = phi ptr " + core::join(m_failures, ", "));
        freeWorkspace("freeFailed");
        m_ir.line("  %failedCode = call i32 @tenon.fail(ptr %text)\n  ret i32 %failedCode");
    }
    m_ir.line("}\n");
}

void EntryWriter::write(Entry entry, const std::string& name, const std::string& signature)
{
    m_failures.clear();
    m_texts.clear(); // they are globals, so they stand before the function
    m_faults.clear();
    for (const KernelCall& call : m_program.calls) {
        if (!call.dividers.empty())
            m_faults[m_texts.size()] = m_ir.addString(divisionFault(call.dividers));
        m_texts.push_back(m_ir.addString(name + ": kernel call " + call.name +
                                         " failed: out of memory, or of threads, for it"));
    }
    m_texts.push_back(m_ir.addString(name + ": cannot allocate " +
                                     std::to_string(m_memory.workspaceBytes()) +
                                     " bytes of workspace"));
    beginPackedFunction(m_ir, name, signature);
    addPrologue(entry);
    for (size_t i = 0; i < m_program.calls.size(); ++i) addCall(i, entry);
    addEpilogue(entry);
}

std::string addTensorInfos(IrText& ir, const ExecutorProgram& program,
                           const std::vector<int>& tensors, const std::vector<std::string>& names)
{
    if (tensors.empty()) return "null";
    std::vector<std::string> rows;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ProgramTensor& tensor = program.tensors[at(tensors[i])];
        const std::string name = ir.addString(names[i]);
        const std::string shape = ir.addNumbers(tensor.shape);
        rows.push_back("%TensorInfo { ptr " + name + ", ptr " + shape + ", i64 " +
                       std::to_string(tensor.shape.size()) + ", " + irDtype(tensor.dtype) + " }");
    }
    return ir.addConstant("[" + std::to_string(rows.size()) + " x %TensorInfo]",
                          "[" + core::join(rows, ", ") + "]");
}

void addMetadata(IrText& ir, const ExecutorProgram& program)
{
    std::vector<std::string> inputNames;
    for (const int input : program.inputs) inputNames.push_back(program.tensors[at(input)].name);
    const std::string inputs = addTensorInfos(ir, program, program.inputs, inputNames);
    const std::string outputs = addTensorInfos(ir, program, program.outputs, program.outputNames);
    const std::string name = ir.addString("tvmgen_" + program.moduleName);
    // No pools: the workspace is taken from the runtime, the constants lie in the library.
    const std::string metadata = ir.addConstant(
        "%Metadata", "{ i64 1, ptr " + inputs + ", i64 " + std::to_string(program.inputs.size()) +
                         ", ptr " + outputs + ", i64 " + std::to_string(program.outputs.size()) +
                         ", ptr null, i64 0, ptr null, i64 0, ptr " + name + " }");
    ir.line("define i32 @get_c_metadata(ptr %args, ptr %codes, i32 %count, ptr %value, "
            "ptr %valueCode, ptr %resource) nounwind {");
    ir.line("  store ptr " + metadata + ", ptr %value");
    ir.line("  store i32 3, ptr %valueCode\n  ret i32 0\n}\n");
}

} // namespace

std::string aotGlueText(const ExecutorProgram& program, const ProgramMemory& memory)
{
    IrText ir;
    addGlueSupport(ir);
    ir.line("define internal void @tenon.noMark(i32 %call) nounwind {\n  ret void\n}");
    ir.line("@__TenonProfileMark = global ptr @tenon.noMark");
    ir.line("@tenon__TenonProfileMark = hidden alias ptr, ptr @__TenonProfileMark");
    for (size_t t = 0; t < program.tensors.size(); ++t)
        if (program.tensors[t].role == TensorRole::Constant && program.tensors[t].viewOf < 0)
            ir.line(irSymbol(constantSymbol(static_cast<int>(t))) +
                    " = external hidden constant i8, align 64");
    declareKernels(ir, program);
    std::vector<int> arguments = program.inputs;
    arguments.insert(arguments.end(), program.outputs.begin(), program.outputs.end());
    const std::string prefix = "tvmgen_" + program.moduleName;
    const std::string signature = addSignature(ir, program, prefix, arguments);
    EntryWriter(ir, program, memory).write(Entry::Main, prefix + "___tvm_main__", signature);
    EntryWriter(ir, program, memory)
        .write(Entry::Profile, prefix + "___tenon_profile__", signature);
    addMetadata(ir, program);
    return ir.text();
}

} // namespace tenon::compiler
