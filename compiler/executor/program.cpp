// SPDX-License-Identifier: Apache-2.0
// ExecutorProgram: memory of views and the program's own rules.
#include "compiler/executor/program.h"

#include "core/base/text.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {

std::string dividerLabel(const std::vector<std::string>& dividers)
{
    constexpr size_t kMost = 4;
    std::vector<std::string> named(
        dividers.begin(),
        dividers.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, dividers.size())));
    if (dividers.size() > kMost) named.emplace_back("another");
    return (named.size() == 1 ? "node " : "one of ") + core::join(named, ", ");
}

std::string divisionFault(const std::vector<std::string>& dividers)
{
    return dividerLabel(dividers) + ": integer division by zero";
}

std::string titleOfKernel(const ExecutorProgram& program, int kernel)
{
    const KernelCall* first = nullptr;
    int count = 0;
    for (const KernelCall& call : program.calls) {
        if (call.kernel != kernel) continue;
        if (count++ == 0) first = &call;
    }
    if (!first) return {}; // of chunks, which run beside another kernel
    return count == 1 ? first->title.text()
                      : first->title.work + " · " + std::to_string(count) + " calls";
}

std::vector<std::string> dividersOf(const ExecutorProgram& program, int kernel)
{
    std::vector<std::string> out;
    for (const KernelCall& call : program.calls) {
        if (call.kernel != kernel) continue;
        for (const std::string& node : call.dividers)
            if (std::find(out.begin(), out.end(), node) == out.end()) out.push_back(node);
    }
    return out;
}

int ExecutorProgram::memoryOwner(int tensor) const
{
    while (tensors[static_cast<size_t>(tensor)].viewOf >= 0)
        tensor = tensors[static_cast<size_t>(tensor)].viewOf;
    return tensor;
}

int64_t ExecutorProgram::memoryOffset(int tensor) const
{
    int64_t offset = 0;
    while (tensors[static_cast<size_t>(tensor)].viewOf >= 0) {
        offset += tensors[static_cast<size_t>(tensor)].viewOffsetBytes;
        tensor = tensors[static_cast<size_t>(tensor)].viewOf;
    }
    return offset;
}

namespace {

void verifyTensors(const ExecutorProgram& program)
{
    std::set<std::string> names;
    const int count = static_cast<int>(program.tensors.size());
    for (int i = 0; i < count; ++i) {
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(i)];
        CHECK(names.insert(tensor.name).second) << "two tensors are named " << tensor.name;
        CHECK(tensor.viewOf < count && tensor.viewOf != i) << tensor.name;
        const bool hasValue = tensor.role == TensorRole::Constant && tensor.viewOf < 0;
        CHECK(hasValue != tensor.constant.isNull()) << tensor.name << ": value and role disagree";
        const int64_t end = program.memoryOffset(i) + tensor.bytes();
        const int owner = program.memoryOwner(i);
        CHECK(end <= program.tensors[static_cast<size_t>(owner)].bytes())
            << tensor.name << " ends behind " << program.tensors[static_cast<size_t>(owner)].name;
    }
    for (const int input : program.inputs)
        CHECK(program.tensors.at(static_cast<size_t>(input)).role == TensorRole::Input);
    CHECK(program.outputs.size() == program.outputNames.size());
}

} // namespace

std::string constantSymbol(int tensor) { return "tenon_constant_" + std::to_string(tensor); }

void verifyProgram(const ExecutorProgram& program)
{
    verifyTensors(program);
    if (program.vm) return; // its order is that of the code, which the runtime checks
    std::set<int> written;  // owners of memory that hold a value
    for (size_t i = 0; i < program.tensors.size(); ++i)
        if (program.tensors[i].role != TensorRole::Intermediate)
            written.insert(static_cast<int>(i));
    std::set<std::string> labels;
    for (const KernelCall& call : program.calls) {
        CHECK(labels.insert(call.name).second) << "two calls are named " << call.name;
        const ProgramKernel& kernel = program.kernels.at(static_cast<size_t>(call.kernel));
        CHECK(kernel.parameterCount == static_cast<int>(call.arguments.size())) << call.name;
        const size_t inputs = call.arguments.size() - static_cast<size_t>(call.outputCount);
        for (size_t i = 0; i < call.arguments.size(); ++i) {
            const int owner = program.memoryOwner(call.arguments[i]);
            if (i < inputs)
                CHECK(written.contains(owner))
                    << call.name << " reads argument " << i << " before it is written";
            else
                CHECK(program.tensors[static_cast<size_t>(owner)].role == TensorRole::Intermediate)
                    << call.name << " writes an input or a constant";
            if (i >= inputs) written.insert(owner);
        }
    }
    for (const int output : program.outputs)
        CHECK(written.contains(program.memoryOwner(output))) << "an output is never written";
}

} // namespace tenon::compiler
