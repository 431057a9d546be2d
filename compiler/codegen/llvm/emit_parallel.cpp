// SPDX-License-Identifier: Apache-2.0
// Parallel loops: the body is outlined and launched through the runtime, which divides it evenly;
// failures propagate.
#include "compiler/codegen/llvm/emitter.h"
#include "core/ir/tir/visit.h"
#include "runtime/include/tenon/c_backend_api.h"

#include <algorithm>
#include <utility>

namespace tenon::compiler {
namespace {

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

/// What writing another function changes of the emitter; put back at the end of its life.
class Emitter::Aside
{
public:
    explicit Aside(Emitter& emitter)
        : m_emitter(emitter)
        , m_vars(emitter.m_vars)
        , m_places(emitter.m_places)
        , m_depth(emitter.m_depth)
        , m_workspaces(std::exchange(emitter.m_workspaces, {}))
        , m_fault(std::exchange(emitter.m_fault, nullptr))
        , m_granted(std::exchange(emitter.m_granted, nullptr))
        , m_function(emitter.m_function)
        , m_entry(emitter.m_entry)
        , m_subprogram(emitter.m_subprogram)
        , m_loopDepth(std::exchange(emitter.m_loopDepth, 0))
        , m_point(emitter.m_builder.saveAndClearIP())
        , m_location(emitter.m_builder.getCurrentDebugLocation())
    {
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
    ~Aside()
    {
        m_emitter.m_vars = std::move(m_vars);
        m_emitter.m_places = std::move(m_places);
        m_emitter.m_depth = std::move(m_depth);
        m_emitter.m_workspaces = std::move(m_workspaces);
        m_emitter.m_fault = m_fault;
        m_emitter.m_granted = m_granted;
        m_emitter.m_function = m_function;
        m_emitter.m_entry = m_entry;
        m_emitter.m_subprogram = m_subprogram;
        m_emitter.m_loopDepth = m_loopDepth;
        m_emitter.m_builder.restoreIP(m_point);
        m_emitter.m_builder.SetCurrentDebugLocation(m_location);
    }

private:
    Emitter& m_emitter;
    decltype(Emitter::m_vars) m_vars;
    decltype(Emitter::m_places) m_places;
    decltype(Emitter::m_depth) m_depth;
    decltype(Emitter::m_workspaces) m_workspaces;
    llvm::AllocaInst* m_fault;
    llvm::Value* m_granted;
    llvm::Function* m_function;
    llvm::BasicBlock* m_entry;
    llvm::DISubprogram* m_subprogram;
    int m_loopDepth;
    llvm::IRBuilderBase::InsertPoint m_point;
    llvm::DebugLoc m_location;
};

/// Three parts: a closure of what the body uses, a task that takes its share of the iterations, and
/// the range of iterations, a function of its own whose pointers are noalias.
class Emitter::ParallelLoop
{
public:
    ParallelLoop(Emitter& emitter, const tir::StmtNode& node)
        : m_emitter(emitter)
        , m_builder(emitter.m_builder)
        , m_node(node)
        , m_mayDivide(tir::mayDivideByZero(node.body, emitter.m_loaded))
    {
    }

    void emit()
    {
        findCaptures();
        makeClosure();
        const std::string name =
            m_emitter.m_options.symbol + "_task" + std::to_string(m_emitter.m_parallelCount++);
        llvm::Function* range = declareRange(name + "_range");
        llvm::Function* task = writeTask(name, range);
        writeRange(range);
        auto* launchType = llvm::FunctionType::get(
            m_builder.getInt32Ty(),
            {m_builder.getPtrTy(), m_builder.getPtrTy(), m_builder.getInt32Ty()}, false);
        m_emitter.returnOnFailure(
            m_builder.CreateCall(launchType, m_emitter.runtimePointer("__TVMBackendParallelLaunch"),
                                 {task, m_closure, m_builder.getInt32(0)}));
    }

private:
    /// Outer variables and buffers that the loop's body reads or writes.
    void findCaptures()
    {
        tir::visitExprsIn(m_node.body, [&](const tir::Expr& e) {
            if (e->kind == tir::ExprKind::VarRef && m_emitter.m_vars.count(e->var.get()) &&
                e->var != m_node.loop.var)
                addOnce(m_vars, e->var.get());
            if (e->kind == tir::ExprKind::Load && m_emitter.m_places.count(e->buffer.get()))
                addOnce(m_buffers, e->buffer.get());
            return true;
        });
        tir::visitStmts(m_node.body, [&](const tir::Stmt& s) {
            if (s->kind == tir::StmtKind::Store && m_emitter.m_places.count(s->buffer.get()))
                addOnce(m_buffers, s->buffer.get());
            return true;
        });
    }

    /// The first iteration, how many there are, the captures, and where a task notes a fault: what
    /// tasks return is lost in the pools of other runtimes.
    void makeClosure()
    {
        std::vector<llvm::Value*> values{m_emitter.value(m_node.loop.min),
                                         m_emitter.value(m_node.loop.extent)};
        CHECK(values[0]->getType() == values[1]->getType()) << "loop bounds of two types";
        for (const tir::VarNode* var : m_vars) values.push_back(m_emitter.m_vars[var]);
        for (const tir::BufferNode* buffer : m_buffers)
            values.push_back(m_emitter.m_places[buffer].pointer);
        if (m_mayDivide) values.push_back(m_emitter.faultSlot());
        std::vector<llvm::Type*> fields;
        for (const llvm::Value* each : values) fields.push_back(each->getType());
        m_indexType = fields[0];
        m_closureType = llvm::StructType::get(m_emitter.m_context, fields);
        m_closure = m_emitter.entryAlloca(m_closureType, llvm::Align(16), "closure");
        for (unsigned i = 0; i < values.size(); ++i)
            m_builder.CreateStore(values[i],
                                  m_builder.CreateStructGEP(m_closureType, m_closure, i));
    }

    /// From, to, and the captures.
    llvm::Function* declareRange(const std::string& name)
    {
        std::vector<llvm::Type*> params{m_indexType, m_indexType};
        for (unsigned i = kFirstCapture; i < endOfCaptures(); ++i)
            params.push_back(m_closureType->getElementType(i));
        auto* range =
            llvm::Function::Create(llvm::FunctionType::get(m_builder.getInt32Ty(), params, false),
                                   llvm::Function::InternalLinkage, name, m_emitter.m_module);
        range->addFnAttr(llvm::Attribute::NoInline); // inlining would lose the noalias facts
        return range;
    }

    /// Task t of n runs the range [begin + extent*t/n, begin + extent*(t+1)/n): a static partition.
    llvm::Function* writeTask(const std::string& name, llvm::Function* range)
    {
        auto* type = llvm::FunctionType::get(
            m_builder.getInt32Ty(),
            {m_builder.getInt32Ty(), m_builder.getPtrTy(), m_builder.getPtrTy()}, false);
        auto* task =
            llvm::Function::Create(type, llvm::Function::InternalLinkage, name, m_emitter.m_module);
        task->addFnAttr(llvm::Attribute::NoUnwind);
        llvm::LLVMContext& context = m_emitter.m_context;
        llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", task));
        auto* environmentType =
            llvm::StructType::get(context, {builder.getPtrTy(), builder.getInt32Ty()});
        const auto field = [&](unsigned i) {
            return builder.CreateLoad(m_closureType->getElementType(i),
                                      builder.CreateStructGEP(m_closureType, task->getArg(2), i));
        };
        llvm::Value* id = builder.CreateSExtOrTrunc(task->getArg(0), m_indexType);
        llvm::Value* count = builder.CreateLoad(
            builder.getInt32Ty(), builder.CreateStructGEP(environmentType, task->getArg(1), 1));
        llvm::Value* tasks = builder.CreateSExtOrTrunc(count, m_indexType);
        llvm::Value* first = field(0);
        llvm::Value* length = field(1);
        const auto share = [&](llvm::Value* t) {
            return builder.CreateAdd(first,
                                     builder.CreateSDiv(builder.CreateMul(length, t), tasks));
        };
        std::vector<llvm::Value*> arguments{
            share(id), share(builder.CreateAdd(id, llvm::ConstantInt::get(m_indexType, 1)))};
        for (unsigned i = kFirstCapture; i < endOfCaptures(); ++i) arguments.push_back(field(i));
        llvm::Value* status = builder.CreateCall(range, arguments);
        builder.CreateRet(m_mayDivide ? notedBy(builder, status, field(endOfCaptures())) : status);
        return task;
    }

    /// What a task returns after it told of a fault.
    llvm::Value* notedBy(llvm::IRBuilder<>& builder, llvm::Value* status, llvm::Value* slot) const
    {
        llvm::Function* task = builder.GetInsertBlock()->getParent();
        llvm::BasicBlock* note = llvm::BasicBlock::Create(m_emitter.m_context, "note", task);
        llvm::BasicBlock* done = llvm::BasicBlock::Create(m_emitter.m_context, "noted", task);
        llvm::Value* isFault = builder.CreateICmpEQ(status, builder.getInt32(kTenonDividedByZero));
        builder.CreateCondBr(isFault, note, done);
        builder.SetInsertPoint(note);
        builder.CreateStore(status, slot, true); // by several tasks, the same number
        builder.CreateBr(done);
        builder.SetInsertPoint(done);
        return builder.CreateSelect(isFault, builder.getInt32(0), status);
    }

    unsigned endOfCaptures() const
    {
        return kFirstCapture + static_cast<unsigned>(m_vars.size() + m_buffers.size());
    }

    /// With fresh maps; everything of the caller is restored afterwards.
    void writeRange(llvm::Function* range)
    {
        const Aside aside(m_emitter);
        m_emitter.beginFunction(range, range->getName().str());
        m_emitter.m_insideParallel = true;
        bindCaptures(range);
        llvm::LLVMContext& context = m_emitter.m_context;
        const std::string& name = m_node.loop.var->name;
        llvm::BasicBlock* body = llvm::BasicBlock::Create(context, name, range);
        llvm::BasicBlock* exit = llvm::BasicBlock::Create(context, "done", range);
        llvm::BasicBlock* entry = m_builder.GetInsertBlock();
        m_builder.CreateCondBr(m_builder.CreateICmpSLT(range->getArg(0), range->getArg(1)), body,
                               exit);
        m_builder.SetInsertPoint(body);
        llvm::PHINode* counter = m_builder.CreatePHI(m_indexType, 2, name);
        counter->addIncoming(range->getArg(0), entry);
        m_emitter.m_vars[m_node.loop.var.get()] = counter;
        m_emitter.m_depth[counter] = m_emitter.m_loopDepth++;
        m_emitter.statement(m_node.body);
        llvm::Value* next =
            m_builder.CreateAdd(counter, llvm::ConstantInt::get(m_indexType, 1), "", false, true);
        counter->addIncoming(next, m_builder.GetInsertBlock());
        m_builder.CreateCondBr(m_builder.CreateICmpSLT(next, range->getArg(1)), body, exit);
        m_builder.SetInsertPoint(exit);
        m_builder.CreateRet(m_emitter.status());
        m_emitter.m_insideParallel = false;
    }

    void bindCaptures(llvm::Function* range)
    {
        const auto outside = std::exchange(m_emitter.m_places, {});
        m_emitter.m_vars.clear();
        unsigned argument = kFirstCapture;
        for (const tir::VarNode* var : m_vars) m_emitter.m_vars[var] = range->getArg(argument++);
        for (const tir::BufferNode* buffer : m_buffers) {
            range->addParamAttr(argument, llvm::Attribute::NoAlias);
            m_emitter.m_places[buffer] = {range->getArg(argument++), outside.at(buffer).alignment};
        }
    }

    static constexpr unsigned kFirstCapture = 2; ///< of the closure and of the range's parameters
    Emitter& m_emitter;
    KnownBuilder& m_builder;
    const tir::StmtNode& m_node;
    bool m_mayDivide; ///< an integer by zero
    std::vector<const tir::VarNode*> m_vars;
    std::vector<const tir::BufferNode*> m_buffers;
    llvm::Type* m_indexType = nullptr;
    llvm::StructType* m_closureType = nullptr;
    llvm::AllocaInst* m_closure = nullptr;
};

void Emitter::parallelLoop(const tir::StmtNode& node) { ParallelLoop(*this, node).emit(); }

} // namespace tenon::compiler
