// SPDX-License-Identifier: Apache-2.0
// memcpy, memset and memmove, byte by byte: LLVM calls them where few bytes are to be moved.
#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/codegen/llvm/llvm_code.h"
#include "compiler/codegen/llvm/llvm_traits.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>

namespace tenon::compiler {
namespace {

class Builtins
{
public:
    explicit Builtins(llvm::Module& module)
        : m_module(module)
        , m_b(module.getContext())
        , m_size(module.getDataLayout().getIntPtrType(module.getContext()))
    {
    }

    void add()
    {
        addCopy();
        addSet();
        addMove();
    }

private:
    void addCopy()
    {
        llvm::Function* copy = begin("memcpy", m_b.getPtrTy());
        byteLoop(copy, false, [&](llvm::Value* i) { copyByte(copy, i); });
    }

    void addSet()
    {
        llvm::Function* set = begin("memset", m_b.getInt32Ty());
        llvm::Value* byte = m_b.CreateTrunc(set->getArg(1), m_b.getInt8Ty());
        byteLoop(set, false, [&](llvm::Value* i) {
            m_b.CreateStore(byte, m_b.CreateGEP(m_b.getInt8Ty(), set->getArg(0), i), true);
        });
    }

    void addMove()
    {
        llvm::Function* move = begin("memmove", m_b.getPtrTy());
        auto* forward = llvm::BasicBlock::Create(m_module.getContext(), "forward", move);
        auto* backward = llvm::BasicBlock::Create(m_module.getContext(), "backward", move);
        m_b.CreateCondBr(m_b.CreateICmpULT(move->getArg(0), move->getArg(1)), forward, backward);
        m_b.SetInsertPoint(forward);
        byteLoop(move, false, [&](llvm::Value* i) { copyByte(move, i); });
        m_b.SetInsertPoint(backward);
        byteLoop(move, true, [&](llvm::Value* i) { copyByte(move, i); });
    }

    llvm::Function* begin(const char* name, llvm::Type* second)
    {
        llvm::Type* pointer = m_b.getPtrTy();
        auto* type = llvm::FunctionType::get(pointer, {pointer, second, m_size}, false);
        auto* function =
            llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, m_module);
        function->setVisibility(llvm::GlobalValue::HiddenVisibility);
        function->addFnAttr("no-builtins"); // else the loop below becomes a call of itself
        function->addFnAttr(llvm::Attribute::NoUnwind);
        m_b.SetInsertPoint(llvm::BasicBlock::Create(m_module.getContext(), "entry", function));
        return function;
    }

    /// for i in [0, n): body(i), optionally from the end
    void byteLoop(llvm::Function* function, bool backwards,
                  const std::function<void(llvm::Value*)>& body)
    {
        llvm::Value* n = function->getArg(2);
        auto* entry = m_b.GetInsertBlock();
        auto* loop = llvm::BasicBlock::Create(m_module.getContext(), "loop", function);
        auto* done = llvm::BasicBlock::Create(m_module.getContext(), "done", function);
        m_b.CreateCondBr(m_b.CreateICmpEQ(n, llvm::ConstantInt::get(m_size, 0)), done, loop);
        m_b.SetInsertPoint(loop);
        llvm::PHINode* i = m_b.CreatePHI(m_size, 2);
        i->addIncoming(llvm::ConstantInt::get(m_size, 0), entry);
        llvm::Value* next = m_b.CreateAdd(i, llvm::ConstantInt::get(m_size, 1));
        body(backwards ? m_b.CreateSub(n, next) : i);
        i->addIncoming(next, loop);
        m_b.CreateCondBr(m_b.CreateICmpULT(next, n), loop, done);
        m_b.SetInsertPoint(done);
        m_b.CreateRet(function->getArg(0));
    }

    void copyByte(llvm::Function* function, llvm::Value* i)
    {
        llvm::Type* byteType = m_b.getInt8Ty();
        llvm::Value* byte =
            m_b.CreateLoad(byteType, m_b.CreateGEP(byteType, function->getArg(1), i), true);
        m_b.CreateStore(byte, m_b.CreateGEP(byteType, function->getArg(0), i), true);
    }

    llvm::Module& m_module;
    llvm::IRBuilder<> m_b;
    llvm::Type* m_size;
};

} // namespace

Result<std::string> llvmBuiltins(const MachineSpec& spec)
{
    auto machine = createTargetMachine(spec);
    if (!machine) return machine.error();
    llvm::LLVMContext context;
    llvm::Module module("tenon_builtins", context);
    module.setTargetTriple(spec.triple);
    module.setDataLayout((*machine)->createDataLayout());
    Builtins(module).add();
    const LlvmTraits& traits = *spec.backEnd->llvm;
    if (traits.addBuiltins) traits.addBuiltins(module);
    return writeModule(module, **machine, traits, EmitForm::Object);
}

} // namespace tenon::compiler
