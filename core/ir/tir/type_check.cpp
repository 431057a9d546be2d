// SPDX-License-Identifier: Apache-2.0
// One rule per kind of expression.
#include "core/ir/tir/type_check.h"

#include "core/base/text.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>

namespace tenon::tir {
namespace {

bool isInteger(DataType dtype) { return dtype.isInt() && !dtype.isBool(); }

bool haveOneType(const std::vector<Expr>& args, size_t first)
{
    return std::all_of(args.begin() + static_cast<std::ptrdiff_t>(first), args.end(),
                       [&](const Expr& arg) { return arg->dtype == args[first]->dtype; });
}

/// What is wrong with the operands of an intrinsic; empty: nothing.
std::string intrinsicFault(const ExprNode& node)
{
    const std::vector<Expr>& args = node.args;
    switch (node.intrinsic) {
    case Intrinsic::IfThenElse:
        if (!args[0]->dtype.isBool()) return "its condition is " + args[0]->dtype.text();
        return haveOneType(args, 1) ? "" : "its values differ in type";
    case Intrinsic::Likely: return args[0]->dtype.isBool() ? "" : "it takes a condition";
    case Intrinsic::Abs:
        return isInteger(args[0]->dtype) || args[0]->dtype.isFloat() ? "" : "it takes numbers";
    case Intrinsic::BitwiseAnd:
    case Intrinsic::BitwiseNot:
    case Intrinsic::BitwiseOr:
    case Intrinsic::BitwiseXor:
    case Intrinsic::ShiftLeft:
    case Intrinsic::ShiftRight:
        return isInteger(args[0]->dtype) && haveOneType(args, 0) ? ""
                                                                 : "it takes integers of one type";
    case Intrinsic::Reinterpret:
        return args[0]->dtype.bits == node.dtype.bits && args[0]->dtype.lanes == node.dtype.lanes
                   ? ""
                   : "its types differ in size";
    case Intrinsic::DotI8I8:
    case Intrinsic::DotI8Narrow:
    case Intrinsic::DotU8I8: return "it is for loops that the schedule rules write";
    default: break;
    }
    return args[0]->dtype.isFloat() && haveOneType(args, 0) ? "" : "it takes floats of one type";
}

std::string operatorFault(const ExprNode& node)
{
    const std::vector<Expr>& args = node.args;
    const DataType dtype = args[0]->dtype;
    switch (node.kind) {
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Not: return dtype.isBool() ? "" : "it takes conditions";
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: return isInteger(dtype) ? "" : "it takes integers";
    case ExprKind::Equal:
    case ExprKind::NotEqual: return "";
    case ExprKind::Select:
        if (!dtype.isBool()) return "its condition is " + dtype.text();
        return haveOneType(args, 1) ? "" : "its values differ in type";
    case ExprKind::Ramp:
    case ExprKind::Broadcast: return haveOneType(args, 0) ? "" : "base and stride differ in type";
    case ExprKind::Cast: return node.dtype.lanes == dtype.lanes ? "" : "it changes the lanes";
    default: return isInteger(dtype) || dtype.isFloat() ? "" : "it takes numbers";
    }
}

std::string faultOf(const ExprNode& node)
{
    if (node.kind == ExprKind::Intrinsic) return node.args.empty() ? "" : intrinsicFault(node);
    if (node.kind == ExprKind::Load || node.args.empty()) return {};
    return operatorFault(node);
}

} // namespace

Status checkTypes(const PrimFunc& function)
{
    std::optional<Diagnostic> error;
    visitExprsIn(function.body, [&](const Expr& expr) {
        if (error || !expr.get()) return false;
        if (const std::string fault = faultOf(*expr); !fault.empty())
            error = makeError(DiagnosticCode::BadText,
                              "the types of " + quoted(print(expr)) + " do not fit: " + fault);
        return true;
    });
    return error ? Status(*error) : kDone;
}

} // namespace tenon::tir
