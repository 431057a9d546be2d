// SPDX-License-Identifier: Apache-2.0
// Parsing layout strings and computing shapes and indices between layouts.
#include "compiler/ops/layout.h"

#include "core/base/text.h"

#include <cctype>

namespace tenon::compiler {
namespace {

bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool isLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

Diagnostic badLayout(std::string_view text, const std::string& why)
{
    return makeError(DiagnosticCode::BadAttribute,
                     "layout " + quoted(text) + " " + why + "; examples are NCHW and NCHW16c");
}

} // namespace

Result<Layout> Layout::parse(std::string_view text)
{
    Layout out;
    int64_t number = 0;
    for (const char c : text) {
        if (isDigit(c) && number < 1000000) {
            number = number * 10 + (c - '0');
            continue;
        }
        const bool isBlock = isLower(c);
        if (!isBlock && !isUpper(c)) return badLayout(text, "has the character " + quoted({&c, 1}));
        if (isBlock != (number > 0))
            return badLayout(text, isBlock ? "has a block without a length"
                                           : "has a length before a capital letter");
        const char letter = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        if ((isBlock ? out.inner(letter) : out.outer(letter)) >= 0)
            return badLayout(text, "names " + quoted({&c, 1}) + " twice");
        out.m_axes.push_back({letter, number});
        number = 0;
    }
    if (number != 0 || out.m_axes.empty()) return badLayout(text, "is incomplete");
    for (const LayoutAxis& axis : out.m_axes)
        if (out.outer(axis.letter) < 0)
            return badLayout(text, "has a block of " + quoted({&axis.letter, 1}) +
                                       " but no such dimension");
    return out;
}

std::string Layout::text() const
{
    std::string out;
    for (const LayoutAxis& axis : m_axes)
        out += axis.block == 0
                   ? std::string(1, axis.letter)
                   : std::to_string(axis.block) +
                         static_cast<char>(std::tolower(static_cast<unsigned char>(axis.letter)));
    return out;
}

int Layout::outer(char letter) const
{
    for (size_t i = 0; i < m_axes.size(); ++i)
        if (m_axes[i].letter == letter && m_axes[i].block == 0) return static_cast<int>(i);
    return -1;
}

int Layout::inner(char letter) const
{
    for (size_t i = 0; i < m_axes.size(); ++i)
        if (m_axes[i].letter == letter && m_axes[i].block != 0) return static_cast<int>(i);
    return -1;
}

int64_t Layout::block(char letter) const
{
    const int at = inner(letter);
    return at < 0 ? 1 : m_axes[static_cast<size_t>(at)].block;
}

Result<Shape> relaidShape(const OpView& op, const Shape& shape, const Layout& from,
                          const Layout& to)
{
    if (shape.size() != from.rank())
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "has the layout " + from.text() + " but the shape " + shapeText(shape));
    for (const LayoutAxis& axis : from.axes())
        if (to.outer(axis.letter) < 0)
            return opError(op, DiagnosticCode::BadAttribute,
                           "cannot go from " + from.text() + " to " + to.text() +
                               "; both need the same dimensions");
    for (const LayoutAxis& axis : from.axes())
        if (axis.block != 0 &&
            !(shape[static_cast<size_t>(from.inner(axis.letter))] == Dim(axis.block)))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "has the layout " + from.text() + " but the shape " + shapeText(shape));
    Shape out;
    for (const LayoutAxis& axis : to.axes()) {
        const int source = from.outer(axis.letter);
        if (source < 0)
            return opError(op, DiagnosticCode::BadAttribute,
                           "cannot go from " + from.text() + " to " + to.text() +
                               "; both need the same dimensions");
        if (axis.block != 0) {
            out.emplace_back(axis.block);
            continue;
        }
        const Dim extent = shape[static_cast<size_t>(source)] * Dim(from.block(axis.letter));
        const int64_t block = to.block(axis.letter);
        if (extent.isConst() && extent.value() % block != 0)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot block " + std::string(1, axis.letter) + " of extent " +
                               extent.text() + " by " + std::to_string(block));
        out.push_back(floorDiv(extent, Dim(block)));
    }
    return out;
}

Exprs relaidIndices(const Exprs& indices, const Layout& from, const Layout& to)
{
    Exprs out;
    for (const LayoutAxis& axis : from.axes()) {
        const char letter = axis.letter;
        const int64_t fromBlock = from.block(letter), toBlock = to.block(letter);
        const tir::Expr outer = indices[static_cast<size_t>(to.outer(letter))];
        const tir::Expr inner =
            to.inner(letter) < 0 ? tir::Expr(0) : indices[static_cast<size_t>(to.inner(letter))];
        if (fromBlock == toBlock) {
            out.push_back(axis.block == 0 ? outer : inner);
            continue;
        }
        // Blocks that nest need no division of the sum.
        if (toBlock % fromBlock == 0) {
            const tir::Expr ratio(toBlock / fromBlock);
            out.push_back(axis.block == 0 ? outer * ratio + floorDiv(inner, fromBlock)
                                          : floorMod(inner, fromBlock));
            continue;
        }
        const tir::Expr flat = outer * tir::Expr(toBlock) + inner;
        out.push_back(axis.block == 0 ? floorDiv(flat, fromBlock) : floorMod(flat, fromBlock));
    }
    return out;
}

} // namespace tenon::compiler
