// SPDX-License-Identifier: Apache-2.0
// Statements of the loop IR as C: plain loops, small arrays on the stack, larger ones in the memory
// that the caller lends.
#include "compiler/codegen/c/c_kernel.h"

#include "compiler/codegen/c/c_expr.h"
#include "compiler/codegen/c/c_text.h"
#include "compiler/codegen/c/c_vectors.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {

using core::DiagnosticCode;
using tir::Expr;
using tir::Stmt;
using tir::StmtKind;
using tir::StmtNode;

namespace {

/// Larger arrays than this do not go on a microcontroller's stack.
constexpr int64_t kStackBytes = 256;
/// Widened words would add to the memory between kernels where that is fullest.
constexpr int64_t kWidenedStackBytes = 512;
constexpr int64_t kScratchAlignment = 16;
/// Of a vector that intrinsics compute with.
constexpr int kVectorBytes = 16;
/// Of unrolled loops that are written out.
constexpr int64_t kMostLines = 64;

bool loads(const Stmt& body, const tir::Buffer& buffer)
{
    bool found = false;
    tir::visitExprsIn(body, [&](const Expr& e) {
        found = found || (e->kind == tir::ExprKind::Load && e->buffer == buffer);
        return !found;
    });
    return found;
}

bool stores(const Stmt& body, const tir::Buffer& buffer)
{
    bool found = false;
    tir::visitStmts(body, [&](const Stmt& s) {
        found = found || (s->kind == StmtKind::Store && s->buffer == buffer);
        return !found;
    });
    return found;
}

bool mentions(const Stmt& body, const tir::Var& var)
{
    bool found = false;
    tir::visitExprsIn(body, [&](const Expr& e) {
        found = found || (e->kind == tir::ExprKind::VarRef && e->var == var);
        return !found;
    });
    return found;
}

class KernelWriter
{
public:
    explicit KernelWriter(bool hasVectors)
        : m_vectors(m_names, hasVectors)
    {
    }

    core::Result<SourceKernel> write(const tir::PrimFunc& function, const std::string& symbol)
    {
        if (!function.sizes.empty())
            return core::makeError(DiagnosticCode::DynamicShape,
                                   "the C generator needs every shape; bind it with --shape");
        std::vector<std::string> parameters;
        for (size_t i = 0; i < function.params.size(); ++i) {
            const tir::Buffer& buffer = function.params[i];
            const bool isOutput = i + function.outputCount >= function.params.size();
            const std::string name = m_names.declare(buffer);
            parameters.push_back((isOutput ? "" : "const ") + cType(buffer->dtype) + "* restrict " +
                                 name);
            if (!loads(function.body, buffer) && !stores(function.body, buffer))
                line("(void)" + name + ";");
        }
        statement(function.body);
        if (m_names.problem()) return *m_names.problem();
        if (m_peak > 0) parameters.emplace_back("uint8_t* restrict scratch");
        return SourceKernel{"static void " + symbol + "(\n    " +
                                core::join(parameters, ",\n    ") + ")\n{\n" + m_text + "}\n",
                            m_peak};
    }

private:
    void line(const std::string& text) { m_text += std::string(m_depth * 4, ' ') + text + "\n"; }
    void block(const std::string& head, const Stmt& body)
    {
        line(head + " {");
        ++m_depth;
        statement(body);
        --m_depth;
        line("}");
    }

    void statement(const Stmt& stmt)
    {
        const StmtNode& node = *stmt;
        switch (node.kind) {
        case StmtKind::Seq:
            for (const Stmt& each : node.stmts) statement(each);
            break;
        case StmtKind::For:
            if (const std::string sums = sumsOf(stmt); !sums.empty())
                line(sums);
            else if (const auto copy = m_names.copyOfBytes(stmt); !copy.empty())
                for (const std::string& each : copy) line(each);
            else
                loop(node);
            break;
        case StmtKind::Store: store(node); break;
        case StmtKind::If: branch(node); break;
        case StmtKind::While:
            block("while (" + m_names.text(node.condition) + ")", node.body);
            break;
        case StmtKind::Let: let(node); break;
        case StmtKind::Allocate: allocate(node); break;
        case StmtKind::Evaluate:
            // A read nobody uses asks for memory ahead of time, for which C has no word.
            if (node.value->kind == tir::ExprKind::Load) break;
            line("(void)(" + m_names.text(node.value) + ");");
            break;
        case StmtKind::Block: CHECK(false) << "a block in lowered code"; break;
        }
    }

    /// Lines that a statement takes with its unrolled loops written out; many where it is no short
    /// run of stores.
    int64_t linesOf(const Stmt& stmt) const
    {
        const StmtNode& node = *stmt;
        int64_t lines = 0;
        switch (node.kind) {
        case StmtKind::Seq:
            for (const Stmt& each : node.stmts) lines += linesOf(each);
            return lines;
        case StmtKind::Store: {
            const int lanes = node.indices[0]->dtype.lanes;
            if (m_vectors.isOn() && lanes % 4 == 0) return lanes / 4;
            return lanes == 1 ? 1 : kMostLines + 1;
        }
        case StmtKind::Let: return linesOf(node.body) + 1;
        case StmtKind::For:
            if (isShortRun(node) && m_names.isDotOfRuns(node.loop.var, node.body))
                return (node.loop.extent->integer + 3) / 4;
            if (!isUnrolled(node)) return kMostLines + 1;
            return std::min(kMostLines + 1, std::min(kMostLines + 1, node.loop.extent->integer) *
                                                linesOf(node.body));
        default: return kMostLines + 1;
        }
    }

    /// Loops that one call computes; none where vectors multiply longer runs.
    std::string sumsOf(const Stmt& stmt)
    {
        if (m_vectors.isOn()) return "";
        const std::string sums = m_names.sumsOfWords(stmt);
        return sums.empty() ? m_names.sumsOfBytes(stmt) : sums;
    }

    /// Sums that become bytes in one call.
    std::string bytesOf(const StmtNode& node)
    {
        return m_vectors.isOn() ? "" : m_names.bytesOfTile(node);
    }

    static bool isUnrolled(const StmtNode& node)
    {
        return node.loop.kind == tir::LoopKind::Unrolled &&
               node.loop.extent->kind == tir::ExprKind::IntImm;
    }

    /// Of words that vectors may multiply at once.
    bool isShortRun(const StmtNode& node) const
    {
        constexpr int64_t kMostWords = 16;
        return m_vectors.isOn() && node.loop.extent->kind == tir::ExprKind::IntImm &&
               node.loop.min.isConstInt(0) && node.loop.extent->integer <= kMostWords &&
               node.body->kind == StmtKind::Store;
    }

    /// Compilers keep a small array in registers only where each index is a number.
    void unroll(const StmtNode& node)
    {
        for (int64_t i = 0; i < node.loop.extent->integer; ++i) {
            const Expr at = tir::simplify(node.loop.min + Expr(i));
            statement(tir::substitute(node.body, {{node.loop.var.get(), at}}));
        }
    }

    void loop(const StmtNode& node)
    {
        if (isUnrolled(node) && node.loop.extent->integer * linesOf(node.body) <= kMostLines)
            return unroll(node);
        if (isShortRun(node)) {
            const auto lines =
                m_names.dotOfRuns(node.loop.var, node.loop.extent->integer, node.body);
            for (const std::string& each : lines) line(each);
            if (!lines.empty()) return;
        }
        const Expr end = node.loop.min + node.loop.extent;
        const auto low = m_names.boundsOf(node.loop.min);
        const auto high = m_names.boundsOf(end);
        std::optional<tir::IntRange> range;
        if (low && high) range = tir::IntRange{low->min, std::max(low->min, high->max - 1)};
        const std::string first = m_names.text(node.loop.min);
        const std::string last = m_names.text(end);
        const std::string type = m_names.indexType(end);
        const std::string name = m_names.declare(node.loop.var, range);
        block("for (" + type + " " + name + " = " + first + "; " + name + " < " + last + "; ++" +
                  name + ")",
              node.body);
    }

    void branch(const StmtNode& node)
    {
        line("if (" + m_names.text(node.condition) + ") {");
        ++m_depth;
        statement(node.body);
        --m_depth;
        if (node.orElse) {
            line("} else {");
            ++m_depth;
            statement(node.orElse);
            --m_depth;
        }
        line("}");
    }

    void let(const StmtNode& node)
    {
        if (node.value->dtype.lanes > 1) {
            statement(tir::substitute(node.body, {{node.var.get(), node.value}}));
            return;
        }
        if (!mentions(node.body, node.var)) return statement(node.body);
        const bool isIndex = node.value->dtype == core::kInt64;
        const std::string type = isIndex ? m_names.indexType(node.value) : cType(node.value->dtype);
        const std::string value = m_names.text(node.value);
        const std::string name = m_names.declare(node.var, m_names.boundsOf(node.value));
        m_names.bind(node.var, node.value);
        line("const " + type + " " + name + " = " + value + ";");
        statement(node.body);
    }

    void allocate(const StmtNode& node)
    {
        const tir::Buffer& buffer = node.buffer;
        int64_t count = 1;
        for (const Expr& extent : buffer->shape) {
            if (extent->kind != tir::ExprKind::IntImm)
                return m_names.fail(DiagnosticCode::DynamicShape,
                                    "the C generator needs every shape; bind it with --shape");
            count *= extent->integer;
        }
        if (const std::string bytes = bytesOf(node); !bytes.empty()) return line(bytes);
        const std::string type = cType(buffer->dtype);
        const std::string name = m_names.declare(buffer);
        const bool isWidened = m_names.holdsWidened(buffer, node.body);
        if (isWidened) count *= 2;
        const int64_t bytes = count * buffer->dtype.bytes();
        if (bytes <= kStackBytes && m_vectors.becomesVectors(node.body, buffer)) {
            line(m_vectors.declareVectors(buffer, count));
            statement(node.body);
            return;
        }
        if (bytes <= (isWidened ? kWidenedStackBytes : kStackBytes)) {
            m_vectors.declareNumbers(buffer);
            line(type + " " + name + "[" + std::to_string(count) + "];");
            statement(node.body);
            return;
        }
        line(type + "* " + name + " = (" + type + "*)(void*)(scratch + " +
             std::to_string(m_scratch) + ");");
        const int64_t before = m_scratch;
        m_scratch += (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
        m_peak = std::max(m_peak, m_scratch);
        statement(node.body);
        m_scratch = before;
    }

    void store(const StmtNode& node)
    {
        CHECK(node.indices.size() == 1) << "store to " << node.buffer->name << " is not flat";
        const int lanes = node.indices[0]->dtype.lanes;
        if (const auto lines = m_names.widenedStore(node); !lines.empty()) {
            for (const std::string& each : lines) line(each);
            return;
        }
        if (lanes == 1) return assign(node.buffer, node.indices[0], node.value);
        if (const auto lines = m_vectors.store(node); !lines.empty()) {
            for (const std::string& each : lines) line(each);
            return;
        }
        if (m_vectors.isOn() && m_vectors.isOfNumbers(node.buffer)) {
            for (int at = 0; at < lanes; ++at)
                assign(node.buffer, laneOf(node.indices[0], Expr(at)),
                       laneOf(node.value, Expr(at)));
            return;
        }
        const tir::Var lane = tir::makeVar("lane");
        const Expr index = laneOf(node.indices[0], lane);
        const Expr value = laneOf(node.value, lane);
        // A vector is read as a whole before it is written.
        bool overlaps = false;
        tir::visitExprs(value, [&](const Expr& e) {
            overlaps = overlaps || (e->kind == tir::ExprKind::Load && e->buffer == node.buffer &&
                                    !tir::structuralEqual(e->args[0], index));
            return true;
        });
        if (!overlaps)
            return statement(
                tir::forLoop({lane, 0, Expr(lanes)}, tir::store(node.buffer, {index}, value)));
        const tir::Buffer copy =
            tir::makeBuffer("vector", {Expr(lanes)}, node.buffer->dtype, tir::Scope::Local);
        const tir::Var again = tir::makeVar("lane");
        statement(tir::allocate(
            copy, tir::seq({tir::forLoop({lane, 0, Expr(lanes)}, tir::store(copy, {lane}, value)),
                            tir::forLoop({again, 0, Expr(lanes)},
                                         tir::store(node.buffer, {laneOf(node.indices[0], again)},
                                                    tir::load(copy, {again})))})));
    }

    void assign(const tir::Buffer& buffer, const Expr& index, const Expr& value)
    {
        const std::string place = m_names.text(tir::load(buffer, {m_names.simplified(index)}));
        // A bool's load reads as a comparison; the place is what stands before it.
        const std::string target =
            buffer->dtype.isBool() ? place.substr(0, place.rfind(" != 0")) : place;
        line(target + " = " + m_names.text(value) + ";");
    }

    CExpressions m_names;
    CVectors m_vectors;
    std::string m_text;
    size_t m_depth = 1;
    int64_t m_scratch = 0;
    int64_t m_peak = 0;
};

} // namespace

core::Result<SourceKernel> emitCKernel(const tir::PrimFunc& lowered, const std::string& symbol)
{
    const bool hasVectors = lowered.attrs.integer("vector_bytes", 0) >= kVectorBytes;
    return KernelWriter(hasVectors).write(lowered, symbol);
}

} // namespace tenon::compiler
