// SPDX-License-Identifier: Apache-2.0
// The remainder of floats, exact as C's fmod: x - trunc(x / y) * y rounds three times, and the
// quotient may not fit. A function of the kernel's own, by integers, one number at a time.
#include "compiler/codegen/llvm/emitter.h"

namespace tenon::compiler {
namespace {

/// Long division of mantissas, a bit of the quotient per step.
class Remainder
{
public:
    Remainder(llvm::Module& module, llvm::Type* type)
        : m_b(module.getContext())
        , m_type(type)
        , m_mantissa(type->isDoubleTy() ? 52 : 23)
        , m_bits(m_b.getIntNTy(type->isDoubleTy() ? 64 : 32))
        , m_function(llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false),
                                            llvm::Function::InternalLinkage, nameOf(type), module))
    {
        m_function->addFnAttr(llvm::Attribute::NoUnwind);
        m_function->addFnAttr(llvm::Attribute::NoInline);
        m_function->addFnAttr("no-builtins");
        m_function->setDoesNotAccessMemory();
    }

    static const char* nameOf(const llvm::Type* type)
    {
        return type->isDoubleTy() ? "remainder_f64" : "remainder_f32";
    }

    llvm::Function* write()
    {
        auto* entry = block("entry");
        auto* divide = block("divide");
        auto* unchanged = block("unchanged");
        m_b.SetInsertPoint(entry);
        llvm::Value* x = m_b.CreateBitCast(m_function->getArg(0), m_bits);
        llvm::Value* y = m_b.CreateBitCast(m_function->getArg(1), m_bits);
        llvm::Value* sign = m_b.CreateAnd(x, m_b.CreateNot(magnitudeMask()));
        llvm::Value* a = m_b.CreateAnd(x, magnitudeMask());
        llvm::Value* b = m_b.CreateAnd(y, magnitudeMask());
        m_b.CreateCondBr(m_b.CreateICmpULT(a, b), unchanged, divide);
        m_b.SetInsertPoint(unchanged); // of an infinity, too, but of no NaN
        llvm::Value* isNan = m_b.CreateICmpUGT(b, infinity());
        m_b.CreateRet(m_b.CreateSelect(isNan, nan(), m_function->getArg(0)));
        m_b.SetInsertPoint(divide);
        divided(a, b, sign);
        return m_function;
    }

private:
    llvm::BasicBlock* block(const char* name)
    {
        return llvm::BasicBlock::Create(m_b.getContext(), name, m_function);
    }
    llvm::Constant* number(uint64_t value) { return llvm::ConstantInt::get(m_bits, value); }
    llvm::Constant* hidden() { return number(uint64_t{1} << m_mantissa); }
    llvm::Constant* magnitudeMask()
    {
        return number(m_mantissa == 52 ? INT64_MAX : uint64_t{INT32_MAX});
    }
    llvm::Constant* infinity()
    {
        return number(m_mantissa == 52 ? uint64_t{0x7ff} << 52 : uint64_t{0xff} << 23);
    }
    llvm::Value* nan() { return llvm::ConstantFP::getNaN(m_type); }

    /// How far the highest bit is below that of a normal number's mantissa.
    llvm::Value* missing(llvm::Value* mantissa)
    {
        const unsigned unused = m_bits->getIntegerBitWidth() - 1 - m_mantissa;
        llvm::Value* zeros =
            m_b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, mantissa, m_b.getFalse());
        return m_b.CreateSub(zeros, number(unused));
    }

    struct Parts
    {
        llvm::Value* mantissa; ///< with its highest bit
        llvm::Value* exponent; ///< biased; below 1 for subnormal numbers
    };
    Parts partsOf(llvm::Value* magnitude)
    {
        llvm::Value* isNormal = m_b.CreateICmpUGE(magnitude, hidden());
        llvm::Value* shift = missing(magnitude);
        llvm::Value* low = m_b.CreateAnd(magnitude, m_b.CreateSub(hidden(), number(1)));
        return {m_b.CreateSelect(
                    isNormal, m_b.CreateOr(low, hidden()),
                    m_b.CreateShl(magnitude, m_b.CreateSelect(isNormal, number(0), shift))),
                m_b.CreateSelect(isNormal, m_b.CreateLShr(magnitude, m_mantissa),
                                 m_b.CreateSub(number(1), shift))};
    }

    /// `mantissa` less the divisor's where it is not smaller.
    llvm::Value* reduced(llvm::Value* mantissa, llvm::Value* divisor)
    {
        return m_b.CreateSelect(m_b.CreateICmpUGE(mantissa, divisor),
                                m_b.CreateSub(mantissa, divisor), mantissa);
    }

    void divided(llvm::Value* a, llvm::Value* b, llvm::Value* sign)
    {
        const Parts x = partsOf(a), y = partsOf(b);
        auto* entry = m_b.GetInsertBlock();
        auto* head = block("head");
        auto* step = block("step");
        auto* done = block("done");
        m_b.CreateBr(head);
        m_b.SetInsertPoint(head);
        llvm::PHINode* mantissa = m_b.CreatePHI(m_bits, 2);
        llvm::PHINode* exponent = m_b.CreatePHI(m_bits, 2);
        mantissa->addIncoming(x.mantissa, entry);
        exponent->addIncoming(x.exponent, entry);
        llvm::Value* rest = reduced(mantissa, y.mantissa);
        m_b.CreateCondBr(m_b.CreateICmpSGT(exponent, y.exponent), step, done);
        m_b.SetInsertPoint(step);
        mantissa->addIncoming(m_b.CreateShl(rest, 1), step);
        exponent->addIncoming(m_b.CreateSub(exponent, number(1)), step);
        m_b.CreateBr(head);
        m_b.SetInsertPoint(done);
        m_b.CreateRet(assembled(rest, y.exponent, a, b, sign));
    }

    llvm::Value* assembled(llvm::Value* rest, llvm::Value* exponent, llvm::Value* a, llvm::Value* b,
                           llvm::Value* sign)
    {
        llvm::Value* isZero = m_b.CreateICmpEQ(rest, number(0));
        llvm::Value* shift = m_b.CreateSelect(isZero, number(0), missing(rest));
        llvm::Value* scale = m_b.CreateSub(exponent, shift);
        llvm::Value* isNormal = m_b.CreateICmpSGT(scale, number(0));
        llvm::Value* normal = m_b.CreateAdd(m_b.CreateSub(m_b.CreateShl(rest, shift), hidden()),
                                            m_b.CreateShl(scale, number(m_mantissa)));
        // Shifted to the left and back again, nothing is lost: it is a multiple of the least
        // number.
        llvm::Value* down = m_b.CreateSelect(isNormal, number(0), m_b.CreateSub(number(1), scale));
        llvm::Value* subnormal = m_b.CreateLShr(m_b.CreateShl(rest, shift), down);
        llvm::Value* bits = m_b.CreateSelect(isNormal, normal, subnormal);
        bits = m_b.CreateOr(m_b.CreateSelect(isZero, number(0), bits), sign);
        llvm::Value* isInvalid =
            m_b.CreateOr(m_b.CreateICmpUGE(a, infinity()), m_b.CreateICmpEQ(b, number(0)));
        return m_b.CreateSelect(isInvalid, nan(), m_b.CreateBitCast(bits, m_type));
    }

    llvm::IRBuilder<> m_b;
    llvm::Type* m_type;
    unsigned m_mantissa;
    llvm::IntegerType* m_bits;
    llvm::Function* m_function;
};

} // namespace

llvm::Value* Emitter::remainder(llvm::Value* a, llvm::Value* b, DataType dtype)
{
    llvm::Type* type = dtype.bits == 64 ? m_builder.getDoubleTy() : m_builder.getFloatTy();
    llvm::Function* function = m_module.getFunction(Remainder::nameOf(type));
    if (!function) function = Remainder(m_module, type).write();
    llvm::Type* wide = a->getType()->getWithNewType(type);
    a = m_builder.CreateFPCast(a, wide);
    b = m_builder.CreateFPCast(b, wide);
    const auto call = [&](llvm::Value* x, llvm::Value* y) {
        return m_builder.CreateCall(function, {x, y});
    };
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(wide);
    if (!vector) return m_builder.CreateFPCast(call(a, b), typeOf(dtype));
    llvm::Value* out = llvm::PoisonValue::get(wide);
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
        out = m_builder.CreateInsertElement(
            out,
            call(m_builder.CreateExtractElement(a, lane), m_builder.CreateExtractElement(b, lane)),
            lane);
    return m_builder.CreateFPCast(out, typeOf(dtype));
}

} // namespace tenon::compiler
