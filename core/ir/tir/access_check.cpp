// SPDX-License-Identifier: Apache-2.0
// Intervals decide most accesses; a condition around one enters as an expression that is not
// negative.
#include "core/ir/tir/access_check.h"

#include "core/base/text.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace tenon::tir {
namespace {

bool isIndexLike(const Expr& expr) { return expr->dtype.isInt() && expr->dtype.lanes == 1; }

/// `expr` in the type of indices, so that differences can be formed.
Expr asIndex(const Expr& expr) { return expr->dtype == kInt64 ? expr : cast(kInt64, expr); }

class AccessChecker
{
public:
    Status run(const PrimFunc& function)
    {
        const size_t inputs = function.params.size() - function.outputCount;
        for (size_t i = 0; i < inputs; ++i) m_inputs.insert(function.params[i].get());
        visit(function.body);
        return m_error ? Status(*m_error) : kDone;
    }

private:
    /// Restores what is known when it goes out of scope.
    class Scope
    {
    public:
        explicit Scope(AccessChecker& checker)
            : m_checker(checker)
            , m_facts(checker.m_facts.size())
        {
        }
        ~Scope() { m_checker.m_facts.resize(m_facts); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        AccessChecker& m_checker;
        size_t m_facts;
    };

    void fail(DiagnosticCode code, std::string message)
    {
        if (!m_error) m_error = makeError(code, std::move(message));
    }

    /// From here on `condition` is known to be `holds`.
    void learn(const Expr& condition, bool holds)
    {
        const std::vector<Expr>& args = condition->args;
        const auto both = [&] {
            learn(args[0], holds);
            learn(args[1], holds);
        };
        const auto notNegative = [&](const Expr& a, const Expr& b, int less) {
            if (isIndexLike(a) && isIndexLike(b))
                m_facts.push_back(asIndex(a) - asIndex(b) - Expr(less));
        };
        switch (condition->kind) {
        case ExprKind::And:
            if (holds) both();
            return;
        case ExprKind::Or:
            if (!holds) both();
            return;
        case ExprKind::Not: return learn(args[0], !holds);
        case ExprKind::Less:
            return holds ? notNegative(args[1], args[0], 1) : notNegative(args[0], args[1], 0);
        case ExprKind::LessEqual:
            return holds ? notNegative(args[1], args[0], 0) : notNegative(args[0], args[1], 1);
        case ExprKind::Greater:
            return holds ? notNegative(args[0], args[1], 1) : notNegative(args[1], args[0], 0);
        case ExprKind::GreaterEqual:
            return holds ? notNegative(args[0], args[1], 0) : notNegative(args[1], args[0], 1);
        case ExprKind::Equal:
        case ExprKind::NotEqual:
            if (holds != (condition->kind == ExprKind::Equal)) return;
            notNegative(args[0], args[1], 0);
            notNegative(args[1], args[0], 0);
            return;
        default: return;
        }
    }

    bool isNotNegative(const Expr& expr) const
    {
        const auto decided = [&](const Expr& e) {
            const auto range = boundsOf(simplify(e, m_ranges), m_ranges);
            return range && range->min >= 0;
        };
        return decided(expr) || std::any_of(m_facts.begin(), m_facts.end(),
                                            [&](const Expr& fact) { return decided(expr - fact); });
    }

    bool isAtLeast(const Expr& expr, int64_t least) const
    {
        const std::vector<Expr>& args = expr->args;
        const auto first = [&] { return isAtLeast(args[0], least); };
        const auto second = [&] { return isAtLeast(args[1], least); };
        if (expr->kind == ExprKind::Max && (first() || second())) return true;
        if (expr->kind == ExprKind::Min && first() && second()) return true;
        if (isWidened(expr)) return first();
        int64_t dividend = 0;
        // A quotient is so large where its dividend is a multiple as large.
        if (const int64_t divisor = divisorOf(expr);
            divisor > 0 && !__builtin_mul_overflow(least, divisor, &dividend) &&
            isAtLeast(args[0], dividend))
            return true;
        return isNotNegative(asIndex(expr) - Expr(least));
    }

    bool isAtMost(const Expr& expr, int64_t most) const
    {
        const std::vector<Expr>& args = expr->args;
        const auto first = [&] { return isAtMost(args[0], most); };
        const auto second = [&] { return isAtMost(args[1], most); };
        if (expr->kind == ExprKind::Min && (first() || second())) return true;
        if (expr->kind == ExprKind::Max && first() && second()) return true;
        if (isWidened(expr)) return first();
        int64_t dividend = 0;
        if (const int64_t divisor = divisorOf(expr);
            divisor > 0 && !__builtin_mul_overflow(most, divisor, &dividend) &&
            !__builtin_add_overflow(dividend, divisor - 1, &dividend) &&
            isAtMost(args[0], dividend))
            return true;
        return isNotNegative(Expr(most) - asIndex(expr));
    }

    /// An integer in a type that holds all of its own.
    static bool isWidened(const Expr& expr)
    {
        if (expr->kind != ExprKind::Cast || expr->dtype.lanes != 1 || !expr->dtype.isSigned())
            return false;
        const DataType from = expr->args[0]->dtype;
        return from.isInt() && from.lanes == 1 &&
               (from.isSigned() ? from.bits <= expr->dtype.bits : from.bits < expr->dtype.bits);
    }

    /// Of a quotient that rounds down, by a number; else 0.
    static int64_t divisorOf(const Expr& expr)
    {
        const bool isQuotient =
            expr->kind == ExprKind::FloorDiv && expr->args[1]->kind == ExprKind::IntImm;
        return isQuotient ? expr->args[1]->integer : 0;
    }

    bool isWithin(const Expr& expr, int64_t least, int64_t most) const
    {
        return isAtLeast(expr, least) && isAtMost(expr, most);
    }

    std::optional<IntRange> rangeOf(const Expr& expr) const
    {
        return boundsOf(simplify(expr, m_ranges), m_ranges);
    }

    std::string knownText(const Expr& expr) const
    {
        const auto range = rangeOf(expr);
        if (!range) return "nothing bounds it";
        return "it goes from " + std::to_string(range->min) + " to " + std::to_string(range->max);
    }

    void checkIndex(const BufferNode& buffer, const Expr& index, size_t axis)
    {
        const Expr& extent = buffer.shape[axis];
        if (extent->kind != ExprKind::IntImm)
            return fail(DiagnosticCode::DynamicShape,
                        "the shape of " + quoted(buffer.name) + " is not constant");
        if (index->kind == ExprKind::Broadcast) return checkIndex(buffer, index->args[0], axis);
        if (index->kind == ExprKind::Ramp) {
            const Expr& base = index->args[0];
            checkIndex(buffer, base, axis);
            return checkIndex(buffer, base + index->args[1] * Expr(index->dtype.lanes - 1), axis);
        }
        if (isIndexLike(index) && isWithin(index, 0, extent->integer - 1)) return;
        fail(DiagnosticCode::BadText, "index " + quoted(print(index)) + " of " +
                                          quoted(buffer.name) + " is not proven to be inside its " +
                                          std::to_string(extent->integer) + ": " +
                                          knownText(index));
    }

    void access(const BufferNode& buffer, const std::vector<Expr>& indices)
    {
        for (size_t axis = 0; axis < indices.size(); ++axis) {
            visit(indices[axis]);
            checkIndex(buffer, indices[axis], axis);
        }
    }

    void visit(const Expr& expr)
    {
        if (!expr.get() || m_error) return;
        if (expr->kind == ExprKind::Load) return access(*expr->buffer, expr->args);
        const bool isLazy =
            expr->kind == ExprKind::Intrinsic && expr->intrinsic == Intrinsic::IfThenElse;
        for (size_t i = 0; i < expr->args.size(); ++i) {
            const Scope scope(*this);
            if (isLazy && i > 0) learn(expr->args[0], i == 1);
            visit(expr->args[i]);
        }
    }

    void visitLoop(const StmtNode& stmt)
    {
        visit(stmt.loop.min);
        visit(stmt.loop.extent);
        const auto min = rangeOf(stmt.loop.min), extent = rangeOf(stmt.loop.extent);
        IntRange range{};
        if (!min || !extent || __builtin_add_overflow(min->max, extent->max, &range.max))
            return fail(DiagnosticCode::DynamicShape,
                        "the extent of loop " + quoted(stmt.loop.var->name) + " has no bound");
        range = {min->min, range.max - 1};
        if (range.max < range.min) return; // it never runs
        m_ranges[stmt.loop.var.get()] = range;
        visit(stmt.body);
        m_ranges.erase(stmt.loop.var.get());
    }

    void visitAxis(const IterVar& iter)
    {
        visit(iter.binding);
        if (iter.extent->kind != ExprKind::IntImm)
            return fail(DiagnosticCode::DynamicShape,
                        "the extent of axis " + quoted(iter.var->name) + " is not constant");
        if (iter.binding.get() && !isWithin(iter.binding, 0, iter.extent->integer - 1))
            fail(DiagnosticCode::BadText, "axis " + quoted(iter.var->name) + " of extent " +
                                              std::to_string(iter.extent->integer) +
                                              " is bound to " + quoted(print(iter.binding)) + ": " +
                                              knownText(iter.binding));
    }

    void visitBlock(const StmtNode& stmt)
    {
        const Block& block = stmt.block;
        const Scope scope(*this);
        // The predicate may be said of the loops or of the axes that are bound to them.
        if (block.predicate.get()) {
            VarMap bindings;
            for (const IterVar& iter : block.iters)
                if (iter.binding.get()) bindings.emplace(iter.var.get(), iter.binding);
            learn(substitute(block.predicate, bindings), true);
        }
        for (const IterVar& iter : block.iters) visitAxis(iter);
        if (m_error) return;
        for (const IterVar& iter : block.iters)
            m_ranges[iter.var.get()] = {0, iter.extent->integer - 1};
        if (block.predicate.get()) learn(block.predicate, true);
        visit(stmt.init);
        visit(stmt.body);
        for (const IterVar& iter : block.iters) m_ranges.erase(iter.var.get());
    }

    void visitIf(const StmtNode& stmt)
    {
        visit(stmt.condition);
        {
            const Scope scope(*this);
            learn(stmt.condition, true);
            visit(stmt.body);
        }
        const Scope scope(*this);
        learn(stmt.condition, false);
        visit(stmt.orElse);
    }

    void visitLet(const StmtNode& stmt)
    {
        visit(stmt.value);
        const bool isKnown = isIndexLike(stmt.value);
        const auto range = isKnown ? rangeOf(stmt.value) : std::nullopt;
        if (range) m_ranges[stmt.var.get()] = *range;
        visit(stmt.body);
        m_ranges.erase(stmt.var.get());
    }

    void visit(const Stmt& stmt)
    {
        if (!stmt || m_error) return;
        switch (stmt->kind) {
        case StmtKind::Seq:
            for (const Stmt& child : stmt->stmts) visit(child);
            return;
        case StmtKind::For: return visitLoop(*stmt);
        case StmtKind::Block: return visitBlock(*stmt);
        case StmtKind::Store:
            if (m_inputs.contains(stmt->buffer.get()))
                return fail(DiagnosticCode::BadText,
                            "input " + quoted(stmt->buffer->name) +
                                " is written; the last parameters are the outputs");
            visit(stmt->value);
            return access(*stmt->buffer, stmt->indices);
        case StmtKind::If: return visitIf(*stmt);
        case StmtKind::While: visit(stmt->condition); return visit(stmt->body);
        case StmtKind::Let: return visitLet(*stmt);
        case StmtKind::Allocate: return visit(stmt->body);
        case StmtKind::Evaluate: return; // asks for memory ahead of time and reads nothing
        }
    }

    std::unordered_set<const BufferNode*> m_inputs;
    Ranges m_ranges;
    std::vector<Expr> m_facts; ///< none is negative
    std::optional<Diagnostic> m_error;
};

} // namespace

Status checkAccesses(const PrimFunc& function) { return AccessChecker().run(function); }

} // namespace tenon::tir
