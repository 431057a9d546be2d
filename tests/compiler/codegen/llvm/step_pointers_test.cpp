// SPDX-License-Identifier: Apache-2.0
// Which addresses of a loop become one pointer, and which stay as they are.
#include "compiler/codegen/llvm/step_pointers.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include <algorithm>
#include <string>

namespace tenon::compiler {
namespace {

/// A function of pointers p and q and a number n whose loop counts i from 0 to 8.
class StepPointersTest : public testing::Test
{
protected:
    void run(const std::string& before, const std::string& body)
    {
        const std::string text = "define void @f(ptr noalias %p, ptr noalias %q, i64 %n) {\n"
                                 "entry:\n" +
                                 before +
                                 "  br label %loop\n"
                                 "loop:\n"
                                 "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n" +
                                 body +
                                 "  %next = add nuw nsw i64 %i, 1\n"
                                 "  %more = icmp ne i64 %next, 8\n"
                                 "  br i1 %more, label %loop, label %done\n"
                                 "done:\n"
                                 "  ret void\n}\n";
        llvm::SMDiagnostic error;
        m_module = llvm::parseAssemblyString(text, error, m_context);
        ASSERT_TRUE(m_module) << error.getMessage().str();
        m_function = m_module->getFunction("f");
        stepPointers(*m_function);
        ASSERT_FALSE(llvm::verifyModule(*m_module, &llvm::errs()));
    }

    std::vector<const llvm::PHINode*> phis() const
    {
        std::vector<const llvm::PHINode*> found;
        for (const llvm::PHINode& phi : std::next(m_function->begin())->phis())
            found.push_back(&phi);
        return found;
    }

    size_t pointers() const
    {
        const auto all = phis();
        return static_cast<size_t>(
            std::count_if(all.begin(), all.end(),
                          [](const llvm::PHINode* phi) { return phi->getType()->isPointerTy(); }));
    }

    /// What makes a loop too long to share an offset.
    static std::string filler()
    {
        std::string text;
        for (int i = 0; i < 32; ++i)
            text += "  %f" + std::to_string(i) + " = mul i64 %n, " + std::to_string(i + 3) + "\n";
        return text;
    }

    llvm::LLVMContext m_context;
    std::unique_ptr<llvm::Module> m_module;
    llvm::Function* m_function = nullptr;
};

TEST_F(StepPointersTest, takesOnePointerForWhatLiesSideBySide)
{
    run("", "  %o = mul i64 %i, 24\n"
            "  %a = getelementptr float, ptr %p, i64 %o\n"
            "  %x = load float, ptr %a\n"
            "  %s = add i64 %o, 3\n"
            "  %b = getelementptr float, ptr %p, i64 %s\n"
            "  %y = load float, ptr %b\n"
            "  %t = shl i64 %i, 5\n"
            "  %c = getelementptr i8, ptr %q, i64 %t\n"
            "  store float %x, ptr %c\n" +
                filler());
    EXPECT_EQ(pointers(), 2u);
}

TEST_F(StepPointersTest, seesEqualPartsThatWereHoistedOneByOne)
{
    run("  %row = mul i64 %n, 640\n"
        "  %a = getelementptr i8, ptr %p, i64 %row\n"
        "  %far = getelementptr i8, ptr %p, i64 8192\n"
        "  %b = getelementptr i8, ptr %far, i64 %row\n",
        "  %o = mul i64 %i, 64\n"
        "  %c = getelementptr i8, ptr %a, i64 %o\n"
        "  %x = load float, ptr %c\n"
        "  %d = getelementptr i8, ptr %b, i64 %o\n"
        "  %y = load float, ptr %d\n" +
            filler());
    EXPECT_EQ(pointers(), 1u);
}

TEST_F(StepPointersTest, sharesTheOffsetOfAShortLoopAndDropsItsCounter)
{
    run("", "  %a = getelementptr float, ptr %p, i64 %i\n"
            "  %x = load float, ptr %a\n"
            "  %b = getelementptr <2 x float>, ptr %q, i64 %i\n"
            "  store float %x, ptr %b\n");
    EXPECT_EQ(pointers(), 0u);
    ASSERT_EQ(m_function->size(), 3u);
    const auto* compare = llvm::cast<llvm::ICmpInst>(
        llvm::cast<llvm::BranchInst>(std::next(m_function->begin())->getTerminator())
            ->getCondition());
    EXPECT_EQ(llvm::cast<llvm::ConstantInt>(compare->getOperand(1))->getZExtValue(), 8u * 4u);
}

TEST_F(StepPointersTest, keepsTheCounterWhereItIsUsed)
{
    run("", "  %x = trunc i64 %i to i8\n"
            "  %a = getelementptr i8, ptr %p, i64 %i\n"
            "  store i8 %x, ptr %a\n");
    const auto* compare = llvm::cast<llvm::ICmpInst>(
        llvm::cast<llvm::BranchInst>(std::next(m_function->begin())->getTerminator())
            ->getCondition());
    EXPECT_EQ(llvm::cast<llvm::ConstantInt>(compare->getOperand(1))->getZExtValue(), 8u);
    EXPECT_EQ(compare->getOperand(0)->getName(), "next");
}

TEST_F(StepPointersTest, leavesWhatIsNoSumOfMultiplesOfTheCounter)
{
    run("", "  %o = udiv i64 %i, 3\n"
            "  %a = getelementptr float, ptr %p, i64 %o\n"
            "  %x = load float, ptr %a\n"
            "  %s = mul i64 %i, %i\n"
            "  %b = getelementptr float, ptr %q, i64 %s\n"
            "  store float %x, ptr %b\n" +
                filler());
    EXPECT_EQ(pointers(), 0u);
    EXPECT_EQ(phis().size(), 1u);
}

TEST_F(StepPointersTest, leavesTheStackInALongLoop)
{
    run("  %s = alloca [64 x float]\n", "  %a = getelementptr float, ptr %s, i64 %i\n"
                                        "  %x = load float, ptr %a\n"
                                        "  %b = getelementptr float, ptr %q, i64 %i\n"
                                        "  store float %x, ptr %b\n" +
                                            filler());
    EXPECT_EQ(pointers(), 1u);
}

} // namespace
} // namespace tenon::compiler
