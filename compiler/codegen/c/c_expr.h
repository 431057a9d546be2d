// SPDX-License-Identifier: Apache-2.0
// Expressions of the loop IR as C.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/division.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/stmt.h"

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::compiler {

/// How tightly a name or a call binds: more than every operator.
inline constexpr int kCPrimary = 16;

/// Names and ranges in scope; writes expressions with no more parentheses than C's own warnings
/// want. Index arithmetic is 32 bits wide wherever its values fit.
class CExpressions
{
public:
    /// The text; the first thing that C cannot say is remembered in `problem`.
    std::string text(const tir::Expr& expr) { return write(expr).text; }

    /// Declares a variable with the values it may have; returns its C name.
    std::string declare(const tir::Var& var, std::optional<tir::IntRange> range);
    std::string declare(const tir::Buffer& buffer);
    /// Elements of the buffer are lanes, four in each of its vectors.
    void holdsVectors(const tir::Buffer& buffer) { m_vectors.insert(buffer.get()); }
    bool isOfVectors(const tir::Buffer& buffer) const { return m_vectors.contains(buffer.get()); }
    const std::string& nameOf(const tir::Buffer& buffer) const
    {
        return m_buffers.at(buffer.get());
    }
    /// The statement under a loop of `count` steps from 0 that multiplies bytes side by side with
    /// as many and adds them to one sum, sixteen or eight at a time; empty where it does something
    /// else.
    bool isDotOfRuns(const tir::Var& step, const tir::Stmt& body) const;
    std::vector<std::string> dotOfRuns(const tir::Var& step, int64_t count, const tir::Stmt& body);
    /// Whether all that `body` reads of the buffer are words of bytes for tiles of sums: then each
    /// element stands for two words, its bytes widened to 16 bits.
    bool holdsWidened(const tir::Buffer& buffer, const tir::Stmt& body);
    /// A store into such a buffer; empty for any other.
    std::vector<std::string> widenedStore(const tir::StmtNode& node);
    /// Loops that add to a tile of sums what such a buffer's words and as many weights give; "" for
    /// any others.
    std::string sumsOfWords(const tir::Stmt& root);
    /// An array of such sums that are scaled and rounded to bytes right away, in one call that
    /// needs no array; "" for any other.
    std::string bytesOfTile(const tir::StmtNode& allocate);
    /// The same for four filters and words that are read where they lie.
    std::string sumsOfBytes(const tir::Stmt& root);
    /// Loops, or a vector, that store a run of bytes as another has them, or one number where that
    /// is outside of an image; empty for any others.
    std::vector<std::string> copyOfBytes(const tir::Stmt& root);
    /// Remembers whether the variable holds data.
    void bind(const tir::Var& var, const tir::Expr& value)
    {
        if (tir::isLoaded(value, m_loaded)) m_loaded.insert(var.get());
    }
    void forget(const tir::Var& var) { m_ranges.erase(var.get()); }
    /// "int32_t" where the expression's values fit.
    std::string indexType(const tir::Expr& expr) const;

    std::optional<tir::IntRange> boundsOf(const tir::Expr& expr) const
    {
        return tir::boundsOf(expr, m_ranges);
    }
    tir::Expr simplified(const tir::Expr& expr) const { return tir::simplify(expr, m_ranges); }
    const core::Diagnostic* problem() const { return m_problem ? &*m_problem : nullptr; }
    void fail(core::DiagnosticCode code, const std::string& what);

private:
    struct Piece
    {
        std::string text;
        int precedence;
    };
    struct WordTile;
    static std::optional<WordTile> wordTile(const tir::Stmt& root);
    Piece write(const tir::Expr& expr);
    std::string inside(const tir::Expr& expr, int outer);
    Piece arithmetic(const tir::ExprNode& node, const tir::Expr& handle);
    Piece comparison(const tir::ExprNode& node, const char* sign);
    Piece division(const tir::ExprNode& node, bool wantsRemainder);
    Piece safeDivision(const tir::ExprNode& node);
    Piece extremum(const tir::ExprNode& node);
    Piece conversion(const tir::ExprNode& node);
    Piece intrinsic(const tir::ExprNode& node, const tir::Expr& handle);
    Piece function(const std::string& name, const tir::ExprNode& node);
    Piece shift(const tir::ExprNode& node, const char* sign);
    Piece dot(const tir::ExprNode& node, const tir::Expr* sum);
    std::optional<Piece> sumOfDot(const tir::ExprNode& node);
    std::optional<Piece> wordLoad(const tir::Expr& expr);
    std::string element(const tir::ExprNode& load);
    std::string address(const tir::Buffer& buffer, const tir::Expr& index);
    std::optional<Piece> rounding(const tir::ExprNode& node);
    std::optional<Piece> quantization(const tir::ExprNode& node);
    std::optional<Piece> saturation(const tir::ExprNode& node);

    std::unordered_map<const tir::VarNode*, std::string> m_vars;
    std::unordered_map<const tir::BufferNode*, std::string> m_buffers;
    std::set<const tir::BufferNode*> m_vectors;
    std::unordered_map<const tir::BufferNode*, int64_t> m_widened; ///< positions of a tile
    tir::Ranges m_ranges;
    tir::LoadedVars m_loaded;
    std::set<std::string> m_taken;
    std::optional<core::Diagnostic> m_problem;
};

/// Bytes 0 to 3 of a quad that lie side by side: the first; else null.
const tir::ExprNode* firstByte(const tir::Expr& quad);

/// Lane `lane` of a vector expression, as a scalar expression.
tir::Expr laneOf(const tir::Expr& vector, const tir::Expr& lane);

} // namespace tenon::compiler
