// SPDX-License-Identifier: Apache-2.0
// One intrinsic per operation; what has none keeps its loop over lanes.
#include "compiler/codegen/c/c_vectors.h"

#include "compiler/codegen/c/c_text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;
using tir::Intrinsic;

namespace {

constexpr int kLanes = 4;
constexpr int kBytes = 16;

bool isFloat(core::DataType dtype) { return dtype.withLanes(1) == core::kFloat32; }

/// Integers whose values four lanes of int32 hold.
bool isInteger(core::DataType dtype)
{
    if (dtype.isFloat() || dtype.isBool()) return false;
    return dtype.bits < 32 || dtype.withLanes(1) == core::kInt32;
}

bool isByte(core::DataType dtype) { return isInteger(dtype) && dtype.bits == 8; }

const char* suffix(core::DataType dtype) { return isFloat(dtype) ? "f32" : "s32"; }

/// Lanes `first` to `first + count - 1`.
Expr lanesOf(const Expr& expr, int64_t first, int count)
{
    if (expr->dtype.lanes == 1) return expr;
    switch (expr->kind) {
    case ExprKind::Ramp:
        return tir::ramp(expr->args[0] + expr->args[1] * tir::intImm(first, expr->args[1]->dtype),
                         expr->args[1], count);
    case ExprKind::Broadcast: return tir::broadcast(expr->args[0], count);
    case ExprKind::Load: return tir::load(expr->buffer, {lanesOf(expr->args[0], first, count)});
    case ExprKind::Cast:
        return tir::cast(expr->dtype.withLanes(count), lanesOf(expr->args[0], first, count));
    default: break;
    }
    std::vector<Expr> args;
    for (const Expr& arg : expr->args) args.push_back(lanesOf(arg, first, count));
    return tir::withArgs(expr, std::move(args));
}

/// The first of lanes that lie side by side, or null.
const Expr* firstOf(const Expr& index)
{
    return index->kind == ExprKind::Ramp && index->args[1].isConstInt(1) ? &index->args[0]
                                                                         : nullptr;
}

/// The number that all lanes hold, or null.
const Expr* numberIn(const Expr& expr)
{
    if (expr->dtype.lanes == 1) return &expr;
    return expr->kind == ExprKind::Broadcast ? &expr->args[0] : nullptr;
}

/// True for a store that changes what later lanes of it read.
bool overlaps(const tir::StmtNode& store)
{
    bool found = false;
    tir::visitExprs(store.value, [&](const Expr& expr) {
        found = found || (expr->kind == ExprKind::Load && expr->buffer == store.buffer &&
                          !tir::structuralEqual(expr->args[0], store.indices[0]));
        return !found;
    });
    return found;
}

bool isNumber(const Expr& expr)
{
    const Expr* number = numberIn(expr);
    return number && ((*number)->kind == ExprKind::IntImm || (*number)->kind == ExprKind::FloatImm);
}

} // namespace

std::string CVectors::refused()
{
    m_isRefused = true;
    return {};
}

std::string CVectors::address(const tir::Buffer& buffer, const Expr& index)
{
    const std::string at = m_names.text(m_names.simplified(index));
    return m_names.nameOf(buffer) + (at == "0" ? "" : " + " + at);
}

/// Each lane by itself, where the processor has no instruction for all of them.
std::string CVectors::ofLanes(const Expr& vector)
{
    std::string out;
    for (int lane = 0; lane < kLanes; ++lane)
        out += (lane ? ", " : "") + m_names.text(laneOf(vector, Expr(lane)));
    return (isFloat(vector->dtype) ? "lanes_f32(" : "lanes_i32(") + out + ")";
}

std::string CVectors::loaded(const Expr& vector)
{
    const ExprNode& load = *vector;
    const Expr* first = firstOf(load.args[0]);
    if (!first) return load.args[0]->kind == ExprKind::Ramp ? ofLanes(vector) : refused();
    const core::DataType dtype = load.dtype.withLanes(1);
    if (m_names.isOfVectors(load.buffer))
        return m_names.nameOf(load.buffer) + "[" +
               m_names.text(m_names.simplified(tir::floorDiv(*first, Expr(kLanes)))) + "]";
    if (isOfNumbers(load.buffer)) return ofLanes(vector);
    const std::string place = "(" + address(load.buffer, *first) + ")";
    if (isFloat(dtype)) return "vldrwq_f32" + place;
    if (!isInteger(dtype)) return refused();
    const std::string width = dtype.bits == 8 ? "b" : dtype.bits == 16 ? "h" : "w";
    if (dtype.isSigned()) return "vldr" + width + "q_s32" + place;
    return "vreinterpretq_s32_u32(vldr" + width + "q_u32" + place + ")";
}

std::string CVectors::converted(const ExprNode& cast)
{
    const Expr& from = cast.args[0];
    if (isInteger(cast.dtype) && isInteger(from->dtype)) {
        if (cast.dtype.bits < 32 && cast.dtype.withLanes(1) != from->dtype.withLanes(1))
            return refused();
        return text(from);
    }
    if (isFloat(cast.dtype) && isInteger(from->dtype)) return "vcvtq_f32_s32(" + text(from) + ")";
    if (cast.dtype.withLanes(1) != core::kInt32 || !isFloat(from->dtype)) return refused();
    if (from->kind == ExprKind::Intrinsic && from->intrinsic == Intrinsic::Round)
        return "vcvtnq_s32_f32(" + text(from->args[0]) + ")";
    return "vcvtq_s32_f32(" + text(from) + ")";
}

std::string CVectors::withNumber(const std::string& name, const Expr& vector, const Expr& number)
{
    return name + "q_n_" + suffix(vector->dtype) + "(" + text(vector) + ", " +
           m_names.text(number) + ")";
}

std::string CVectors::product(const ExprNode& node)
{
    for (const size_t side : {size_t{1}, size_t{0}})
        if (const Expr* number = numberIn(node.args[side]))
            return withNumber("vmul", node.args[1 - side], *number);
    return std::string("vmulq_") + suffix(node.dtype) + "(" + text(node.args[0]) + ", " +
           text(node.args[1]) + ")";
}

/// A product of integers with one number is added to a sum by one instruction.
std::string CVectors::sum(const ExprNode& node)
{
    const bool isAdd = node.kind == ExprKind::Add;
    const char* name = isAdd ? "vadd" : "vsub";
    if (isAdd && !isFloat(node.dtype))
        for (const size_t side : {size_t{1}, size_t{0}}) {
            const Expr& term = node.args[side];
            if (term->kind != ExprKind::Mul || term->dtype.lanes == 1) continue;
            for (const size_t factor : {size_t{1}, size_t{0}})
                if (const Expr* number = numberIn(term->args[factor]))
                    return "vmlaq_n_s32(" + text(node.args[1 - side]) + ", " +
                           text(term->args[1 - factor]) + ", " + m_names.text(*number) + ")";
        }
    if (const Expr* number = numberIn(node.args[1])) return withNumber(name, node.args[0], *number);
    if (const Expr* number = numberIn(node.args[0]); number && isAdd)
        return withNumber(name, node.args[1], *number);
    return std::string(name) + "q_" + suffix(node.dtype) + "(" + text(node.args[0]) + ", " +
           text(node.args[1]) + ")";
}

std::string CVectors::extremum(const ExprNode& node)
{
    const bool isLeast = node.kind == ExprKind::Min;
    const Expr &a = node.args[0], &b = node.args[1];
    if (isFloat(node.dtype)) {
        // The number of the processor's own instruction would win over what is none.
        const char* name = isLeast ? "min_f32x4(" : "max_f32x4(";
        return isNumber(b) ? name + text(a) + ", " + text(b) + ")" : refused();
    }
    const Expr& most = a;
    if (isLeast && isNumber(b) && numberIn(b)->get()->integer == 127 &&
        most->kind == ExprKind::Max && isNumber(most->args[1]) &&
        numberIn(most->args[1])->get()->integer == -128 && most->dtype.bits == 32)
        return "saturate_i8x4(" + text(most->args[0]) + ")";
    return std::string(isLeast ? "vminq_s32(" : "vmaxq_s32(") + text(a) + ", " + text(b) + ")";
}

/// One condition for all lanes.
std::string CVectors::chosen(const ExprNode& node)
{
    if (node.args[0]->dtype.lanes != 1) return refused();
    const Expr condition = m_names.simplified(node.args[0]);
    if (condition->kind == ExprKind::IntImm) return text(node.args[condition->integer ? 1 : 2]);
    return "(" + m_names.text(node.args[0]) + " ? " + text(node.args[1]) + " : " +
           text(node.args[2]) + ")";
}

std::string CVectors::intrinsic(const ExprNode& node)
{
    const auto rounded = [&](const char* name) {
        return isFloat(node.dtype) ? name + ("q_f32(" + text(node.args[0])) + ")" : refused();
    };
    switch (node.intrinsic) {
    case Intrinsic::IfThenElse: return chosen(node);
    case Intrinsic::Likely: return text(node.args[0]);
    case Intrinsic::Round: return rounded("vrndn");
    case Intrinsic::Floor: return rounded("vrndm");
    case Intrinsic::Ceil: return rounded("vrndp");
    case Intrinsic::Trunc: return rounded("vrnd");
    case Intrinsic::Fma:
        if (!isFloat(node.dtype)) return refused();
        for (const size_t side : {size_t{1}, size_t{0}})
            if (const Expr* number = numberIn(node.args[side]))
                return "vfmaq_n_f32(" + text(node.args[2]) + ", " + text(node.args[1 - side]) +
                       ", " + m_names.text(*number) + ")";
        return "vfmaq_f32(" + text(node.args[2]) + ", " + text(node.args[0]) + ", " +
               text(node.args[1]) + ")";
    default: return refused();
    }
}

std::string CVectors::text(const Expr& four)
{
    const ExprNode& node = *four;
    if (!isFloat(node.dtype) && !isInteger(node.dtype)) return refused();
    if (const Expr* number = numberIn(four))
        return std::string("vdupq_n_") + suffix(node.dtype) + "(" + m_names.text(*number) + ")";
    const bool isWhole = isFloat(node.dtype) || node.dtype.bits == 32;
    switch (node.kind) {
    case ExprKind::Load: return loaded(four);
    case ExprKind::Div: return isFloat(node.dtype) ? ofLanes(four) : refused();
    case ExprKind::Cast: return converted(node);
    case ExprKind::Add:
    case ExprKind::Sub: return isWhole ? sum(node) : refused();
    case ExprKind::Mul: return isWhole ? product(node) : refused();
    case ExprKind::Min:
    case ExprKind::Max: return extremum(node);
    case ExprKind::Select: return chosen(node);
    case ExprKind::Intrinsic: return intrinsic(node);
    default: return refused();
    }
}

std::string CVectors::stored(const tir::Buffer& buffer, const Expr& index, const Expr& value)
{
    const core::DataType dtype = buffer->dtype;
    if (value->kind == ExprKind::Load && !firstOf(value->args[0])) return refused();
    if (m_names.isOfVectors(buffer))
        return m_names.nameOf(buffer) + "[" +
               m_names.text(m_names.simplified(tir::floorDiv(index, Expr(kLanes)))) +
               "] = " + text(value) + ";";
    const std::string place = address(buffer, index);
    if (isFloat(dtype)) return "vstrwq_f32(" + place + ", " + text(value) + ");";
    // The store cuts off what the cast would.
    Expr whole = value;
    if (value->kind == ExprKind::Cast && dtype.bits < 32)
        whole = isFloat(value->args[0]->dtype)
                    ? tir::cast(core::kInt32.withLanes(kLanes), value->args[0])
                    : value->args[0];
    const std::string width = dtype.bits == 8 ? "b" : dtype.bits == 16 ? "h" : "w";
    if (dtype.isSigned()) return "vstr" + width + "q_s32(" + place + ", " + text(whole) + ");";
    return "vstr" + width + "q_u32(" + place + ", vreinterpretq_u32_s32(" + text(whole) + "));";
}

/// Bytes that are only moved, sixteen at a time.
std::string CVectors::copiedBytes(const tir::StmtNode& node)
{
    const std::string type = node.buffer->dtype.isSigned() ? "s8" : "u8";
    std::string value;
    if (const Expr* number = numberIn(node.value)) {
        value = "vdupq_n_" + type + "(" + m_names.text(*number) + ")";
    } else {
        const Expr* from =
            node.value->kind == ExprKind::Load ? firstOf(node.value->args[0]) : nullptr;
        if (!from || node.value->dtype.withLanes(1) != node.buffer->dtype) return {};
        value = "vldrbq_" + type + "(" + address(node.value->buffer, *from) + ")";
    }
    return "vstrbq_" + type + "(" + address(node.buffer, node.indices[0]->args[0]) + ", " + value +
           ");";
}

std::vector<std::string> CVectors::store(const tir::StmtNode& node)
{
    const Expr& index = node.indices[0];
    const int lanes = index->dtype.lanes;
    const bool isKnown = isFloat(node.buffer->dtype) || isInteger(node.buffer->dtype);
    if (!m_isOn || !isKnown || lanes % kLanes != 0 || !firstOf(index) || isOfNumbers(node.buffer))
        return {};
    if (isByte(node.buffer->dtype) && lanes == kBytes)
        if (std::string copied = copiedBytes(node); !copied.empty()) return {std::move(copied)};
    m_isRefused = lanes > kLanes && overlaps(node);
    std::vector<std::string> out;
    for (int first = 0; first < lanes && !m_isRefused; first += kLanes)
        out.push_back(stored(node.buffer, *firstOf(lanesOf(index, first, kLanes)),
                             lanesOf(node.value, first, kLanes)));
    return m_isRefused ? std::vector<std::string>{} : out;
}

bool CVectors::becomesVectors(const tir::Stmt& body, const tir::Buffer& buffer) const
{
    if (!m_isOn || (!isFloat(buffer->dtype) && buffer->dtype != core::kInt32)) return false;
    bool isWhole = true;
    const auto check = [&](const Expr& index) {
        const Expr* first = firstOf(index);
        isWhole = isWhole && first && index->dtype.lanes % kLanes == 0 &&
                  m_names.simplified(tir::floorMod(*first, Expr(kLanes))).isConstInt(0);
    };
    tir::visitStmts(body, [&](const tir::Stmt& stmt) {
        if (stmt->kind == tir::StmtKind::Store && stmt->buffer == buffer) check(stmt->indices[0]);
        return isWhole;
    });
    tir::visitExprsIn(body, [&](const Expr& expr) {
        if (expr->kind == ExprKind::Load && expr->buffer == buffer) check(expr->args[0]);
        return isWhole;
    });
    return isWhole;
}

std::string CVectors::declareVectors(const tir::Buffer& buffer, int64_t count)
{
    m_names.holdsVectors(buffer);
    return std::string(isFloat(buffer->dtype) ? "float32x4_t " : "int32x4_t ") +
           m_names.nameOf(buffer) + "[" + std::to_string(count / kLanes) + "];";
}

} // namespace tenon::compiler
