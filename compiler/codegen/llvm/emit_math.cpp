// SPDX-License-Identifier: Apache-2.0
// Mathematical functions as plain vector arithmetic: generated code needs no libm. Polynomial
// coefficients for binary32 are those published with the Cephes library (S. L. Moshier, single
// precision), but for exp, erf and tanh, which are fitted, as are log with AVX-512, and powers;
// binary64 uses Taylor series on reduced arguments. Bounds (tested): exp, log, tanh, sigmoid, erf,
// sin, cos at most 4 ulp in binary32 on their main ranges, tanh and erf 3 ulp and log 2 everywhere;
// with AVX-512 sigmoid 4 ulp and 1.2 per unit of the argument's magnitude: what an argument one ulp
// away gives.
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/neon_products.h"
#include "compiler/codegen/llvm/unsplat.h"
#include "compiler/codegen/llvm/vector_math.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace tenon::compiler {

using tir::Intrinsic;

namespace {

llvm::Value* fusedDot(llvm::IRBuilderBase& builder, llvm::Value* sum, llvm::Value* a,
                      llvm::Value* b, unsigned lanes)
{
    // The same intrinsics stand for AVX512-VNNI and, up to 256 bits, for AVX-VNNI.
    const auto id = lanes == 16  ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
                    : lanes == 8 ? llvm::Intrinsic::x86_avx512_vpdpbusd_256
                                 : llvm::Intrinsic::x86_avx512_vpdpbusd_128;
    return builder.CreateIntrinsic(id, {}, {sum, a, b});
}

/// Even and odd bytes apart, as 16-bit numbers: their products fit pmaddwd's 32 bits, where
/// pmaddubsw would saturate.
llvm::Value* multiplyAddDot(llvm::IRBuilderBase& builder, llvm::Value* sum, llvm::Value* a,
                            llvm::Value* b, unsigned lanes)
{
    auto* halves = llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * lanes);
    llvm::Value* unsignedBytes = builder.CreateBitCast(a, halves);
    llvm::Value* signedBytes = builder.CreateBitCast(b, halves);
    const auto id = lanes == 16  ? llvm::Intrinsic::x86_avx512_pmaddw_d_512
                    : lanes == 8 ? llvm::Intrinsic::x86_avx2_pmadd_wd
                                 : llvm::Intrinsic::x86_sse2_pmadd_wd;
    const auto products = [&](llvm::Value* x, llvm::Value* y) {
        return builder.CreateIntrinsic(id, {}, {x, y});
    };
    llvm::Value* even = products(builder.CreateAnd(unsignedBytes, 255),
                                 builder.CreateAShr(builder.CreateShl(signedBytes, 8), 8));
    llvm::Value* odd =
        products(builder.CreateLShr(unsignedBytes, 8), builder.CreateAShr(signedBytes, 8));
    return builder.CreateAdd(sum, builder.CreateAdd(even, odd));
}

/// The same where both are signed.
llvm::Value* wideSignedDot(llvm::IRBuilderBase& builder, llvm::Value* sum, llvm::Value* a,
                           llvm::Value* b, unsigned lanes)
{
    auto* halves = llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * lanes);
    const auto id =
        lanes == 8 ? llvm::Intrinsic::x86_avx2_pmadd_wd : llvm::Intrinsic::x86_sse2_pmadd_wd;
    const auto even = [&](llvm::Value* bytes) {
        return builder.CreateAShr(builder.CreateShl(builder.CreateBitCast(bytes, halves), 8), 8);
    };
    const auto odd = [&](llvm::Value* bytes) {
        return builder.CreateAShr(builder.CreateBitCast(bytes, halves), 8);
    };
    const auto products = [&](llvm::Value* x, llvm::Value* y) {
        return builder.CreateIntrinsic(id, {}, {x, y});
    };
    llvm::Value* both = builder.CreateAdd(products(even(a), even(b)), products(odd(a), odd(b)));
    return builder.CreateAdd(sum, both);
}

/// Magnitudes of values, up to 128, times weights that take the values' signs, up to 127: pairs of
/// products fit pmaddubsw's 16 bits.
llvm::Value* signedAddDot(llvm::IRBuilderBase& builder, llvm::Value* sum, llvm::Value* a,
                          llvm::Value* b, unsigned lanes)
{
    const bool isWide = lanes == 8;
    auto* bytes = llvm::FixedVectorType::get(builder.getInt8Ty(), 4 * lanes);
    auto* halves = llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * lanes);
    const auto call = [&](llvm::Intrinsic::ID narrow, llvm::Intrinsic::ID wide, llvm::Value* x,
                          llvm::Value* y) {
        return builder.CreateIntrinsic(isWide ? wide : narrow, {}, {x, y});
    };
    llvm::Value* values = builder.CreateBitCast(a, bytes);
    llvm::Value* weights = builder.CreateBitCast(b, bytes);
    llvm::Value* magnitudes =
        builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, values, builder.getInt1(false));
    llvm::Value* turned = call(llvm::Intrinsic::x86_ssse3_psign_b_128,
                               llvm::Intrinsic::x86_avx2_psign_b, weights, values);
    llvm::Value* pairs = call(llvm::Intrinsic::x86_ssse3_pmadd_ub_sw_128,
                              llvm::Intrinsic::x86_avx2_pmadd_ub_sw, magnitudes, turned);
    llvm::Value* ones = llvm::ConstantInt::get(halves, 1);
    return builder.CreateAdd(sum, call(llvm::Intrinsic::x86_sse2_pmadd_wd,
                                       llvm::Intrinsic::x86_avx2_pmadd_wd, pairs, ones));
}

/// Bytes 0 and 1 of the four in each lane, or 2 and 3, as 16-bit numbers' bits.
llvm::Value* pairOfQuads(llvm::IRBuilderBase& builder, llvm::Value* quads, int pair)
{
    auto* pairs = llvm::FixedVectorType::get(builder.getInt16Ty(), 8);
    llvm::Value* chosen = builder.CreateShuffleVector(builder.CreateBitCast(quads, pairs),
                                                      {pair, pair + 2, pair + 4, pair + 6});
    return builder.CreateBitCast(chosen, llvm::FixedVectorType::get(builder.getInt8Ty(), 8));
}

/// Two products of -128 fit 16 bits unless both are with -128, which narrow weights are not.
llvm::Value* neonMultiplyAddDot(llvm::IRBuilderBase& builder, llvm::Value* sum, llvm::Value* a,
                                llvm::Value* b, bool isNarrow)
{
    auto* halves = llvm::FixedVectorType::get(builder.getInt16Ty(), 8);
    const auto products = [&](int pair) {
        return longProducts(builder, halves, pairOfQuads(builder, a, pair),
                            pairOfQuads(builder, b, pair));
    };
    if (isNarrow) return withPairsOf(builder, sum, builder.CreateAdd(products(0), products(1)));
    return withPairsOf(builder, withPairsOf(builder, sum, products(0)), products(1));
}

llvm::Value* neonSignedDot(llvm::IRBuilderBase& builder, llvm::Value* sum, llvm::Value* a,
                           llvm::Value* b)
{
    auto* bytes = llvm::FixedVectorType::get(builder.getInt8Ty(), 16);
    // What the lanes of `a` share is the operand that may be a lane.
    return builder.CreateIntrinsic(
        llvm::Intrinsic::aarch64_neon_sdot, {sum->getType(), bytes},
        {sum, builder.CreateBitCast(b, bytes), builder.CreateBitCast(a, bytes)});
}

/// In binary64, where the error of exp(y log x) stays below half an ulp of binary32.
llvm::Value* powerOfSingles(llvm::IRBuilderBase& builder, VectorMath& math, llvm::Value* x,
                            llvm::Value* y)
{
    llvm::Type* type = x->getType();
    llvm::Type* wide = type->getWithNewType(builder.getDoubleTy());
    VectorMath widely(builder, wide, EmitOptions());
    llvm::Value* magnitude = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    llvm::Value* power =
        widely.powerOfSingle(builder.CreateFPExt(magnitude, wide), builder.CreateFPExt(y, wide));
    return math.signedPower(builder.CreateFPTrunc(power, type), x, y);
}

} // namespace

llvm::Value* Emitter::productOfBytes(const tir::ExprNode& node)
{
    const auto isWidened = [](const tir::Expr& expr) {
        const tir::Expr& cast = unsplat(expr);
        if (cast->kind != tir::ExprKind::Cast) return false;
        const DataType from = cast->args[0]->dtype.scalar();
        return from == kInt8 || from == kInt16;
    };
    if (!isNeon(m_options.byteDot) || node.kind != tir::ExprKind::Mul ||
        node.dtype != kInt32.withLanes(4) || !isWidened(node.args[0]) || !isWidened(node.args[1]))
        return nullptr;
    const auto halves = [&](const tir::Expr& expr) {
        const tir::Expr& from = unsplat(expr)->args[0];
        const DataType dtype = kInt16.withLanes(from->dtype.lanes);
        llvm::Value* half = castTo(dtype, value(from), from->dtype);
        return dtype.lanes == 1 ? m_builder.CreateVectorSplat(4, half) : half;
    };
    llvm::Value* a = halves(node.args[0]);
    llvm::Value* b = halves(node.args[1]);
    return longProducts(m_builder, typeOf(node.dtype), a, b);
}

llvm::Value* Emitter::dotOfBytes(tir::Intrinsic dot, llvm::Value* sum, llvm::Value* a,
                                 llvm::Value* b)
{
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(sum->getType());
    const unsigned lanes = vector ? vector->getNumElements() : 1;
    const bool isLegal = lanes * 4 <= static_cast<unsigned>(m_options.vectorBytes);
    const bool isSigned = dot != Intrinsic::DotU8I8;
    if (isLegal && !isSigned && (lanes == 4 || lanes == 8 || lanes == 16)) {
        if (m_options.byteDot == ByteDot::Fused) return fusedDot(m_builder, sum, a, b, lanes);
        if (m_options.byteDot == ByteDot::MultiplyAdd || m_options.byteDot == ByteDot::SignedAdd)
            return multiplyAddDot(m_builder, sum, a, b, lanes);
    }
    if (isLegal && isSigned && (lanes == 4 || lanes == 8) &&
        m_options.byteDot == ByteDot::SignedAdd)
        return dot == Intrinsic::DotI8Narrow ? signedAddDot(m_builder, sum, a, b, lanes)
                                             : wideSignedDot(m_builder, sum, a, b, lanes);
    if (isSigned && lanes == 4) {
        if (m_options.byteDot == ByteDot::NeonMultiplyAdd)
            return neonMultiplyAddDot(m_builder, sum, a, b, dot == Intrinsic::DotI8Narrow);
        if (isNeon(m_options.byteDot)) return neonSignedDot(m_builder, sum, a, b);
    }
    const auto shift = [&](int bits) { return llvm::ConstantInt::get(sum->getType(), bits); };
    for (int byte = 0; byte < 4; ++byte) {
        llvm::Value* x = m_builder.CreateShl(a, shift(24 - 8 * byte));
        x = isSigned ? m_builder.CreateAShr(x, shift(24)) : m_builder.CreateLShr(x, shift(24));
        llvm::Value* w = m_builder.CreateShl(b, shift(24 - 8 * byte));
        sum = m_builder.CreateAdd(sum, m_builder.CreateMul(x, m_builder.CreateAShr(w, shift(24))));
    }
    return sum;
}

llvm::Value* Emitter::intrinsic(const tir::ExprNode& node)
{
    const DataType dtype = node.dtype;
    const auto arg = [&](size_t i) { return value(node.args[i]); };
    switch (node.intrinsic) {
    case Intrinsic::IfThenElse: return conditional(node);
    case Intrinsic::Likely: return arg(0);
    case Intrinsic::BitwiseAnd: return m_builder.CreateAnd(arg(0), arg(1));
    case Intrinsic::BitwiseOr:
        if (llvm::Value* words = quads(node)) return words;
        return m_builder.CreateOr(arg(0), arg(1));
    case Intrinsic::BitwiseXor: return m_builder.CreateXor(arg(0), arg(1));
    case Intrinsic::BitwiseNot: return m_builder.CreateNot(arg(0));
    case Intrinsic::ShiftLeft: return m_builder.CreateShl(arg(0), arg(1));
    case Intrinsic::ShiftRight:
        return node.args[0]->dtype.isSigned() ? m_builder.CreateAShr(arg(0), arg(1))
                                              : m_builder.CreateLShr(arg(0), arg(1));
    case Intrinsic::Reinterpret: {
        llvm::Value* bits = toStored(arg(0), node.args[0]->dtype);
        return fromStored(m_builder.CreateBitCast(bits, storedTypeOf(dtype)), dtype);
    }
    case Intrinsic::IsNan: {
        llvm::Value* x = arg(0);
        return m_builder.CreateFCmpUNO(x, x);
    }
    case Intrinsic::IsInf: {
        llvm::Value* magnitude = m_builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, arg(0));
        return m_builder.CreateFCmpOEQ(magnitude,
                                       llvm::ConstantFP::getInfinity(magnitude->getType()));
    }
    case Intrinsic::Fma:
        return rounded(m_builder.CreateIntrinsic(llvm::Intrinsic::fma, {typeOf(dtype)},
                                                 {arg(0), arg(1), arg(2)}),
                       dtype);
    case Intrinsic::Abs:
        if (dtype.isFloat()) return m_builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, arg(0));
        if (!dtype.isSigned()) return arg(0);
        return m_builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, arg(0),
                                               m_builder.getInt1(false));
    case Intrinsic::DotI8I8:
    case Intrinsic::DotI8Narrow:
    case Intrinsic::DotU8I8: return dotOfBytes(node.intrinsic, arg(0), arg(1), arg(2));
    default: break;
    }
    CHECK(dtype.isFloat()) << tir::intrinsicText(node.intrinsic) << " of " << dtype.text();
    // Halves compute in binary32.
    const DataType wide{DtypeKind::Float, dtype.bits == 16 ? uint8_t{32} : dtype.bits, dtype.lanes};
    const auto wideArg = [&](size_t i) { return castTo(wide, arg(i), dtype); };
    llvm::Value* x = wideArg(0);
    llvm::Value* y = node.intrinsic == Intrinsic::Pow ? wideArg(1) : nullptr;
    llvm::Value* result = nullptr;
    {
        // Inside an expansion roundings are its own affair; its arguments were computed before.
        const llvm::IRBuilderBase::FastMathFlagGuard around(m_builder);
        llvm::FastMathFlags flags;
        flags.setAllowContract(true);
        m_builder.setFastMathFlags(flags);
        VectorMath math(m_builder, typeOf(wide), m_options);
        result = !y                 ? math.unary(node.intrinsic, x)
                 : dtype.bits == 32 ? powerOfSingles(m_builder, math, x, y)
                                    : math.pow(x, y);
    }
    return castTo(dtype, result, wide);
}

} // namespace tenon::compiler
