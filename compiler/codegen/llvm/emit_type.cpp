// SPDX-License-Identifier: Apache-2.0
// Types in registers and in memory, and the way between them.
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/soft_half.h"

namespace tenon::compiler {
namespace {

HalfFormat formatOf(DataType dtype)
{
    return dtype.kind == DtypeKind::Bfloat ? HalfFormat::Bfloat16 : HalfFormat::Binary16;
}

} // namespace

llvm::Type* Emitter::typeOf(DataType dtype)
{
    llvm::Type* scalar = nullptr;
    if (isSoft(dtype))
        scalar = llvm::Type::getFloatTy(m_context);
    else if (dtype.kind == DtypeKind::Float)
        scalar = dtype.bits == 16   ? llvm::Type::getHalfTy(m_context)
                 : dtype.bits == 32 ? llvm::Type::getFloatTy(m_context)
                                    : llvm::Type::getDoubleTy(m_context);
    else if (dtype.kind == DtypeKind::Bfloat)
        scalar = llvm::Type::getBFloatTy(m_context);
    else if (dtype.kind == DtypeKind::Handle)
        scalar = llvm::PointerType::get(m_context, 0);
    else
        scalar = llvm::Type::getIntNTy(m_context, dtype.bits);
    if (dtype.lanes == 1) return scalar;
    return llvm::FixedVectorType::get(scalar, dtype.lanes);
}

llvm::Type* Emitter::storedTypeOf(DataType dtype)
{
    if (dtype.isBool()) return typeOf({DtypeKind::UInt, 8, dtype.lanes});
    return typeOf(isSoft(dtype) ? DataType{DtypeKind::UInt, 16, dtype.lanes} : dtype);
}

bool Emitter::isSoft(DataType dtype) const
{
    return dtype.isFloat() && dtype.bits == 16 &&
           (dtype.kind == DtypeKind::Bfloat ? m_options.lacksBfloat16 : m_options.lacksFloat16);
}

llvm::Value* Emitter::fromStored(llvm::Value* stored, DataType dtype)
{
    if (dtype.isBool())
        return m_builder.CreateICmpNE(stored, llvm::Constant::getNullValue(stored->getType()));
    return isSoft(dtype) ? halfFromBits(m_builder, stored, formatOf(dtype)) : stored;
}

llvm::Value* Emitter::toStored(llvm::Value* value, DataType dtype)
{
    if (dtype.isBool()) return m_builder.CreateZExt(value, storedTypeOf(dtype));
    return isSoft(dtype) ? halfToBits(m_builder, value, formatOf(dtype)) : value;
}

llvm::Value* Emitter::rounded(llvm::Value* value, DataType dtype)
{
    return isSoft(dtype) ? fromStored(toStored(value, dtype), dtype) : value;
}

} // namespace tenon::compiler
