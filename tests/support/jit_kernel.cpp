// SPDX-License-Identifier: Apache-2.0
// LLVM's JIT as the loader; the runtime's pointer variables are a second small module beside the
// object.
#include "tests/support/jit_kernel.h"

#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace tenon::test {
namespace {

struct Environment
{
    void* sync;
    int32_t taskCount;
};
using Task = int (*)(int, Environment*, void*);

/// Each task in a thread of its own, as on a computer with so many cores.
template <int kTasks>
int launch(Task task, void* closure, int)
{
    Environment environment{nullptr, kTasks};
    std::array<int, kTasks> statuses{};
    {
        std::vector<std::jthread> others;
        for (int t = 1; t < kTasks; ++t)
            others.emplace_back([&, t] { statuses[t] = task(t, &environment, closure); });
        statuses[0] = task(0, &environment, closure);
    }
    for (const int status : statuses)
        if (status != 0) return status;
    return 0;
}

void* takeWorkspace(int, int, uint64_t bytes, int, int)
{
    return std::aligned_alloc(64, (bytes + 127) / 64 * 64);
}

int giveWorkspace(int, int, void* pointer)
{
    std::free(pointer);
    return 0;
}

core::Diagnostic asDiagnostic(llvm::Error error)
{
    return core::makeError(core::DiagnosticCode::CodegenFailure, llvm::toString(std::move(error)));
}

llvm::orc::ThreadSafeModule runtimeVariables(int tasks, const llvm::DataLayout& layout)
{
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("runtime", *context);
    module->setDataLayout(layout);
    llvm::IRBuilder<> builder(*context);
    const auto define = [&](const char* name, void* address) {
        auto* value = llvm::ConstantExpr::getIntToPtr(
            builder.getInt64(reinterpret_cast<uint64_t>(address)), builder.getPtrTy());
        auto* variable = new llvm::GlobalVariable(*module, builder.getPtrTy(), false,
                                                  llvm::GlobalValue::ExternalLinkage, value, name);
        variable->setVisibility(llvm::GlobalValue::HiddenVisibility);
    };
    void* launcher = tasks <= 1   ? reinterpret_cast<void*>(launch<1>)
                     : tasks == 2 ? reinterpret_cast<void*>(launch<2>)
                                  : reinterpret_cast<void*>(launch<7>);
    define("tenon__TVMBackendParallelLaunch", launcher);
    define("tenon__TVMBackendAllocWorkspace", reinterpret_cast<void*>(takeWorkspace));
    define("tenon__TVMBackendFreeWorkspace", reinterpret_cast<void*>(giveWorkspace));
    return {std::move(module), std::move(context)};
}

class LoadedKernel final : public JitKernel
{
public:
    LoadedKernel(std::unique_ptr<llvm::orc::LLJIT> jit, void* function)
        : m_jit(std::move(jit))
        , m_function(function)
    {
    }

    int call(const std::vector<void*>& p) const override
    {
        using P = void*;
        void* f = m_function;
        switch (p.size()) {
        case 1: return reinterpret_cast<int (*)(P)>(f)(p[0]);
        case 2: return reinterpret_cast<int (*)(P, P)>(f)(p[0], p[1]);
        case 3: return reinterpret_cast<int (*)(P, P, P)>(f)(p[0], p[1], p[2]);
        case 4: return reinterpret_cast<int (*)(P, P, P, P)>(f)(p[0], p[1], p[2], p[3]);
        case 5: return reinterpret_cast<int (*)(P, P, P, P, P)>(f)(p[0], p[1], p[2], p[3], p[4]);
        case 6:
            return reinterpret_cast<int (*)(P, P, P, P, P, P)>(f)(p[0], p[1], p[2], p[3], p[4],
                                                                  p[5]);
        case 7:
            return reinterpret_cast<int (*)(P, P, P, P, P, P, P)>(f)(p[0], p[1], p[2], p[3], p[4],
                                                                     p[5], p[6]);
        case 8:
            return reinterpret_cast<int (*)(P, P, P, P, P, P, P, P)>(f)(p[0], p[1], p[2], p[3],
                                                                        p[4], p[5], p[6], p[7]);
        default: CHECK(false) << "kernels under test have at most 8 parameters"; return -1;
        }
    }

private:
    std::unique_ptr<llvm::orc::LLJIT> m_jit;
    void* m_function;
};

} // namespace

core::Result<std::shared_ptr<JitKernel>> JitKernel::load(const std::string& object,
                                                         const std::string& symbol, int tasks)
{
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) return asDiagnostic(jit.takeError());
    if (auto error = (*jit)->addIRModule(runtimeVariables(tasks, (*jit)->getDataLayout())))
        return asDiagnostic(std::move(error));
    if (auto error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, symbol)))
        return asDiagnostic(std::move(error));
    auto found = (*jit)->getExecutionSession().lookup(
        llvm::orc::makeJITDylibSearchOrder(&(*jit)->getMainJITDylib(),
                                           llvm::orc::JITDylibLookupFlags::MatchAllSymbols),
        (*jit)->mangleAndIntern(symbol));
    if (!found) return asDiagnostic(found.takeError());
    return std::shared_ptr<JitKernel>(
        std::make_shared<LoadedKernel>(std::move(*jit), found->getAddress().toPtr<void*>()));
}

core::Result<std::vector<core::Tensor>> runCompiled(const tir::PrimFunc& lowered,
                                                    const std::vector<core::Tensor>& inputs,
                                                    const std::string& targetText, int tasks)
{
    const auto target = core::parseTarget(targetText);
    if (!target) return target.error();
    const auto machine = compiler::machineSpec(*target);
    if (!machine) return machine.error();
    const auto facts = compiler::targetFacts(*machine);
    if (!facts) return facts.error();
    const auto object = compiler::emitKernel({lowered, "kernel_under_test", facts->vectorBytes},
                                             *machine, compiler::EmitForm::Object);
    if (!object) return object.error();
    const auto kernel = JitKernel::load(*object, "kernel_under_test", tasks);
    if (!kernel) return kernel.error();

    std::vector<void*> pointers;
    for (const core::Tensor& input : inputs)
        pointers.push_back(const_cast<std::byte*>(input.bytes().data()));
    std::vector<std::vector<int64_t>> shapes;
    std::vector<std::vector<std::byte>> results;
    for (size_t i = inputs.size(); i < lowered.params.size(); ++i) {
        std::vector<int64_t> shape;
        for (const tir::Expr& extent : lowered.params[i]->shape) shape.push_back(extent->integer);
        results.emplace_back(
            static_cast<size_t>(core::elementCount(shape) * lowered.params[i]->dtype.bytes()),
            std::byte{0xcd});
        shapes.push_back(shape);
    }
    for (auto& bytes : results) pointers.push_back(bytes.data());
    if (const int status = (*kernel)->call(pointers))
        return core::makeError(core::DiagnosticCode::CodegenFailure,
                               "kernel returned " + std::to_string(status));
    std::vector<core::Tensor> outputs;
    for (size_t i = 0; i < results.size(); ++i) {
        outputs.push_back(core::Tensor::make(
            lowered.params[inputs.size() + i]->dtype, shapes[i], [&](std::span<std::byte> out) {
                std::memcpy(out.data(), results[i].data(), out.size());
            }));
    }
    return outputs;
}

} // namespace tenon::test
