// SPDX-License-Identifier: Apache-2.0
// Placeholders, and their loads replaced.
#include "compiler/passes/fuse/scalar_inputs.h"

#include "core/ir/tir/visit.h"

#include <unordered_map>

namespace tenon::compiler {

te::TensorRef ScalarInputs::add(const Tensor& tensor)
{
    std::vector<tir::Expr> shape(tensor.shape().begin(), tensor.shape().end());
    tensors.push_back(te::placeholder("scalar", std::move(shape), tensor.dtype()));
    values.push_back(tensor.dtype().isFloat() ? tir::floatImm(tensor.number(0), tensor.dtype())
                                              : tir::intImm(tensor.integer(0), tensor.dtype()));
    return tensors.back();
}

void ScalarInputs::inlineInto(tir::PrimFunc& function, size_t first) const
{
    if (values.empty()) return;
    std::unordered_map<const tir::BufferNode*, tir::Expr> of;
    for (size_t i = 0; i < values.size(); ++i) of[function.params.at(first + i).get()] = values[i];
    const auto begin = function.params.begin() + static_cast<std::ptrdiff_t>(first);
    function.params.erase(begin, begin + static_cast<std::ptrdiff_t>(values.size()));
    function.body = tir::rewriteStmt(
        function.body, [](const tir::Stmt& stmt) { return stmt; },
        [&](const tir::Expr& expr) {
            if (expr->kind != tir::ExprKind::Load) return expr;
            const auto found = of.find(expr->buffer.get());
            return found != of.end() ? found->second : expr;
        });
}

} // namespace tenon::compiler
