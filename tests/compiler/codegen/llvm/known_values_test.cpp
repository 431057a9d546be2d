// SPDX-License-Identifier: Apache-2.0
// What a builder takes from its block instead of writing it again, and what it must not take.
#include "compiler/codegen/llvm/known_values.h"

#include <gtest/gtest.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>

namespace tenon::compiler {
namespace {

class KnownValuesTest : public testing::Test
{
protected:
    KnownValuesTest()
        : m_module("m", m_context)
        , b(m_context, KnownFolder(m_known), KnownInserter(m_known))
    {
        m_known.watch(b);
        llvm::Type* number = b.getInt64Ty();
        auto* type = llvm::FunctionType::get(b.getVoidTy(), {number, number, b.getPtrTy()}, false);
        m_function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", m_module);
        b.SetInsertPoint(block());
        x = m_function->getArg(0);
        y = m_function->getArg(1);
        p = m_function->getArg(2);
    }

    llvm::BasicBlock* block() { return llvm::BasicBlock::Create(m_context, "", m_function); }

    llvm::LLVMContext m_context;
    llvm::Module m_module;
    KnownValues m_known;
    llvm::Function* m_function = nullptr;
    KnownBuilder b;
    llvm::Value *x, *y, *p;
};

TEST_F(KnownValuesTest, takesWhatTheBlockComputes)
{
    const auto index = [&] {
        llvm::Value* rest = b.CreateSRem(x, b.getInt64(3));
        llvm::Value* isWrong = b.CreateICmpSLT(rest, y);
        llvm::Value* fixed = b.CreateSelect(isWrong, y, b.CreateZExt(isWrong, b.getInt64Ty()));
        llvm::Value* sum = b.CreateAdd(fixed, b.CreateSDiv(x, b.getInt64(3)));
        llvm::Value* step = b.CreateMul(sum, b.getInt64(640), "", false, true);
        return b.CreateInBoundsGEP(b.getFloatTy(), p, step);
    };
    llvm::Value* first = index();
    const size_t size = b.GetInsertBlock()->size();
    EXPECT_EQ(index(), first);
    EXPECT_EQ(b.GetInsertBlock()->size(), size);
    llvm::Value* f = b.CreateLoad(b.getFloatTy(), first);
    EXPECT_EQ(b.CreateFMul(f, f), b.CreateFMul(f, f));
}

TEST_F(KnownValuesTest, tellsApartWhatLooksAlike)
{
    EXPECT_NE(b.CreateAdd(x, y), b.CreateAdd(y, x));
    EXPECT_NE(b.CreateMul(x, y), b.CreateNSWMul(x, y));
    EXPECT_NE(b.CreateSDiv(x, y), b.CreateExactSDiv(x, y));
    EXPECT_NE(b.CreateICmpSLT(x, y), b.CreateICmpULT(x, y));
    EXPECT_NE(b.CreateGEP(b.getFloatTy(), p, x), b.CreateInBoundsGEP(b.getFloatTy(), p, x));
    EXPECT_NE(b.CreateGEP(b.getFloatTy(), p, x), b.CreateGEP(b.getDoubleTy(), p, x));
    EXPECT_NE(b.CreateTrunc(x, b.getInt8Ty()), b.CreateTrunc(x, b.getInt16Ty()));
    llvm::Value* f = b.CreateLoad(b.getFloatTy(), p);
    llvm::Value* plain = b.CreateFAdd(f, f);
    llvm::FastMathFlags contract;
    contract.setAllowContract(true);
    b.setFastMathFlags(contract);
    EXPECT_NE(b.CreateFAdd(f, f), plain);
    EXPECT_NE(b.CreateLoad(b.getFloatTy(), p), f); // a store may lie between
}

TEST_F(KnownValuesTest, takesNothingFromOtherBlocksOrPlaces)
{
    llvm::BasicBlock* const first = b.GetInsertBlock();
    llvm::Value* sum = b.CreateAdd(x, y);
    b.SetInsertPoint(block());
    llvm::Value* other = b.CreateAdd(x, y);
    EXPECT_NE(other, sum);
    b.SetInsertPoint(first); // what it held is not known any more
    llvm::Value* again = b.CreateAdd(x, y);
    EXPECT_EQ(llvm::cast<llvm::Instruction>(again)->getParent(), first);
    b.SetInsertPoint(first, first->begin());
    EXPECT_NE(b.CreateAdd(x, y), again);
    b.SetInsertPoint(first);
    llvm::Value* product = b.CreateMul(x, y);
    m_known.forget();
    EXPECT_NE(b.CreateMul(x, y), product);
}

} // namespace
} // namespace tenon::compiler
