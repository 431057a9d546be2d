// SPDX-License-Identifier: Apache-2.0
// Statements and functions of the loop IR's text.
#include "core/base/text.h"
#include "core/ir/tir/parse_expr.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/text_common.h"

namespace tenon::tir {
namespace {

class Parser : public ExprParser
{
public:
    using ExprParser::ExprParser;

    PrimFunc function()
    {
        PrimFunc out;
        while (acceptKind(TokenKind::Newline)) {}
        if (accept("@")) {
            expect("T");
            expect(".");
            expect("prim_func");
            endLine();
        }
        expect("def");
        out.name = name();
        expect("(");
        while (!failed() && !at(")")) {
            parameter(out);
            if (!accept(",")) break;
        }
        expect(")");
        open();
        if (at("T") && peek(2).text == "func_attr") {
            callee("func_attr");
            out.attrs = dict();
            expect(")");
            endLine();
        }
        takeOutputCount(out);
        out.body = statements();
        close();
        if (!failed() && peek().kind != TokenKind::End) fail("expected the end of the text");
        return out;
    }

private:
    /// How many parameters are written; only the text says it by an attribute.
    void takeOutputCount(PrimFunc& out)
    {
        const AttrValue* value = out.attrs.find(kOutputsKey);
        if (!value) return;
        const auto* count = std::get_if<int64_t>(value);
        const auto limit = static_cast<int64_t>(out.params.size());
        if (!count || *count < 0 || *count > limit) {
            fail("`tir.outputs` must be a number of parameters, before this");
            return;
        }
        out.outputCount = static_cast<size_t>(*count);
        out.attrs.erase(kOutputsKey);
    }
    void endLine()
    {
        if (!acceptKind(TokenKind::Newline)) fail("expected the end of the line");
    }
    void open()
    {
        expect(":");
        endLine();
        if (!acceptKind(TokenKind::Indent)) fail("expected an indented block");
    }
    void close()
    {
        if (!acceptKind(TokenKind::Dedent)) fail("expected the end of the block");
    }
    /// `T.name(`
    void callee(std::string_view wanted)
    {
        expect("T");
        expect(".");
        expect(wanted);
        expect("(");
    }

    Stmt indented()
    {
        open();
        const auto outer = m_scope;
        Stmt body = statements();
        m_scope = outer;
        close();
        return body;
    }

    Stmt statements()
    {
        std::vector<Stmt> out;
        while (!failed() && peek().kind != TokenKind::Dedent && peek().kind != TokenKind::End)
            out.push_back(statement());
        return seq(std::move(out));
    }

    void parameter(PrimFunc& function)
    {
        const std::string text = name();
        expect(":");
        expect("T");
        expect(".");
        if (accept("int64")) {
            function.sizes.push_back(makeVar(text));
            m_scope[text] = function.sizes.back();
            return;
        }
        expect("Buffer");
        expect("(");
        function.params.push_back(bufferRest(text));
        m_scope[text] = function.params.back();
    }

    /// `(shape), "dtype", scope=..., align=..., strides=...)`
    Buffer bufferRest(const std::string& text)
    {
        BufferNode buffer;
        buffer.name = text;
        buffer.shape = tuple();
        expect(",");
        buffer.dtype = dtypeLiteral();
        while (accept(",")) {
            if (accept("scope")) {
                expect("=");
                buffer.scope = scope();
            } else if (accept("align")) {
                expect("=");
                buffer.alignment = static_cast<int>(integerLiteral());
            } else {
                expect("strides");
                expect("=");
                buffer.strides = tuple();
            }
        }
        expect(")");
        return std::make_shared<const BufferNode>(std::move(buffer));
    }

    Scope scope()
    {
        const std::string text = stringLiteral();
        for (const Scope scope : {Scope::Global, Scope::Local, Scope::Register, Scope::Shared})
            if (text == scopeText(scope)) return scope;
        fail("unknown scope before this");
        return Scope::Global;
    }

    Stmt statement()
    {
        if (accept("pass")) {
            endLine();
            return nullptr;
        }
        if (at("for")) return loop();
        if (at("with")) return with();
        if (accept("while")) {
            Expr condition = expr();
            return whileLoop(condition, indented());
        }
        if (accept("if")) {
            Expr condition = expr();
            Stmt then = indented();
            return ifThen(condition, then, accept("else") ? indented() : nullptr);
        }
        if (at("T")) {
            callee("evaluate");
            Expr value = expr();
            expect(")");
            endLine();
            return evaluate(value);
        }
        return storeStmt();
    }

    Stmt storeStmt()
    {
        const auto found = m_scope.find(peek().text);
        if (found == m_scope.end() || !std::holds_alternative<Buffer>(found->second)) {
            fail("expected a statement");
            return nullptr;
        }
        const Buffer buffer = std::get<Buffer>(found->second);
        take();
        expect("[");
        std::vector<Expr> indices = list("]");
        expect("=");
        Expr value = expr();
        endLine();
        return store(buffer, std::move(indices), std::move(value));
    }

    Stmt loop()
    {
        expect("for");
        const std::string text = name();
        expect("in");
        expect("T");
        expect(".");
        Loop loop;
        loop.kind = loopKind();
        expect("(");
        loop.extent = expr();
        DataType dtype = kInt64;
        while (accept(",")) {
            const std::string key = name();
            expect("=");
            if (key == "start")
                loop.min = expr();
            else if (key == "thread")
                loop.threadTag = stringLiteral();
            else if (key == "dtype")
                dtype = dtypeLiteral();
            else
                fail("unknown loop argument before this");
        }
        expect(")");
        if (loop.min.isConstInt(0)) loop.min = intImm(0, dtype);
        loop.var = makeVar(text, dtype);
        const auto outer = m_scope;
        m_scope[text] = loop.var;
        Stmt body = indented();
        m_scope = outer;
        return forLoop(std::move(loop), std::move(body));
    }

    LoopKind loopKind()
    {
        const std::string text = name();
        for (const LoopKind kind : {LoopKind::Serial, LoopKind::Parallel, LoopKind::Vectorized,
                                    LoopKind::Unrolled, LoopKind::Thread})
            if (text == loopKindText(kind)) return kind;
        fail("unknown loop kind before this");
        return LoopKind::Serial;
    }

    Stmt with()
    {
        expect("with");
        expect("T");
        expect(".");
        const std::string what = name();
        expect("(");
        if (what == "block") return blockRest();
        const auto outer = m_scope;
        Stmt out;
        if (what == "allocate") {
            // The name comes after the type: the buffer is made without it first.
            const Buffer unnamed = bufferRest({});
            expect("as");
            BufferNode buffer = *unnamed;
            buffer.name = name();
            const auto named = std::make_shared<const BufferNode>(std::move(buffer));
            m_scope[named->name] = named;
            out = allocate(named, indented());
        } else if (what == "LetStmt") {
            Expr value = expr();
            expect(")");
            expect("as");
            const Var var = makeVar(name(), value->dtype);
            m_scope[var->name] = var;
            out = let(var, value, indented());
        } else {
            fail("unknown statement " + quoted("T." + what));
        }
        m_scope = outer;
        return out;
    }

    Stmt blockRest()
    {
        Block block;
        block.name = stringLiteral();
        expect(")");
        open();
        const auto outer = m_scope;
        Stmt init;
        while (!failed() && blockItem(block, init)) {}
        Stmt body = statements();
        m_scope = outer;
        close();
        return tir::block(std::move(block), init, body);
    }

    /// One line that belongs to the block itself; false at the first line of its body.
    bool blockItem(Block& block, Stmt& init)
    {
        if (at("with") && peek(3).text == "init") {
            expect("with");
            callee("init");
            expect(")");
            init = indented();
            return true;
        }
        if (at("T") && (peek(2).text == "where" || peek(2).text == "block_attr")) {
            expect("T");
            expect(".");
            const bool where = take().text == "where";
            expect("(");
            if (where)
                block.predicate = expr();
            else
                block.annotations = dict();
            expect(")");
            endLine();
            return true;
        }
        if (peek().kind != TokenKind::Name || peek(1).text != "=" || peek(2).text != "T")
            return false;
        const std::string text = name();
        expect("=");
        expect("T");
        expect(".");
        if (accept("alloc_buffer")) {
            expect("(");
            block.allocs.push_back(bufferRest(text));
            m_scope[text] = block.allocs.back();
        } else {
            block.iters.push_back(axis(text));
            m_scope[text] = block.iters.back().var;
        }
        endLine();
        return true;
    }

    IterVar axis(const std::string& text)
    {
        IterVar iter;
        expect("axis");
        expect(".");
        iter.kind = at("reduce") ? IterKind::Reduce : IterKind::Spatial;
        if (!accept("reduce")) expect("spatial");
        expect("(");
        iter.extent = expr();
        expect(",");
        iter.binding = expr();
        expect(")");
        iter.var = makeVar(text, iter.binding->dtype);
        return iter;
    }
};

} // namespace

Result<PrimFunc> parsePrimFunc(std::string_view text)
{
    Parser parser(tokenize(text));
    PrimFunc function = parser.function();
    if (parser.failed()) return parser.error();
    return function;
}

} // namespace tenon::tir
