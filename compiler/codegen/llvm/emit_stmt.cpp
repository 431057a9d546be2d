// SPDX-License-Identifier: Apache-2.0
// Statements of the loop IR as LLVM control flow and memory.
#include "compiler/codegen/llvm/emit_in_turns.h"
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/masked_runs.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/TargetParser/Triple.h>

#include <optional>

namespace tenon::compiler {

using tir::ExprKind;
using tir::LoopKind;
using tir::StmtKind;
using tir::StmtNode;

namespace {

/// What the variable can be, where that is known when compiling.
std::optional<tir::IntRange> rangeOf(const tir::Loop& loop)
{
    if (loop.min->kind != ExprKind::IntImm || loop.extent->kind != ExprKind::IntImm ||
        loop.extent->integer <= 0)
        return std::nullopt;
    return tir::IntRange{loop.min->integer, loop.min->integer + loop.extent->integer - 1};
}

/// LLVM keeps spilled vectors at the alignment that the ABI gives a stack, 16 bytes on x86. Wider
/// ones then lie across two cache lines, and what waits for one that was just stored waits long: a
/// sum that found no register set the pace of a convolution (Zen 4, 128 to 512 channels at 28 x 28:
/// 87 against 112 GFLOP/s).
void alignStack(llvm::Function& function, int vectorBytes)
{
    constexpr int kUsual = 16;
    const llvm::Triple triple(function.getParent()->getTargetTriple());
    if (vectorBytes > kUsual && triple.isX86())
        function.addFnAttr(llvm::Attribute::getWithStackAlignment(
            function.getContext(), llvm::Align(static_cast<uint64_t>(vectorBytes))));
}

/// Counts in 32 bits where addresses have no more and the limits are known to fit.
bool countsNarrowly(const llvm::Module& module, const llvm::Value* begin, const llvm::Value* extent)
{
    const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
    const auto* count = llvm::dyn_cast<llvm::ConstantInt>(extent);
    const auto isSmall = [](int64_t number) { return number >= 0 && number < int64_t{1} << 30; };
    return module.getDataLayout().getPointerSizeInBits() == 32 && first && count &&
           isSmall(first->getSExtValue()) && isSmall(count->getSExtValue());
}

/// The comparison of the next round's number with the end.
llvm::CmpInst::Predicate goesOnWhile(const llvm::Module& module, const llvm::Value* begin,
                                     const llvm::Value* end)
{
    // InstCombine lets `next < end` compare the counter before it steps, which takes AArch64 one
    // more instruction than counting down to zero; counting down, x86 adds an index to every
    // address. So does AArch64 in short loops, which then copy registers (3 x 3 of bytes: 7 % more
    // instructions).
    constexpr int64_t kFewIterations = 4;
    const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
    const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
    const bool areFew =
        first && last && last->getSExtValue() - first->getSExtValue() <= kFewIterations;
    const bool countsDown = llvm::Triple(module.getTargetTriple()).isAArch64() && !areFew;
    return countsDown ? llvm::CmpInst::ICMP_NE : llvm::CmpInst::ICMP_SLT;
}

} // namespace

Emitter::Emitter(llvm::Module& module, const EmitOptions& options)
    : m_module(module)
    , m_context(module.getContext())
    , m_builder(m_context, KnownFolder(m_known), KnownInserter(m_known))
    , m_debug(std::make_unique<llvm::DIBuilder>(module))
    , m_options(options)
{
    m_known.watch(m_builder);
}

Status Emitter::emit(const tir::PrimFunc& function,
                     const std::unordered_map<const StmtNode*, int>& lines)
{
    m_lines = &lines;
    m_module.addModuleFlag(llvm::Module::Warning, "Debug Info Version",
                           llvm::DEBUG_METADATA_VERSION);
    m_module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
    m_file = m_debug->createFile(m_options.sourceName, "");
    m_debug->createCompileUnit(llvm::dwarf::DW_LANG_C11, m_file, "tenon", true, "", 0, "",
                               llvm::DICompileUnit::LineTablesOnly);
    m_debugType = m_debug->createSubroutineType(m_debug->getOrCreateTypeArray({}));

    std::vector<llvm::Type*> params(function.params.size(), m_builder.getPtrTy());
    params.insert(params.end(), function.sizes.size(), m_builder.getInt64Ty());
    auto* type = llvm::FunctionType::get(m_builder.getInt32Ty(), params, false);
    auto* kernel =
        llvm::Function::Create(type, llvm::Function::ExternalLinkage, m_options.symbol, m_module);
    kernel->setVisibility(llvm::GlobalValue::HiddenVisibility);
    beginFunction(kernel, m_options.symbol);
    for (size_t i = 0; i < function.params.size(); ++i) {
        llvm::Argument* argument = kernel->getArg(static_cast<unsigned>(i));
        argument->setName(function.params[i]->name);
        const bool isOutput = i + function.outputCount >= function.params.size();
        argument->addAttr(llvm::Attribute::NoAlias);
        argument->addAttr(llvm::Attribute::NoCapture);
        argument->addAttr(isOutput ? llvm::Attribute::NonNull : llvm::Attribute::ReadOnly);
        m_places[function.params[i].get()] = {
            argument, static_cast<unsigned>(function.params[i]->dtype.bytes())};
    }
    for (size_t i = 0; i < function.sizes.size(); ++i)
        m_vars[function.sizes[i].get()] =
            kernel->getArg(static_cast<unsigned>(function.params.size() + i));
    statement(function.body);
    m_builder.CreateRet(status());
    m_debug->finalize();
    return kDone;
}

void Emitter::beginFunction(llvm::Function* function, const std::string& displayName)
{
    function->addFnAttr(llvm::Attribute::NoUnwind);
    const std::string bits = std::to_string(m_options.vectorBytes * 8);
    function->addFnAttr("min-legal-vector-width",
                        bits); // some CPUs' tuning would halve our 512-bit vectors
    function->addFnAttr("prefer-vector-width", bits);
    function->addFnAttr("no-builtins");
    alignStack(*function, m_options.vectorBytes);
    m_function = function;
    m_subprogram = m_debug->createFunction(
        m_file, displayName, displayName, m_file, 1, m_debugType, 1, llvm::DINode::FlagZero,
        llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
    function->setSubprogram(m_subprogram);
    m_entry = llvm::BasicBlock::Create(m_context, "entry", function);
    m_builder.SetInsertPoint(m_entry);
    m_builder.SetCurrentDebugLocation(llvm::DILocation::get(m_context, 1, 0, m_subprogram));
}

void Emitter::markLine(const StmtNode& node)
{
    const auto line = m_lines->find(&node);
    if (line != m_lines->end())
        m_builder.SetCurrentDebugLocation(
            llvm::DILocation::get(m_context, static_cast<unsigned>(line->second), 0, m_subprogram));
}

void Emitter::statement(const tir::Stmt& stmt)
{
    const StmtNode& node = *stmt;
    markLine(node);
    switch (node.kind) {
    case StmtKind::Seq:
        for (size_t i = 0; i < node.stmts.size(); ++i) {
            const StmtNode* next = i + 1 < node.stmts.size() ? node.stmts[i + 1].get() : nullptr;
            if (next && tileProducts(node.stmts[i].get(), *next))
                ++i;
            else
                statement(node.stmts[i]);
        }
        return;
    case StmtKind::For:
        if (const auto range = rangeOf(node.loop)) m_ranges[node.loop.var.get()] = *range;
        if (node.loop.kind == LoopKind::Parallel && !m_insideParallel) return parallelLoop(node);
        if (node.loop.kind == LoopKind::Unrolled) return unrolled(node);
        if (tileProducts(nullptr, node)) return;
        return loop(node);
    case StmtKind::Store: return storeElement(node);
    case StmtKind::If: return branch(node);
    case StmtKind::While: return whileLoop(node);
    case StmtKind::Let:
        if (tir::isLoaded(node.value, m_loaded)) m_loaded.insert(node.var.get());
        m_vars[node.var.get()] = value(node.value);
        return statement(node.body);
    case StmtKind::Allocate: return allocation(node);
    case StmtKind::Evaluate:
        if (node.value->kind == ExprKind::Load) return request(*node.value);
        value(node.value);
        return;
    case StmtKind::Block:
        CHECK(false) << "block " << node.block.name << " reached the code generator";
    }
}

void Emitter::loop(const StmtNode& node)
{
    llvm::Value* begin = value(node.loop.min);
    llvm::Value* extent = value(node.loop.extent);
    llvm::Type* type = begin->getType();
    if (countsNarrowly(m_module, begin, extent)) {
        begin = m_builder.CreateTrunc(begin, m_builder.getInt32Ty());
        extent = m_builder.CreateTrunc(extent, m_builder.getInt32Ty());
    }
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(extent);
    const int64_t together = known ? iterationsInTurns(node, known->getSExtValue()) : 1;
    const int64_t left = known ? known->getSExtValue() % together : 0;
    if (left > 0)
        extent = llvm::ConstantInt::getSigned(extent->getType(), known->getSExtValue() - left);
    llvm::Value* end = m_builder.CreateAdd(begin, extent, "", false, true);
    rounds(node, begin, end, together);
    for (int64_t i = 0; i < left; ++i) {
        llvm::Value* variable = m_builder.CreateZExt(end, type);
        m_vars[node.loop.var.get()] =
            m_builder.CreateAdd(variable, llvm::ConstantInt::getSigned(type, i), "", false, true);
        statement(node.body);
    }
}

/// The loop from `begin` to `end`, so many iterations a round, which divide them.
void Emitter::rounds(const StmtNode& node, llvm::Value* begin, llvm::Value* end, int64_t together)
{
    llvm::Type* type = typeOf(node.loop.var->dtype);
    llvm::BasicBlock* body = llvm::BasicBlock::Create(m_context, node.loop.var->name, m_function);
    llvm::BasicBlock* exit =
        llvm::BasicBlock::Create(m_context, "after_" + node.loop.var->name, m_function);
    llvm::BasicBlock* preheader = m_builder.GetInsertBlock();
    llvm::Value* isEntered = m_builder.CreateICmpSLT(begin, end);
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(isEntered); known && known->isOne())
        m_builder.CreateBr(body);
    else
        m_builder.CreateCondBr(isEntered, body, exit);
    m_builder.SetInsertPoint(body);
    llvm::PHINode* counter = m_builder.CreatePHI(begin->getType(), 2, node.loop.var->name);
    counter->addIncoming(begin, preheader);
    llvm::Value* variable = m_builder.CreateZExt(counter, type);
    m_vars[node.loop.var.get()] = variable;
    m_depth[variable] = m_loopDepth++;
    if (together > 1) {
        std::vector<llvm::Value*> variables;
        for (int64_t i = 0; i < together; ++i)
            variables.push_back(m_builder.CreateAdd(variable, llvm::ConstantInt::getSigned(type, i),
                                                    "", false, true));
        inTurns(node, variables);
    } else {
        statement(node.body);
    }
    --m_loopDepth;
    markLine(node);
    llvm::Value* next = m_builder.CreateAdd(
        counter, llvm::ConstantInt::getSigned(counter->getType(), together), "", false, true);
    counter->addIncoming(next, m_builder.GetInsertBlock());
    m_builder.CreateCondBr(m_builder.CreateICmp(goesOnWhile(m_module, begin, end), next, end), body,
                           exit);
    m_builder.SetInsertPoint(exit);
}

void Emitter::selectRound(const StmtNode& node, const llvm::ConstantInt& begin, int64_t round)
{
    m_vars[node.loop.var.get()] =
        llvm::ConstantInt::getSigned(begin.getType(), begin.getSExtValue() + round);
}

void Emitter::unrolled(const StmtNode& node)
{
    const auto* extent = llvm::dyn_cast<llvm::ConstantInt>(value(node.loop.extent));
    const auto* begin = llvm::dyn_cast<llvm::ConstantInt>(value(node.loop.min));
    if (!extent || !begin || extent->getSExtValue() > 1024) return loop(node);
    if (unrolledInTurns(node, *begin, extent->getSExtValue())) return;
    if (unrolledPacked(node, *begin, extent->getSExtValue())) return;
    if (unrolledSquare(node, *begin, extent->getSExtValue())) return;
    if (unrolledQuads(node, *begin, extent->getSExtValue())) return;
    if (unrolledWoven(node, *begin, extent->getSExtValue())) return;
    for (int64_t i = 0; i < extent->getSExtValue(); ++i) {
        selectRound(node, *begin, i);
        statement(node.body);
    }
}

void Emitter::storeElement(const StmtNode& node)
{
    CHECK(node.indices.size() == 1) << "store to " << node.buffer->name << " is not flat";
    const tir::Expr& index = node.indices[0];
    llvm::Value* stored =
        toStored(value(node.value), node.buffer->dtype.withLanes(node.value->dtype.lanes));
    const int lanes = index->dtype.lanes;
    if (lanes > 1 && node.value->dtype.lanes == 1)
        stored = m_builder.CreateVectorSplat(static_cast<unsigned>(lanes), stored);
    if (index->kind == ExprKind::Ramp && index->args[1].isConstInt(1)) {
        const auto [pointer, align] = address(node.buffer, index->args[0]);
        storeRun(m_builder, m_options, *node.buffer, stored, {pointer, align});
    } else if (lanes == 1) {
        const auto [pointer, align] = address(node.buffer, index);
        m_builder.CreateAlignedStore(stored, pointer, align);
    } else {
        const auto [base, align] = address(node.buffer, tir::Expr(0));
        llvm::Value* pointers =
            m_builder.CreateInBoundsGEP(stored->getType()->getScalarType(), base, value(index));
        m_builder.CreateMaskedScatter(
            stored, pointers,
            std::min(align, llvm::Align(static_cast<uint64_t>(node.buffer->dtype.bytes()))));
    }
}

void Emitter::request(const tir::ExprNode& load)
{
    constexpr uint32_t kRead = 0, kSecondLevel = 2, kOfElements = 1;
    const auto place = m_places.find(load.buffer.get());
    CHECK(place != m_places.end()) << "buffer " << load.buffer->name << " has no storage";
    // Not in bounds: the last requests lie behind the buffer.
    llvm::Value* pointer = m_builder.CreateGEP(storedTypeOf(load.buffer->dtype.scalar()),
                                               place->second.pointer, linear(load.args[0]));
    m_builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {m_builder.getPtrTy()},
                              {pointer, m_builder.getInt32(kRead), m_builder.getInt32(kSecondLevel),
                               m_builder.getInt32(kOfElements)});
}

void Emitter::branch(const StmtNode& node)
{
    llvm::Value* condition = value(node.condition);
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
        if (!known->isZero()) return statement(node.body);
        if (node.orElse) statement(node.orElse);
        return;
    }
    llvm::BasicBlock* thenBlock = llvm::BasicBlock::Create(m_context, "if", m_function);
    llvm::BasicBlock* endBlock = llvm::BasicBlock::Create(m_context, "endif", m_function);
    llvm::BasicBlock* elseBlock =
        node.orElse ? llvm::BasicBlock::Create(m_context, "else", m_function) : endBlock;
    m_builder.CreateCondBr(condition, thenBlock, elseBlock);
    m_builder.SetInsertPoint(thenBlock);
    statement(node.body);
    m_builder.CreateBr(endBlock);
    if (node.orElse) {
        m_builder.SetInsertPoint(elseBlock);
        statement(node.orElse);
        m_builder.CreateBr(endBlock);
    }
    m_builder.SetInsertPoint(endBlock);
}

void Emitter::whileLoop(const StmtNode& node)
{
    llvm::BasicBlock* head = llvm::BasicBlock::Create(m_context, "while", m_function);
    llvm::BasicBlock* body = llvm::BasicBlock::Create(m_context, "do", m_function);
    llvm::BasicBlock* exit = llvm::BasicBlock::Create(m_context, "done", m_function);
    m_builder.CreateBr(head);
    m_builder.SetInsertPoint(head);
    m_builder.CreateCondBr(value(node.condition), body, exit);
    m_builder.SetInsertPoint(body);
    ++m_loopDepth;
    statement(node.body);
    --m_loopDepth;
    m_builder.CreateBr(head);
    m_builder.SetInsertPoint(exit);
}

llvm::AllocaInst* Emitter::entryAlloca(llvm::Type* type, llvm::Align align, const llvm::Twine& name)
{
    llvm::IRBuilder<> entry(m_entry, m_entry->begin());
    llvm::AllocaInst* slot = entry.CreateAlloca(type, nullptr, name);
    slot->setAlignment(align);
    return slot;
}

void Emitter::allocation(const StmtNode& node)
{
    const tir::BufferNode& buffer = *node.buffer;
    llvm::Value* count = m_builder.getInt64(1);
    for (const tir::Expr& extent : buffer.shape)
        count = m_builder.CreateMul(
            count, m_builder.CreateSExtOrTrunc(value(extent), m_builder.getInt64Ty()));
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
    const int64_t bytes = known ? known->getSExtValue() * buffer.dtype.bytes() : -1;
    const bool onStack =
        known && (buffer.scope == tir::Scope::Register || bytes <= m_options.stackBytes);
    if (onStack) {
        llvm::Type* type = llvm::ArrayType::get(storedTypeOf(buffer.dtype),
                                                static_cast<uint64_t>(known->getSExtValue()));
        m_places[&buffer] = {entryAlloca(type, llvm::Align(64), buffer.name), 64};
        return statement(node.body);
    }
    llvm::Value* size =
        m_builder.CreateMul(count, m_builder.getInt64(static_cast<uint64_t>(buffer.dtype.bytes())));
    auto* allocType = llvm::FunctionType::get(m_builder.getPtrTy(),
                                              {m_builder.getInt32Ty(), m_builder.getInt32Ty(),
                                               m_builder.getInt64Ty(), m_builder.getInt32Ty(),
                                               m_builder.getInt32Ty()},
                                              false);
    llvm::Value* pointer =
        m_builder.CreateCall(allocType, runtimePointer("__TVMBackendAllocWorkspace"),
                             {m_builder.getInt32(1), m_builder.getInt32(0), size,
                              m_builder.getInt32(2), m_builder.getInt32(32)},
                             buffer.name);
    llvm::Value* failed = m_builder.CreateIsNull(pointer);
    returnOnFailure(m_builder.CreateSelect(failed, m_builder.getInt32(static_cast<uint32_t>(-1)),
                                           m_builder.getInt32(0)));
    m_places[&buffer] = {pointer, 64};
    m_workspaces.push_back(pointer);
    statement(node.body);
    m_workspaces.pop_back();
    auto* freeType = llvm::FunctionType::get(
        m_builder.getInt32Ty(),
        {m_builder.getInt32Ty(), m_builder.getInt32Ty(), m_builder.getPtrTy()}, false);
    m_builder.CreateCall(freeType, runtimePointer("__TVMBackendFreeWorkspace"),
                         {m_builder.getInt32(1), m_builder.getInt32(0), pointer});
}

} // namespace tenon::compiler
