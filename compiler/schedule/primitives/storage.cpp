// SPDX-License-Identifier: Apache-2.0
// set_scope, storage_align: where an intermediate buffer lives and how its rows are spaced.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::ExprKind;

tir::Stmt replaced(const tir::Stmt& root, const Buffer& from, const Buffer& to)
{
    tir::Block block = root->block;
    std::replace(block.allocs.begin(), block.allocs.end(), from, to);
    return tir::substitute(withBlock(root, std::move(block)), {}, {{from.get(), to}});
}

} // namespace

Status Primitives::setScope(std::string buffer, tir::Scope scope)
{
    constexpr const char* kName = "set_scope";
    const Buffer old = bufferNamed(m_function, buffer);
    if (!old) return badSchedule(kName, "names buffer " + quoted(buffer) + " which does not exist");
    if (isParameter(m_function, old))
        return badSchedule(kName, "of buffer " + quoted(buffer) + ": it is a parameter");
    tir::BufferNode node = *old;
    node.scope = scope;
    m_function.body =
        replaced(m_function.body, old, std::make_shared<const tir::BufferNode>(std::move(node)));
    record(kName, {buffer}, {{"scope", std::string(tir::scopeText(scope))}});
    return kDone;
}

Status Primitives::storageAlign(std::string buffer, int64_t axis, int64_t factor, int64_t offset)
{
    constexpr const char* kName = "storage_align";
    const Buffer old = bufferNamed(m_function, buffer);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of buffer " + quoted(buffer) + ": " + why);
    };
    if (!old) return refuse("it does not exist");
    if (isParameter(m_function, old)) return refuse("it is a parameter");
    const auto at = static_cast<size_t>(axis);
    if (axis < 0 || at >= old->shape.size()) return refuse("it has no such axis");
    if (factor < 1 || offset < 0 || offset >= factor)
        return refuse("the offset is not within the factor");

    // The stride of `axis` becomes offset modulo factor; outer strides grow with it.
    tir::BufferNode node = *old;
    node.strides.assign(node.shape.size(), Expr(1));
    Expr stride = 1;
    for (size_t dim = node.shape.size(); dim-- > 0;) {
        if (dim == at) {
            if (stride->kind != ExprKind::IntImm) return refuse("its stride is not constant");
            const int64_t excess = (stride->integer - offset) % factor;
            stride = stride + (excess == 0 ? 0 : factor - excess) % factor;
        }
        node.strides[dim] = stride;
        stride = tir::simplify(stride * node.shape[dim]);
    }
    m_function.body =
        replaced(m_function.body, old, std::make_shared<const tir::BufferNode>(std::move(node)));
    record(kName, {buffer}, {{"axis", axis}, {"factor", factor}, {"offset", offset}});
    return kDone;
}

} // namespace tenon::compiler
