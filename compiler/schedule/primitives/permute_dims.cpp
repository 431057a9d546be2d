// SPDX-License-Identifier: Apache-2.0
// permute_dims: the dimensions of an intermediate buffer are stored in another order.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {

using tir::Buffer;
using tir::Expr;

Status Primitives::permuteDims(std::string buffer, std::vector<int64_t> order)
{
    constexpr const char* kName = "permute_dims";
    const Buffer old = bufferNamed(m_function, buffer);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of buffer " + quoted(buffer) + ": " + why);
    };
    if (!old) return refuse("it does not exist");
    if (isParameter(m_function, old)) return refuse("it is a parameter");
    if (!old->strides.empty()) return refuse("it has strides");
    std::vector<int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    bool isOrder = order.size() == old->shape.size();
    for (size_t i = 0; i < sorted.size(); ++i)
        isOrder = isOrder && sorted[i] == static_cast<int64_t>(i);
    if (!isOrder) return refuse("the order does not name each dimension once");

    const auto permuted = [&](const std::vector<Expr>& list) {
        std::vector<Expr> out;
        for (const int64_t dim : order) out.push_back(list[static_cast<size_t>(dim)]);
        return out;
    };
    tir::BufferNode node = *old;
    node.shape = permuted(old->shape);
    const auto changed = std::make_shared<const tir::BufferNode>(std::move(node));
    const tir::Stmt root = tir::rewriteStmt(
        m_function.body,
        [&](const tir::Stmt& stmt) {
            if (stmt->kind != tir::StmtKind::Store || stmt->buffer != old) return stmt;
            return tir::store(changed, permuted(stmt->indices), stmt->value);
        },
        [&](const Expr& expr) {
            if (expr->kind != tir::ExprKind::Load || expr->buffer != old) return expr;
            return tir::load(changed, permuted(expr->args));
        });
    m_function.body = withAlloc(withoutAlloc(root, old), changed);
    record(kName, {buffer}, {{"order", order}});
    return kDone;
}

} // namespace tenon::compiler
