// SPDX-License-Identifier: Apache-2.0
// A builder sets some flags after it inserted an instruction: they are compared when one is found.
#include "compiler/codegen/llvm/known_values.h"

#include <llvm/ADT/Hashing.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <optional>

namespace tenon::compiler {
namespace {

using Key = KnownValues::Key;
using llvm::Instruction;

unsigned operationOf(unsigned opcode, unsigned predicate = 0) { return opcode | predicate << 8; }

/// Nothing for what has effects, reads memory, or has attributes beyond its operands.
std::optional<Key> keyOf(const Instruction& made)
{
    const unsigned opcode = made.getOpcode();
    if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&made))
        return Key{operationOf(opcode, compare->getPredicate()),
                   made.getType(),
                   {made.getOperand(0), made.getOperand(1), nullptr}};
    if (const auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(&made)) {
        if (step->getNumIndices() != 1) return std::nullopt;
        return Key{operationOf(opcode),
                   step->getSourceElementType(),
                   {made.getOperand(0), made.getOperand(1), nullptr}};
    }
    if (llvm::isa<llvm::BinaryOperator>(made))
        return Key{
            operationOf(opcode), made.getType(), {made.getOperand(0), made.getOperand(1), nullptr}};
    if (llvm::isa<llvm::CastInst>(made))
        return Key{operationOf(opcode), made.getType(), {made.getOperand(0), nullptr, nullptr}};
    if (llvm::isa<llvm::SelectInst>(made) && !llvm::isa<llvm::FPMathOperator>(made))
        return Key{operationOf(opcode),
                   made.getType(),
                   {made.getOperand(0), made.getOperand(1), made.getOperand(2)}};
    return std::nullopt;
}

/// The instruction when it promises just this about its result.
llvm::Value* promising(Instruction* found, bool hasNuw, bool hasNsw)
{
    const bool isSame =
        found && found->hasNoUnsignedWrap() == hasNuw && found->hasNoSignedWrap() == hasNsw;
    return isSame ? found : nullptr;
}

} // namespace

size_t KnownValues::Hash::operator()(const Key& key) const
{
    return llvm::hash_combine(key.operation, key.type, key.operands[0], key.operands[1],
                              key.operands[2]);
}

void KnownValues::remember(Instruction& instruction)
{
    if (instruction.getParent() != m_block) m_values.clear();
    m_block = instruction.getParent();
    if (const auto key = keyOf(instruction)) m_values[*key] = &instruction;
}

Instruction* KnownValues::find(const Key& key) const
{
    // What lies in the block lies before its end, where the builder appends.
    const llvm::BasicBlock* block = m_builder->GetInsertBlock();
    if (block != m_block || !block || m_builder->GetInsertPoint() != block->end()) return nullptr;
    const auto found = m_values.find(key);
    return found == m_values.end() ? nullptr : found->second;
}

llvm::Value* KnownFolder::FoldBinOp(Instruction::BinaryOps op, llvm::Value* a, llvm::Value* b) const
{
    if (llvm::Value* constant = m_constants.FoldBinOp(op, a, b)) return constant;
    return m_known->find({operationOf(op), a->getType(), {a, b, nullptr}});
}

llvm::Value* KnownFolder::FoldExactBinOp(Instruction::BinaryOps op, llvm::Value* a, llvm::Value* b,
                                         bool isExact) const
{
    if (llvm::Value* constant = m_constants.FoldExactBinOp(op, a, b, isExact)) return constant;
    Instruction* found = m_known->find({operationOf(op), a->getType(), {a, b, nullptr}});
    return found && found->isExact() == isExact ? found : nullptr;
}

llvm::Value* KnownFolder::FoldNoWrapBinOp(Instruction::BinaryOps op, llvm::Value* a, llvm::Value* b,
                                          bool hasNuw, bool hasNsw) const
{
    if (llvm::Value* constant = m_constants.FoldNoWrapBinOp(op, a, b, hasNuw, hasNsw))
        return constant;
    Instruction* found = m_known->find({operationOf(op), a->getType(), {a, b, nullptr}});
    return promising(found, hasNuw, hasNsw);
}

llvm::Value* KnownFolder::FoldBinOpFMF(Instruction::BinaryOps op, llvm::Value* a, llvm::Value* b,
                                       llvm::FastMathFlags flags) const
{
    if (llvm::Value* constant = m_constants.FoldBinOpFMF(op, a, b, flags)) return constant;
    Instruction* found = m_known->find({operationOf(op), a->getType(), {a, b, nullptr}});
    return found && !(found->getFastMathFlags() != flags) ? found : nullptr;
}

llvm::Value* KnownFolder::FoldCmp(llvm::CmpInst::Predicate predicate, llvm::Value* a,
                                  llvm::Value* b) const
{
    if (llvm::Value* constant = m_constants.FoldCmp(predicate, a, b)) return constant;
    if (!llvm::CmpInst::isIntPredicate(predicate)) return nullptr;
    llvm::Type* type = llvm::CmpInst::makeCmpResultType(a->getType());
    return m_known->find({operationOf(Instruction::ICmp, predicate), type, {a, b, nullptr}});
}

llvm::Value* KnownFolder::FoldGEP(llvm::Type* type, llvm::Value* pointer,
                                  llvm::ArrayRef<llvm::Value*> indices,
                                  llvm::GEPNoWrapFlags flags) const
{
    if (llvm::Value* constant = m_constants.FoldGEP(type, pointer, indices, flags)) return constant;
    if (indices.size() != 1) return nullptr;
    Instruction* found = m_known->find(
        {operationOf(Instruction::GetElementPtr), type, {pointer, indices[0], nullptr}});
    const auto* step = llvm::cast_or_null<llvm::GetElementPtrInst>(found);
    return step && step->getNoWrapFlags() == flags ? found : nullptr;
}

llvm::Value* KnownFolder::FoldSelect(llvm::Value* condition, llvm::Value* a, llvm::Value* b) const
{
    if (llvm::Value* constant = m_constants.FoldSelect(condition, a, b)) return constant;
    return m_known->find({operationOf(Instruction::Select), a->getType(), {condition, a, b}});
}

llvm::Value* KnownFolder::FoldCast(Instruction::CastOps op, llvm::Value* from, llvm::Type* to) const
{
    if (llvm::Value* constant = m_constants.FoldCast(op, from, to)) return constant;
    return m_known->find({operationOf(op), to, {from, nullptr, nullptr}});
}

} // namespace tenon::compiler
