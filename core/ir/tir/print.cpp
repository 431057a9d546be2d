// SPDX-License-Identifier: Apache-2.0
// Printer of the loop IR in the manner of TVMScript.
#include "core/base/text.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/text_common.h"

#include <unordered_set>

namespace tenon::tir {
namespace {

/// Binding strength of what is printed with operators; atoms bind strongest.
constexpr int kAtom = 9;

struct OperatorText
{
    const char* text;
    int strength;
};

OperatorText operatorOf(ExprKind kind)
{
    switch (kind) {
    case ExprKind::Or: return {"or", 1};
    case ExprKind::And: return {"and", 2};
    case ExprKind::Not: return {"not", 3};
    case ExprKind::Equal: return {"==", 4};
    case ExprKind::NotEqual: return {"!=", 4};
    case ExprKind::Less: return {"<", 4};
    case ExprKind::LessEqual: return {"<=", 4};
    case ExprKind::Greater: return {">", 4};
    case ExprKind::GreaterEqual: return {">=", 4};
    case ExprKind::Add: return {"+", 5};
    case ExprKind::Sub: return {"-", 5};
    case ExprKind::Mul: return {"*", 6};
    case ExprKind::Div: return {"/", 6};
    case ExprKind::FloorDiv: return {"//", 6};
    case ExprKind::FloorMod: return {"%", 6};
    default: return {nullptr, kAtom};
    }
}

class Printer
{
public:
    explicit Printer(std::unordered_map<const StmtNode*, int>* lines)
        : m_lines(lines)
    {
    }

    std::string take() { return std::move(m_out); }

    void function(const PrimFunc& function)
    {
        line("@T.prim_func");
        std::vector<std::string> params;
        for (const Var& size : function.sizes) params.push_back(name(size) + ": T.int64");
        for (const Buffer& param : function.params)
            params.push_back(name(param) + ": T.Buffer(" + bufferText(*param) + ")");
        line("def " + identifier(function.name) + "(" + join(params, ", ") + "):");
        ++m_depth;
        Attrs attrs = function.attrs;
        if (function.outputCount != 1)
            attrs.set(kOutputsKey, static_cast<int64_t>(function.outputCount));
        if (!attrs.entries().empty()) line("T.func_attr(" + dictText(attrs) + ")");
        statement(function.body);
        --m_depth;
    }

    void statement(const Stmt& stmt)
    {
        if (!stmt) return line("pass");
        if (m_lines && stmt->kind != StmtKind::Seq) m_lines->emplace(stmt.get(), m_line);
        switch (stmt->kind) {
        case StmtKind::Seq:
            if (stmt->stmts.empty()) line("pass");
            for (const Stmt& child : stmt->stmts) statement(child);
            return;
        case StmtKind::For: return loop(*stmt);
        case StmtKind::Block: return block(*stmt);
        case StmtKind::Store:
            return line(name(stmt->buffer) + "[" + list(stmt->indices) +
                        "] = " + text(stmt->value));
        case StmtKind::If:
            nested("if " + text(stmt->condition) + ":", stmt->body);
            if (stmt->orElse) nested("else:", stmt->orElse);
            return;
        case StmtKind::While: return nested("while " + text(stmt->condition) + ":", stmt->body);
        case StmtKind::Let: {
            const std::string value = text(stmt->value);
            return nested("with T.LetStmt(" + value + ") as " + name(stmt->var) + ":", stmt->body);
        }
        case StmtKind::Allocate: {
            const std::string type = bufferText(*stmt->buffer);
            return nested("with T.allocate(" + type + ") as " + name(stmt->buffer) + ":",
                          stmt->body);
        }
        case StmtKind::Evaluate: return line("T.evaluate(" + text(stmt->value) + ")");
        }
    }

    std::string text(const Expr& expr, int strength = 0)
    {
        const auto [symbol, own] = operatorOf(expr->kind);
        if (!symbol) return atom(*expr);
        std::string out;
        if (expr->kind == ExprKind::Not) {
            out = "not " + text(expr->args[0], own);
        } else {
            // Equal strength on the right keeps its parentheses, so the tree survives a round trip;
            // comparisons do not chain.
            const int left = own == 4 ? own + 1 : own;
            out = text(expr->args[0], left) + " " + symbol + " " + text(expr->args[1], own + 1);
        }
        return own < strength ? "(" + out + ")" : out;
    }

private:
    std::unordered_map<const StmtNode*, int>* m_lines;
    std::string m_out;
    int m_line = 1;
    int m_depth = 0;
    std::unordered_map<const void*, std::string> m_names;
    std::unordered_set<std::string> m_used;

    void line(const std::string& content)
    {
        m_out.append(static_cast<size_t>(m_depth) * 4, ' ');
        m_out += content;
        m_out += '\n';
        ++m_line;
    }

    void nested(const std::string& head, const Stmt& body)
    {
        line(head);
        ++m_depth;
        statement(body);
        --m_depth;
    }

    std::string unique(const void* object, const std::string& wanted)
    {
        const auto known = m_names.find(object);
        if (known != m_names.end()) return known->second;
        const std::string base = identifier(wanted);
        std::string candidate = base;
        for (int suffix = 1; !m_used.insert(candidate).second; ++suffix)
            candidate = base + "_" + std::to_string(suffix);
        return m_names.emplace(object, candidate).first->second;
    }
    std::string name(const Var& var) { return unique(var.get(), var->name); }
    std::string name(const Buffer& buffer) { return unique(buffer.get(), buffer->name); }

    std::string list(const std::vector<Expr>& exprs)
    {
        std::vector<std::string> parts;
        for (const Expr& expr : exprs) parts.push_back(text(expr));
        return join(parts, ", ");
    }
    std::string tuple(const std::vector<Expr>& exprs)
    {
        return "(" + list(exprs) + (exprs.size() == 1 ? ",)" : ")");
    }

    std::string dictText(const Attrs& attrs)
    {
        std::vector<std::string> parts;
        for (const auto& [key, value] : attrs.entries())
            parts.push_back("\"" + key + "\": " + attrText(value));
        return "{" + join(parts, ", ") + "}";
    }

    std::string bufferText(const BufferNode& buffer)
    {
        std::string out = tuple(buffer.shape) + ", \"" + buffer.dtype.text() + "\"";
        if (buffer.scope != Scope::Global)
            out += std::string(", scope=\"") + scopeText(buffer.scope) + "\"";
        if (buffer.alignment != 64) out += ", align=" + std::to_string(buffer.alignment);
        if (!buffer.strides.empty()) out += ", strides=" + tuple(buffer.strides);
        return out;
    }

    void loop(const StmtNode& stmt)
    {
        const Loop& loop = stmt.loop;
        std::string args = text(loop.extent);
        if (!loop.min.isConstInt(0)) args += ", start=" + text(loop.min);
        if (loop.kind == LoopKind::Thread) args += ", thread=\"" + loop.threadTag + "\"";
        if (loop.var->dtype != kInt64) args += ", dtype=\"" + loop.var->dtype.text() + "\"";
        nested("for " + name(loop.var) + " in T." + loopKindText(loop.kind) + "(" + args + "):",
               stmt.body);
    }

    void block(const StmtNode& stmt)
    {
        const Block& block = stmt.block;
        line("with T.block(\"" + block.name + "\"):");
        ++m_depth;
        for (const IterVar& iter : block.iters) {
            const std::string binding = text(iter.binding);
            const char* kind = iter.kind == IterKind::Spatial ? "spatial" : "reduce";
            line(name(iter.var) + " = T.axis." + kind + "(" + text(iter.extent) + ", " + binding +
                 ")");
        }
        if (block.predicate) line("T.where(" + text(block.predicate) + ")");
        if (!block.annotations.entries().empty())
            line("T.block_attr(" + dictText(block.annotations) + ")");
        for (const Buffer& buffer : block.allocs)
            line(name(buffer) + " = T.alloc_buffer(" + bufferText(*buffer) + ")");
        if (stmt.init) nested("with T.init():", stmt.init);
        statement(stmt.body);
        --m_depth;
    }

    std::string call(const std::string& callee, const std::vector<Expr>& args)
    {
        return "T." + callee + "(" + list(args) + ")";
    }

    std::string atom(const ExprNode& expr)
    {
        switch (expr.kind) {
        case ExprKind::IntImm:
            if (expr.dtype == kInt64) return std::to_string(expr.integer);
            if (expr.dtype.isBool()) return expr.integer ? "T.bool(True)" : "T.bool(False)";
            return "T." + expr.dtype.text() + "(" + std::to_string(expr.integer) + ")";
        case ExprKind::FloatImm: {
            const std::string digits = exact(expr.number);
            const bool finite = digits.find_first_of("ia") == std::string::npos;
            return "T." + expr.dtype.text() + "(" + (finite ? digits : "\"" + digits + "\"") + ")";
        }
        case ExprKind::VarRef: return name(expr.var);
        case ExprKind::Mod: return call("truncmod", expr.args);
        case ExprKind::Min: return call("min", expr.args);
        case ExprKind::Max: return call("max", expr.args);
        case ExprKind::Select: return call("Select", expr.args);
        case ExprKind::Cast:
            return "T.Cast(\"" + expr.dtype.text() + "\", " + text(expr.args[0]) + ")";
        case ExprKind::Load: return name(expr.buffer) + "[" + list(expr.args) + "]";
        case ExprKind::Ramp:
            return "T.Ramp(" + list(expr.args) + ", " + std::to_string(expr.dtype.lanes) + ")";
        case ExprKind::Broadcast:
            return "T.Broadcast(" + list(expr.args) + ", " + std::to_string(expr.dtype.lanes) + ")";
        case ExprKind::Intrinsic: {
            const char* callee = intrinsicText(expr.intrinsic);
            if (expr.dtype == intrinsicResult(expr.intrinsic, expr.args))
                return call(callee, expr.args);
            return std::string("T.") + callee + "(\"" + expr.dtype.text() + "\"" +
                   (expr.args.empty() ? "" : ", ") + list(expr.args) + ")";
        }
        default: CHECK(false) << "operator printed as atom";
        }
        return {};
    }
};

} // namespace

std::string identifier(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        const bool fits =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out += fits ? c : '_';
    }
    if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out.insert(0, "v");
    for (const std::string_view word : kReservedWords)
        if (out == word) out += '_';
    return out;
}

DataType intrinsicResult(Intrinsic intrinsic, const std::vector<Expr>& args)
{
    if (args.empty()) return kInt32;
    switch (intrinsic) {
    case Intrinsic::IfThenElse: return args[1]->dtype;
    case Intrinsic::IsInf:
    case Intrinsic::IsNan: return kBool.withLanes(args[0]->dtype.lanes);
    default: return args[0]->dtype;
    }
}

std::string print(const PrimFunc& function, std::unordered_map<const StmtNode*, int>* lines)
{
    Printer printer(lines);
    printer.function(function);
    return printer.take();
}

std::string print(const Expr& expr) { return expr ? Printer(nullptr).text(expr) : "None"; }

std::string print(const Stmt& stmt)
{
    Printer printer(nullptr);
    printer.statement(stmt);
    return printer.take();
}

} // namespace tenon::tir
