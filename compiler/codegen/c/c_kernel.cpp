// SPDX-License-Identifier: Apache-2.0
// Statements of the loop IR as C: plain loops, small arrays on the stack, larger ones in the memory
// that the caller lends.
#include "compiler/codegen/c/c_kernel.h"

#include "compiler/codegen/c/c_expr.h"
#include "compiler/codegen/c/c_text.h"
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
constexpr int64_t kScratchAlignment = 16;

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
        case StmtKind::For: loop(node); break;
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

    void loop(const StmtNode& node)
    {
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
        const std::string type = cType(buffer->dtype);
        const std::string name = m_names.declare(buffer);
        const int64_t bytes = count * buffer->dtype.bytes();
        if (bytes <= kStackBytes) {
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
        if (lanes == 1) return assign(node.buffer, node.indices[0], node.value);
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
        const std::string place = m_names.text(tir::load(buffer, {index}));
        // A bool's load reads as a comparison; the place is what stands before it.
        const std::string target =
            buffer->dtype.isBool() ? place.substr(0, place.rfind(" != 0")) : place;
        line(target + " = " + m_names.text(value) + ";");
    }

    CExpressions m_names;
    std::string m_text;
    size_t m_depth = 1;
    int64_t m_scratch = 0;
    int64_t m_peak = 0;
};

struct Helper
{
    std::string_view name;
    std::string_view text;
};

constexpr Helper kHelpers[] = {
    {"abs_i32(", "static inline int32_t abs_i32(int32_t x) { return x < 0 ? -x : x; }\n"},
    {"abs_i64(", "static inline int64_t abs_i64(int64_t x) { return x < 0 ? -x : x; }\n"},
    {"checked_div_i32(",
     "static inline int32_t checked_div_i32(int32_t a, int32_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    return b == 0 ? 0 : b == -1 ? (int32_t)(0 - (uint32_t)a) : a / b;\n}\n"},
    {"checked_floordiv_i32(",
     "static inline int32_t checked_floordiv_i32(int32_t a, int32_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    if (b == 0 || b == -1) return b == 0 ? 0 : (int32_t)(0 - (uint32_t)a);\n"
     "    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n"},
    {"checked_floormod_i32(",
     "static inline int32_t checked_floormod_i32(int32_t a, int32_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    if (b == 0 || b == -1) return 0;\n"
     "    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);\n}\n"},
    {"checked_mod_i32(", "static inline int32_t checked_mod_i32(int32_t a, int32_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 || b == -1 ? 0 : a % b;\n}\n"},
    {"checked_div_i64(",
     "static inline int64_t checked_div_i64(int64_t a, int64_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;\n}\n"},
    {"checked_floordiv_i64(",
     "static inline int64_t checked_floordiv_i64(int64_t a, int64_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    if (b == 0 || b == -1) return b == 0 ? 0 : (int64_t)(0 - (uint64_t)a);\n"
     "    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n"},
    {"checked_floormod_i64(",
     "static inline int64_t checked_floormod_i64(int64_t a, int64_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    if (b == 0 || b == -1) return 0;\n"
     "    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);\n}\n"},
    {"checked_mod_i64(", "static inline int64_t checked_mod_i64(int64_t a, int64_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 || b == -1 ? 0 : a % b;\n}\n"},
    {"checked_div_u32(", "static inline uint32_t checked_div_u32(uint32_t a, uint32_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 ? 0 : a / b;\n}\n"},
    {"checked_mod_u32(", "static inline uint32_t checked_mod_u32(uint32_t a, uint32_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 ? 0 : a % b;\n}\n"},
    {"checked_div_u64(", "static inline uint64_t checked_div_u64(uint64_t a, uint64_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 ? 0 : a / b;\n}\n"},
    {"checked_mod_u64(", "static inline uint64_t checked_mod_u64(uint64_t a, uint64_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 ? 0 : a % b;\n}\n"},
    // Rounded once where the processor has one instruction for it.
    {"fma_f32(", "static inline float fma_f32(float a, float b, float c)\n"
                 "{\n#ifdef __FP_FAST_FMAF\n    return fmaf(a, b, c);\n#else\n"
                 "    return a * b + c;\n#endif\n}\n"},
    {"fma_f64(", "static inline double fma_f64(double a, double b, double c)\n"
                 "{\n#ifdef __FP_FAST_FMA\n    return fma(a, b, c);\n#else\n"
                 "    return a * b + c;\n#endif\n}\n"},
    {"floordiv_i32(", "static inline int32_t floordiv_i32(int32_t a, int32_t b)\n"
                      "{\n    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n"},
    {"floordiv_i64(", "static inline int64_t floordiv_i64(int64_t a, int64_t b)\n"
                      "{\n    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n"},
    {"floormod_i32(", "static inline int32_t floormod_i32(int32_t a, int32_t b)\n"
                      "{\n    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);\n}\n"},
    {"floormod_i64(", "static inline int64_t floormod_i64(int64_t a, int64_t b)\n"
                      "{\n    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);\n}\n"},
    // A NaN on either side is the result.
    {"max_f32(",
     "static inline float max_f32(float a, float b) { return a > b || a != a ? a : b; }\n"},
    {"max_f64(",
     "static inline double max_f64(double a, double b) { return a > b || a != a ? a : b; }\n"},
    {"max_i32(", "static inline int32_t max_i32(int32_t a, int32_t b) { return a > b ? a : b; }\n"},
    {"max_i64(", "static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }\n"},
    {"max_u32(",
     "static inline uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }\n"},
    {"max_u64(",
     "static inline uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }\n"},
    {"min_f32(",
     "static inline float min_f32(float a, float b) { return a < b || a != a ? a : b; }\n"},
    {"min_f64(",
     "static inline double min_f64(double a, double b) { return a < b || a != a ? a : b; }\n"},
    {"min_i32(", "static inline int32_t min_i32(int32_t a, int32_t b) { return a < b ? a : b; }\n"},
    {"min_i64(", "static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }\n"},
    {"min_u32(",
     "static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }\n"},
    {"min_u64(",
     "static inline uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }\n"},
    {"rsqrt_f32(", "static inline float rsqrt_f32(float x) { return 1.0f / sqrtf(x); }\n"},
    {"rsqrt_f64(", "static inline double rsqrt_f64(double x) { return 1.0 / sqrt(x); }\n"},
    {"sigmoid_f32(",
     "static inline float sigmoid_f32(float x) { return 1.0f / (1.0f + expf(-x)); }\n"},
    {"sigmoid_f64(",
     "static inline double sigmoid_f64(double x) { return 1.0 / (1.0 + exp(-x)); }\n"},
};

/// GCC fuses products with sums unless it is told not to, also across statements, and does not know
/// the standard's pragma. GCC 12 for AArch64 calls a copy of a function for known addresses dead
/// and drops it (ivopts of `&workspace - 8 * &workspace`).
constexpr std::string_view kCompilers =
    "/* Every operation rounds by itself: fma_ says what does not. */\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC optimize(\"fp-contract=off\", \"no-ipa-cp\")\n"
    "#else\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#endif\n\n";

} // namespace

core::Result<SourceKernel> emitCKernel(const tir::PrimFunc& lowered, const std::string& symbol)
{
    return KernelWriter().write(lowered, symbol);
}

std::string cHelpers(const std::string& kernels)
{
    std::string out;
    for (const Helper& helper : kHelpers)
        if (kernels.find(helper.name) != std::string::npos) out += helper.text;
    if (out.find("divided_by_zero") != std::string::npos)
        out.insert(0, "/* Noted by the division that met it, read after the kernel. */\n"
                      "static int divided_by_zero;\n\n");
    if (!out.empty()) out += "\n";
    return std::string(kCompilers) + out;
}

} // namespace tenon::compiler
