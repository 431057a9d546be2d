// SPDX-License-Identifier: Apache-2.0
// The two instruction sets do the same; LLVM calls it by other names in each.
#include "compiler/codegen/llvm/neon_products.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsARM.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

namespace tenon::compiler {
namespace {

namespace Intrinsic = llvm::Intrinsic;

bool isAArch64(llvm::IRBuilderBase& builder)
{
    return llvm::Triple(builder.GetInsertBlock()->getModule()->getTargetTriple()).isAArch64();
}

bool isCallOf(const llvm::User& user, Intrinsic::ID id)
{
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&user);
    return call && call->getIntrinsicID() == id;
}

} // namespace

llvm::Value* longProducts(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* a,
                          llvm::Value* b)
{
    const Intrinsic::ID id = isAArch64(builder) ? Intrinsic::ID(Intrinsic::aarch64_neon_smull)
                                                : Intrinsic::ID(Intrinsic::arm_neon_vmulls);
    return builder.CreateIntrinsic(id, {type}, {a, b});
}

bool isLongProduct(const llvm::User* user)
{
    return isCallOf(*user, Intrinsic::aarch64_neon_smull) ||
           isCallOf(*user, Intrinsic::arm_neon_vmulls);
}

bool takesHighHalves(const llvm::User* user)
{
    return isCallOf(*user, Intrinsic::aarch64_neon_smull);
}

llvm::Value* withPairsOf(llvm::IRBuilderBase& builder, llvm::Value* sum, llvm::Value* numbers)
{
    if (!isAArch64(builder))
        return builder.CreateIntrinsic(Intrinsic::arm_neon_vpadals,
                                       {sum->getType(), numbers->getType()}, {sum, numbers});
    return builder.CreateAdd(sum, builder.CreateIntrinsic(Intrinsic::aarch64_neon_saddlp,
                                                          {sum->getType(), numbers->getType()},
                                                          {numbers}));
}

llvm::Value* loadedCopies(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* address,
                          unsigned count)
{
    const bool areFour = count == 4;
    if (isAArch64(builder))
        return builder.CreateIntrinsic(areFour ? Intrinsic::aarch64_neon_ld4r
                                               : Intrinsic::aarch64_neon_ld2r,
                                       {type, address->getType()}, {address});
    // The last operand is an alignment, of which nothing is known.
    return builder.CreateIntrinsic(areFour ? Intrinsic::arm_neon_vld4dup
                                           : Intrinsic::arm_neon_vld2dup,
                                   {type, address->getType()}, {address, builder.getInt32(1)});
}

} // namespace tenon::compiler
