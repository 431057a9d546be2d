// SPDX-License-Identifier: Apache-2.0
// MATRIX_DIAG and MATRIX_SET_DIAG: diagonals of the matrices in the last two axes.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

ValueRef isOnDiagonal(Formula& f, int64_t rows, int64_t columns)
{
    return f.call("equal", {f.iota(rows, 0, 2), f.iota(columns, 1, 2)});
}

} // namespace

void convertMatrixDiag(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.shape(0);
    const ValueRef diagonal = node.input(0);
    if (node.hasFailed()) return;
    if (shape.empty()) {
        node.fail(DiagnosticCode::ShapeMismatch, "a diagonal is needed but the input is a scalar");
        return;
    }
    Formula f(node);
    const ValueRef rows = f.expand(diagonal, static_cast<int64_t>(shape.size()));
    node.output(0,
                f.where(isOnDiagonal(f, shape.back(), shape.back()), rows, f.number(0, diagonal)));
}

void convertMatrixSetDiag(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.shape(0), given = node.shape(1);
    const ValueRef value = node.input(0), diagonal = node.input(1);
    if (node.hasFailed()) return;
    const size_t rank = shape.size();
    std::vector<int64_t> needed = shape;
    if (rank >= 2) {
        needed.pop_back();
        needed.back() = std::min(shape[rank - 2], shape[rank - 1]);
    }
    if (rank < 2 || given != needed) {
        node.fail(DiagnosticCode::ShapeMismatch, "a diagonal of (" + join(given, ", ") +
                                                     ") does not fit matrices of (" +
                                                     join(shape, ", ") + ")");
        return;
    }
    Formula f(node);
    const int64_t rows = shape[rank - 2], columns = shape[rank - 1];
    const auto axis = static_cast<int64_t>(rank - (rows <= columns ? 1 : 2));
    node.output(0, f.where(isOnDiagonal(f, rows, columns), f.expand(diagonal, axis), value));
}

} // namespace tenon::compiler
