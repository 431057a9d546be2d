// SPDX-License-Identifier: Apache-2.0
// An IRBuilder that does not write again what the block computes already.
#pragma once

#include <llvm/IR/ConstantFolder.h>
#include <llvm/IR/IRBuilder.h>

#include <array>
#include <unordered_map>

namespace tenon::compiler {

/// Arithmetic and addresses that a builder appended to its block. Unrolled bodies ask for the same
/// indices again and again: three of four instructions would be such, and every pass of LLVM walks
/// over them before one of them takes them out.
class KnownValues
{
public:
    /// `operands`: up to three; `type`: of the result, or of what an address steps over.
    struct Key
    {
        unsigned operation; ///< opcode, and the predicate of a comparison
        llvm::Type* type;
        std::array<llvm::Value*, 3> operands;
        bool operator==(const Key&) const = default;
    };

    void watch(const llvm::IRBuilderBase& builder) { m_builder = &builder; }
    void remember(llvm::Instruction& instruction);
    /// What comes next stands by itself, to be moved among what is there.
    void forget() { m_values.clear(); }
    /// Null when the block has no such instruction.
    llvm::Instruction* find(const Key& key) const;

private:
    struct Hash
    {
        size_t operator()(const Key& key) const;
    };
    const llvm::IRBuilderBase* m_builder = nullptr;
    const llvm::BasicBlock* m_block = nullptr; ///< of all that is remembered
    std::unordered_map<Key, llvm::Instruction*, Hash> m_values;
};

/// Answers with constants, or with what is known, where an instruction would be made.
class KnownFolder final : public llvm::IRBuilderFolder
{
public:
    using Value = llvm::Value;
    using Instruction = llvm::Instruction;
    template <class T>
    using List = llvm::ArrayRef<T>;

    explicit KnownFolder(const KnownValues& known)
        : m_known(&known)
    {
    }
    Value* FoldBinOp(Instruction::BinaryOps op, Value* a, Value* b) const override;
    Value* FoldExactBinOp(Instruction::BinaryOps op, Value* a, Value* b,
                          bool isExact) const override;
    Value* FoldNoWrapBinOp(Instruction::BinaryOps op, Value* a, Value* b, bool hasNuw,
                           bool hasNsw) const override;
    Value* FoldBinOpFMF(Instruction::BinaryOps op, Value* a, Value* b,
                        llvm::FastMathFlags flags) const override;
    Value* FoldCmp(llvm::CmpInst::Predicate predicate, Value* a, Value* b) const override;
    Value* FoldGEP(llvm::Type* type, Value* pointer, List<Value*> indices,
                   llvm::GEPNoWrapFlags flags) const override;
    Value* FoldSelect(Value* condition, Value* a, Value* b) const override;
    Value* FoldCast(Instruction::CastOps op, Value* from, llvm::Type* to) const override;

    // Constants only.
    Value* FoldUnOpFMF(Instruction::UnaryOps op, Value* a, llvm::FastMathFlags flags) const override
    {
        return m_constants.FoldUnOpFMF(op, a, flags);
    }
    Value* FoldExtractValue(Value* of, List<unsigned> at) const override
    {
        return m_constants.FoldExtractValue(of, at);
    }
    Value* FoldInsertValue(Value* into, Value* value, List<unsigned> at) const override
    {
        return m_constants.FoldInsertValue(into, value, at);
    }
    Value* FoldExtractElement(Value* of, Value* at) const override
    {
        return m_constants.FoldExtractElement(of, at);
    }
    Value* FoldInsertElement(Value* into, Value* value, Value* at) const override
    {
        return m_constants.FoldInsertElement(into, value, at);
    }
    Value* FoldShuffleVector(Value* a, Value* b, List<int> lanes) const override
    {
        return m_constants.FoldShuffleVector(a, b, lanes);
    }
    Value* FoldBinaryIntrinsic(llvm::Intrinsic::ID id, Value* a, Value* b, llvm::Type* type,
                               Instruction* flagsOf) const override
    {
        return m_constants.FoldBinaryIntrinsic(id, a, b, type, flagsOf);
    }
    Value* CreatePointerCast(llvm::Constant* from, llvm::Type* to) const override
    {
        return m_constants.CreatePointerCast(from, to);
    }
    Value* CreatePointerBitCastOrAddrSpaceCast(llvm::Constant* from, llvm::Type* to) const override
    {
        return m_constants.CreatePointerBitCastOrAddrSpaceCast(from, to);
    }

private:
    const KnownValues* m_known;
    llvm::ConstantFolder m_constants;
};

/// Tells what was made.
class KnownInserter final : public llvm::IRBuilderDefaultInserter
{
public:
    explicit KnownInserter(KnownValues& known)
        : m_known(&known)
    {
    }
    void InsertHelper(llvm::Instruction* instruction, const llvm::Twine& name,
                      llvm::BasicBlock::iterator at) const override
    {
        IRBuilderDefaultInserter::InsertHelper(instruction, name, at);
        m_known->remember(*instruction);
    }

private:
    KnownValues* m_known;
};

using KnownBuilder = llvm::IRBuilder<KnownFolder, KnownInserter>;

} // namespace tenon::compiler
