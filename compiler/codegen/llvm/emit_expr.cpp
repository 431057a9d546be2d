// SPDX-License-Identifier: Apache-2.0
// Expressions of the loop IR as LLVM values.
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/masked_runs.h"
#include "compiler/codegen/llvm/soft_half.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;

namespace {

bool isDot(tir::Intrinsic intrinsic)
{
    return intrinsic == tir::Intrinsic::DotU8I8 || intrinsic == tir::Intrinsic::DotI8I8 ||
           intrinsic == tir::Intrinsic::DotI8Narrow;
}

/// A dot(0, a, b), which an addition takes in as its first operand.
bool isDotOnZero(const ExprNode& node)
{
    if (node.kind != ExprKind::Intrinsic || !isDot(node.intrinsic)) return false;
    const ExprNode& sum = *node.args[0];
    return (sum.kind == ExprKind::Broadcast ? sum.args[0] : node.args[0]).isConstInt(0);
}

/// Minimum or maximum, NaN where an operand is.
llvm::Value* extremum(KnownBuilder& builder, const ExprNode& node, llvm::Value* a, llvm::Value* b,
                      bool hasNanMaximum)
{
    const bool isMax = node.kind == ExprKind::Max;
    if (!node.dtype.isFloat()) {
        const bool isSigned = node.dtype.isSigned();
        const auto id = isMax ? (isSigned ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                              : (isSigned ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
        return builder.CreateBinaryIntrinsic(id, a, b);
    }
    // With a constant side one compare-and-select keeps a NaN of the other side and is a single
    // machine instruction.
    if (llvm::isa<llvm::Constant>(a)) std::swap(a, b);
    if (llvm::isa<llvm::Constant>(b) && !hasNanMaximum) {
        llvm::Value* takeConstant =
            isMax ? builder.CreateFCmpOGT(b, a) : builder.CreateFCmpOLT(b, a);
        return builder.CreateSelect(takeConstant, b, a);
    }
    llvm::Value* result = builder.CreateBinaryIntrinsic(
        isMax ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, b);
    // Which of 0 and -0 is larger matters to nobody and costs three instructions of six.
    if (auto* call = llvm::dyn_cast<llvm::Instruction>(result)) call->setHasNoSignedZeros(true);
    return result;
}

} // namespace

llvm::Value* Emitter::value(const Expr& expr)
{
    const ExprNode& node = *expr;
    switch (node.kind) {
    case ExprKind::IntImm:
        return llvm::ConstantInt::get(typeOf(node.dtype), static_cast<uint64_t>(node.integer),
                                      node.dtype.isSigned());
    case ExprKind::FloatImm:
        return rounded(llvm::ConstantFP::get(typeOf(node.dtype), node.number), node.dtype);
    case ExprKind::VarRef: {
        const auto found = m_vars.find(node.var.get());
        CHECK(found != m_vars.end()) << "unbound variable " << node.var->name;
        return found->second;
    }
    case ExprKind::Equal:
    case ExprKind::NotEqual:
    case ExprKind::Less:
    case ExprKind::LessEqual:
    case ExprKind::Greater:
    case ExprKind::GreaterEqual: return compare(node);
    case ExprKind::And: return m_builder.CreateAnd(value(node.args[0]), value(node.args[1]));
    case ExprKind::Or: return m_builder.CreateOr(value(node.args[0]), value(node.args[1]));
    case ExprKind::Not: return m_builder.CreateNot(value(node.args[0]));
    case ExprKind::Select: {
        llvm::Value* condition = value(node.args[0]);
        return m_builder.CreateSelect(condition, value(node.args[1]), value(node.args[2]));
    }
    case ExprKind::Cast:
        if (llvm::Value* bytes = requantized(node)) return bytes;
        if (llvm::Value* number = requantizedNumber(node)) return number;
        return castTo(node.dtype, value(node.args[0]), node.args[0]->dtype);
    case ExprKind::Load: return loadElement(node);
    case ExprKind::Intrinsic: return intrinsic(node);
    case ExprKind::Ramp: return rampValue(node);
    case ExprKind::Broadcast:
        return m_builder.CreateVectorSplat(node.dtype.lanes, value(node.args[0]));
    default: return isSoft(node.dtype) ? rounded(binary(node), node.dtype) : binary(node);
    }
}

llvm::Value* Emitter::binary(const ExprNode& node)
{
    if (node.kind == ExprKind::Add)
        for (const size_t side : {size_t{0}, size_t{1}})
            if (isDotOnZero(*node.args[side])) {
                const ExprNode& dot = *node.args[side];
                llvm::Value* sum = value(node.args[1 - side]);
                return dotOfBytes(dot.intrinsic, sum, value(dot.args[1]), value(dot.args[2]));
            }
    if (llvm::Value* product = productOfBytes(node)) return product;
    if (llvm::Value* sum = pairOfProducts(node)) return sum;
    if (llvm::Value* quotient = division(node)) return quotient;
    llvm::Value* a = value(node.args[0]);
    llvm::Value* b = value(node.args[1]);
    const bool isFloat = node.dtype.isFloat();
    switch (node.kind) {
    case ExprKind::Add: return isFloat ? m_builder.CreateFAdd(a, b) : m_builder.CreateAdd(a, b);
    case ExprKind::Sub: return isFloat ? m_builder.CreateFSub(a, b) : m_builder.CreateSub(a, b);
    case ExprKind::Mul: return isFloat ? m_builder.CreateFMul(a, b) : m_builder.CreateMul(a, b);
    case ExprKind::Div: return m_builder.CreateFDiv(a, b);
    case ExprKind::Mod: return remainder(a, b, node.dtype);
    case ExprKind::Min:
    case ExprKind::Max:
        return extremum(m_builder, node, a, b, node.dtype.lanes >= m_options.nanMaximumLanes);
    default: CHECK(false) << "expression kind " << static_cast<int>(node.kind);
    }
    return nullptr;
}

llvm::Value* Emitter::compare(const ExprNode& node)
{
    if (llvm::Constant* known = knownComparison(node)) return known;
    using P = llvm::CmpInst::Predicate;
    const DataType dtype = node.args[0]->dtype;
    const size_t row = static_cast<size_t>(node.kind) - static_cast<size_t>(ExprKind::Equal);
    static constexpr P kFloat[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT,
                                   P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
    static constexpr P kSigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT,
                                    P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
    static constexpr P kUnsigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_ULT,
                                      P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
    const P predicate = dtype.isFloat()    ? kFloat[row]
                        : dtype.isSigned() ? kSigned[row]
                                           : kUnsigned[row];
    llvm::Value* a = value(node.args[0]);
    llvm::Value* b = value(node.args[1]);
    return m_builder.CreateCmp(predicate, a, b);
}

llvm::Value* Emitter::castTo(DataType to, llvm::Value* source, DataType from)
{
    llvm::Type* type = typeOf(to);
    const bool isWide = from.bits > (from.isFloat() ? 32 : 24);
    if (isSoft(to) ? !from.isBool() : to.bits == 16 && to.isFloat() && from.bits == 64) {
        // What binary32 cannot hold must not be rounded twice.
        llvm::Value* wide =
            isWide ? narrowedToOdd(m_builder, castTo(kFloat64.withLanes(to.lanes), source, from))
                   : castTo(kFloat32.withLanes(to.lanes), source, from);
        return isSoft(to) ? rounded(wide, to) : m_builder.CreateFPTrunc(wide, type);
    }
    if (isSoft(from)) return castTo(to, source, kFloat32.withLanes(from.lanes));
    if (from.isBool()) {
        if (to.isFloat()) return m_builder.CreateUIToFP(source, type);
        return m_builder.CreateZExtOrTrunc(source, type);
    }
    if (to.isBool()) {
        llvm::Value* zero = llvm::Constant::getNullValue(source->getType());
        return from.isFloat() ? m_builder.CreateFCmpUNE(source, zero)
                              : m_builder.CreateICmpNE(source, zero);
    }
    if (from.isFloat() && to.isFloat()) {
        if (from.bits == 16 && to.bits == 16) { // half <-> bfloat goes through float
            llvm::Value* wide =
                m_builder.CreateFPExt(source, typeOf(kFloat32.withLanes(from.lanes)));
            return m_builder.CreateFPTrunc(wide, type);
        }
        return m_builder.CreateFPCast(source, type);
    }
    if (from.isFloat())
        return to.isSigned() ? m_builder.CreateFPToSI(source, type)
                             : m_builder.CreateFPToUI(source, type);
    if (to.isFloat())
        return from.isSigned() ? m_builder.CreateSIToFP(source, type)
                               : m_builder.CreateUIToFP(source, type);
    return m_builder.CreateIntCast(source, type, from.isSigned());
}

llvm::Value* Emitter::rampValue(const ExprNode& node)
{
    llvm::Type* scalar = typeOf(node.dtype.scalar());
    std::vector<llvm::Constant*> steps;
    for (unsigned lane = 0; lane < node.dtype.lanes; ++lane)
        steps.push_back(llvm::ConstantInt::get(scalar, lane));
    llvm::Value* base = m_builder.CreateVectorSplat(node.dtype.lanes, value(node.args[0]));
    llvm::Value* stride = m_builder.CreateVectorSplat(node.dtype.lanes, value(node.args[1]));
    return m_builder.CreateAdd(base, m_builder.CreateMul(llvm::ConstantVector::get(steps), stride));
}

namespace {

/// Where all lanes are masked alike, a place in the buffer for those that are not read: theirs may
/// lie in no page, and to find out takes hundreds of cycles (a copy with padding took four times as
/// long on Zen 5).
llvm::Value* placeIfRead(llvm::IRBuilderBase& builder, llvm::Value* mask, llvm::Value* pointer,
                         llvm::Value* buffer)
{
    llvm::Value* isRead = llvm::getSplatValue(mask);
    return isRead ? builder.CreateSelect(isRead, pointer, buffer) : pointer;
}

} // namespace

llvm::Value* Emitter::loadElement(const ExprNode& node)
{
    CHECK(node.args.size() == 1) << "load of " << node.buffer->name << " is not flat";
    const Expr& index = node.args[0];
    const int lanes = index->dtype.lanes;
    llvm::Type* stored = storedTypeOf(node.buffer->dtype.withLanes(lanes));
    llvm::Value* loaded = nullptr;
    if (index->kind == ExprKind::Ramp && index->args[1].isConstInt(1)) {
        const auto [pointer, align] = address(node.buffer, index->args[0]);
        if (m_mask)
            loaded = m_builder.CreateMaskedLoad(
                stored,
                placeIfRead(m_builder, m_mask, pointer, m_places[node.buffer.get()].pointer), align,
                m_mask, llvm::Constant::getNullValue(stored));
        else
            loaded = loadRun(m_builder, m_options, *node.buffer, stored, {pointer, align});
    } else if (index->kind == ExprKind::Broadcast) {
        const auto [pointer, align] = address(node.buffer, index->args[0]);
        CHECK(!m_mask) << "masked broadcast load";
        loaded = m_builder.CreateVectorSplat(
            static_cast<unsigned>(lanes),
            m_builder.CreateAlignedLoad(stored->getScalarType(), pointer, align));
    } else if (lanes == 1) {
        const auto [pointer, align] = address(node.buffer, index);
        loaded = m_builder.CreateAlignedLoad(stored, pointer, align);
    } else if (llvm::Value* chosen = lookup(node)) {
        loaded = chosen;
    } else if (llvm::Value* near = nearLanes(node, stored->getScalarType())) {
        loaded = near;
    } else {
        const auto [base, align] = address(node.buffer, Expr(0));
        llvm::Value* pointers =
            m_builder.CreateInBoundsGEP(stored->getScalarType(), base, value(index));
        const llvm::Align element(static_cast<uint64_t>(node.buffer->dtype.bytes()));
        loaded = m_builder.CreateMaskedGather(stored, pointers, std::min(align, element), m_mask);
    }
    return fromStored(loaded, node.buffer->dtype.withLanes(lanes));
}

namespace {

/// A vector or zeros, where processors have masks: dozens of branches in a tile at the border of an
/// image take LLVM longer than the rest of its kernel.
bool isMaskedVector(const ExprNode& node, int vectorBytes)
{
    constexpr int kMaskedBytes = 64; // AVX-512
    const Expr& read = node.args[1];
    return vectorBytes == kMaskedBytes && node.dtype.bytes() == kMaskedBytes &&
           node.dtype.isFloat() && read->kind == ExprKind::Load &&
           read->args[0]->kind == ExprKind::Ramp && read->args[0]->args[1].isConstInt(1) &&
           node.args[2]->kind == ExprKind::Broadcast;
}

} // namespace

llvm::Value* Emitter::conditional(const ExprNode& node)
{
    llvm::Value* condition = value(node.args[0]);
    const auto* known = llvm::dyn_cast<llvm::Constant>(condition);
    if (known && (known->isNullValue() || known->isAllOnesValue()))
        return value(node.args[known->isNullValue() ? 2 : 1]);
    if (isMaskedVector(node, m_options.vectorBytes) && node.args[0]->dtype.lanes == 1)
        condition = m_builder.CreateVectorSplat(static_cast<unsigned>(node.dtype.lanes), condition);
    if (condition->getType()->isVectorTy()) {
        llvm::Value* const outer = m_mask;
        m_mask = outer ? m_builder.CreateAnd(outer, condition) : condition;
        llvm::Value* ifTrue = value(node.args[1]);
        llvm::Value* inverse = m_builder.CreateNot(condition);
        m_mask = outer ? m_builder.CreateAnd(outer, inverse) : inverse;
        llvm::Value* ifFalse = value(node.args[2]);
        m_mask = outer;
        return m_builder.CreateSelect(condition, ifTrue, ifFalse);
    }
    llvm::BasicBlock* thenBlock = llvm::BasicBlock::Create(m_context, "then", m_function);
    llvm::BasicBlock* elseBlock = llvm::BasicBlock::Create(m_context, "else", m_function);
    llvm::BasicBlock* endBlock = llvm::BasicBlock::Create(m_context, "end", m_function);
    m_builder.CreateCondBr(condition, thenBlock, elseBlock);
    m_builder.SetInsertPoint(thenBlock);
    llvm::Value* ifTrue = value(node.args[1]);
    thenBlock = m_builder.GetInsertBlock();
    m_builder.CreateBr(endBlock);
    m_builder.SetInsertPoint(elseBlock);
    llvm::Value* ifFalse = value(node.args[2]);
    elseBlock = m_builder.GetInsertBlock();
    m_builder.CreateBr(endBlock);
    m_builder.SetInsertPoint(endBlock);
    llvm::PHINode* merged = m_builder.CreatePHI(ifTrue->getType(), 2);
    merged->addIncoming(ifTrue, thenBlock);
    merged->addIncoming(ifFalse, elseBlock);
    return merged;
}

} // namespace tenon::compiler
