// SPDX-License-Identifier: Apache-2.0
// Parallel loops: the body is outlined and launched through the runtime with a static partition;
// failures propagate.
#include "compiler/codegen/llvm/emitter.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Outer variables and buffers that the loop's body reads or writes.
struct Captures
{
    std::vector<const tir::VarNode*> vars;
    std::vector<const tir::BufferNode*> buffers;
};

template <class T>
void addOnce(std::vector<T>& list, T item)
{
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

} // namespace

llvm::Value* Emitter::runtimePointer(const std::string& name)
{
    // The glue object exports `name` and has a hidden alias of it; a hidden reference to `name`
    // itself would keep the linker from exporting it.
    const std::string alias = "tenon" + name;
    llvm::GlobalVariable* variable = m_module.getGlobalVariable(alias);
    if (!variable) {
        variable = new llvm::GlobalVariable(m_module, m_builder.getPtrTy(), false,
                                            llvm::GlobalValue::ExternalLinkage, nullptr, alias);
        if (m_options.isElf) variable->setDSOLocal(true); // defined in the artifact's glue object
        variable->setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
    return m_builder.CreateLoad(m_builder.getPtrTy(), variable);
}

void Emitter::returnOnFailure(llvm::Value* status)
{
    llvm::BasicBlock* failed = llvm::BasicBlock::Create(m_context, "failed", m_function);
    llvm::BasicBlock* fine = llvm::BasicBlock::Create(m_context, "fine", m_function);
    m_builder.CreateCondBr(m_builder.CreateICmpNE(status, m_builder.getInt32(0)), failed, fine);
    m_builder.SetInsertPoint(failed);
    auto* freeType = llvm::FunctionType::get(
        m_builder.getInt32Ty(),
        {m_builder.getInt32Ty(), m_builder.getInt32Ty(), m_builder.getPtrTy()}, false);
    for (auto workspace = m_workspaces.rbegin(); workspace != m_workspaces.rend(); ++workspace)
        m_builder.CreateCall(freeType, runtimePointer("__TVMBackendFreeWorkspace"),
                             {m_builder.getInt32(1), m_builder.getInt32(0), *workspace});
    m_builder.CreateRet(status);
    m_builder.SetInsertPoint(fine);
}

/// Task t of n runs the range [begin + extent*t/n, begin + extent*(t+1)/n): a static partition.
llvm::Function* Emitter::emitTask(const std::string& name, llvm::Function* range,
                                  llvm::StructType* closureType, llvm::Value* begin,
                                  llvm::Value* extent)
{
    auto* type = llvm::FunctionType::get(
        m_builder.getInt32Ty(),
        {m_builder.getInt32Ty(), m_builder.getPtrTy(), m_builder.getPtrTy()}, false);
    auto* task = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, m_module);
    task->addFnAttr(llvm::Attribute::NoUnwind);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(m_context, "entry", task));
    llvm::Type* indexType = begin->getType();
    auto* environmentType =
        llvm::StructType::get(m_context, {builder.getPtrTy(), builder.getInt32Ty()});
    const auto field = [&](unsigned i) {
        return builder.CreateLoad(closureType->getElementType(i),
                                  builder.CreateStructGEP(closureType, task->getArg(2), i));
    };
    llvm::Value* id = builder.CreateSExtOrTrunc(task->getArg(0), indexType);
    llvm::Value* count = builder.CreateLoad(
        builder.getInt32Ty(), builder.CreateStructGEP(environmentType, task->getArg(1), 1));
    llvm::Value* tasks = builder.CreateSExtOrTrunc(count, indexType);
    llvm::Value* first = field(0);
    llvm::Value* length = field(1);
    CHECK(extent->getType() == indexType) << "loop bounds of two types";
    const auto share = [&](llvm::Value* t) {
        return builder.CreateAdd(first, builder.CreateSDiv(builder.CreateMul(length, t), tasks));
    };
    std::vector<llvm::Value*> arguments{
        share(id), share(builder.CreateAdd(id, llvm::ConstantInt::get(indexType, 1)))};
    for (unsigned i = 2; i < closureType->getNumElements(); ++i) arguments.push_back(field(i));
    builder.CreateRet(builder.CreateCall(range, arguments));
    return task;
}

void Emitter::parallelLoop(const tir::StmtNode& node)
{
    Captures captures;
    const auto note = [&](const tir::Expr& e) {
        if (e->kind == tir::ExprKind::VarRef && m_vars.count(e->var.get()) &&
            e->var != node.loop.var)
            addOnce(captures.vars, e->var.get());
        if (e->kind == tir::ExprKind::Load && m_places.count(e->buffer.get()))
            addOnce(captures.buffers, e->buffer.get());
        return true;
    };
    tir::visitExprsIn(node.body, note);
    tir::visitStmts(node.body, [&](const tir::Stmt& s) {
        if (s->kind == tir::StmtKind::Store && m_places.count(s->buffer.get()))
            addOnce(captures.buffers, s->buffer.get());
        return true;
    });

    llvm::Value* begin = value(node.loop.min);
    llvm::Value* extent = value(node.loop.extent);
    std::vector<llvm::Type*> fields{begin->getType(), extent->getType()};
    std::vector<llvm::Value*> values{begin, extent};
    for (const tir::VarNode* var : captures.vars) values.push_back(m_vars[var]);
    for (const tir::BufferNode* buffer : captures.buffers)
        values.push_back(m_places[buffer].pointer);
    for (size_t i = 2; i < values.size(); ++i) fields.push_back(values[i]->getType());
    auto* closureType = llvm::StructType::get(m_context, fields);
    llvm::AllocaInst* closure = entryAlloca(closureType, llvm::Align(16), "closure");
    for (unsigned i = 0; i < values.size(); ++i)
        m_builder.CreateStore(values[i], m_builder.CreateStructGEP(closureType, closure, i));

    // The range is a function of its own whose pointers are noalias; the task only unpacks the
    // closure and calls it.
    llvm::Type* indexType = begin->getType();
    std::vector<llvm::Type*> rangeParams{indexType, indexType};
    rangeParams.insert(rangeParams.end(), fields.begin() + 2, fields.end());
    const std::string name = m_options.symbol + "_task" + std::to_string(m_parallelCount++);
    auto* range =
        llvm::Function::Create(llvm::FunctionType::get(m_builder.getInt32Ty(), rangeParams, false),
                               llvm::Function::InternalLinkage, name + "_range", m_module);
    range->addFnAttr(llvm::Attribute::NoInline); // inlining would lose the noalias facts
    llvm::Function* task = emitTask(name, range, closureType, begin, extent);

    // Write the range with fresh maps; everything of the caller is restored afterwards.
    const auto callerVars = m_vars;
    const auto callerPlaces = m_places;
    const auto callerDepth = m_depth;
    const auto callerWorkspaces = std::exchange(m_workspaces, {});
    llvm::Function* const callerFunction = m_function;
    llvm::BasicBlock* const callerEntry = m_entry;
    llvm::DISubprogram* const callerSubprogram = m_subprogram;
    const int callerLoopDepth = std::exchange(m_loopDepth, 0);
    const auto callerPoint = m_builder.saveAndClearIP();
    const llvm::DebugLoc callerLocation = m_builder.getCurrentDebugLocation();

    beginFunction(range, range->getName().str());
    m_insideParallel = true;
    m_vars.clear();
    m_places.clear();
    unsigned argument = 2;
    for (const tir::VarNode* var : captures.vars) m_vars[var] = range->getArg(argument++);
    for (const tir::BufferNode* buffer : captures.buffers) {
        range->addParamAttr(argument, llvm::Attribute::NoAlias);
        m_places[buffer] = {range->getArg(argument++), callerPlaces.at(buffer).alignment};
    }
    llvm::BasicBlock* body = llvm::BasicBlock::Create(m_context, node.loop.var->name, range);
    llvm::BasicBlock* exit = llvm::BasicBlock::Create(m_context, "done", range);
    llvm::BasicBlock* entry = m_builder.GetInsertBlock();
    m_builder.CreateCondBr(m_builder.CreateICmpSLT(range->getArg(0), range->getArg(1)), body, exit);
    m_builder.SetInsertPoint(body);
    llvm::PHINode* counter = m_builder.CreatePHI(indexType, 2, node.loop.var->name);
    counter->addIncoming(range->getArg(0), entry);
    m_vars[node.loop.var.get()] = counter;
    m_depth[counter] = m_loopDepth++;
    statement(node.body);
    llvm::Value* next =
        m_builder.CreateAdd(counter, llvm::ConstantInt::get(indexType, 1), "", false, true);
    counter->addIncoming(next, m_builder.GetInsertBlock());
    m_builder.CreateCondBr(m_builder.CreateICmpSLT(next, range->getArg(1)), body, exit);
    m_builder.SetInsertPoint(exit);
    m_builder.CreateRet(m_builder.getInt32(0));

    m_insideParallel = false;
    m_vars = callerVars;
    m_places = callerPlaces;
    m_depth = callerDepth;
    m_workspaces = callerWorkspaces;
    m_function = callerFunction;
    m_entry = callerEntry;
    m_subprogram = callerSubprogram;
    m_loopDepth = callerLoopDepth;
    m_builder.restoreIP(callerPoint);
    m_builder.SetCurrentDebugLocation(callerLocation);

    auto* launchType = llvm::FunctionType::get(
        m_builder.getInt32Ty(),
        {m_builder.getPtrTy(), m_builder.getPtrTy(), m_builder.getInt32Ty()}, false);
    returnOnFailure(m_builder.CreateCall(launchType, runtimePointer("__TVMBackendParallelLaunch"),
                                         {task, closure, m_builder.getInt32(0)}));
}

} // namespace tenon::compiler
