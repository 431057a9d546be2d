// SPDX-License-Identifier: Apache-2.0
// Collects the symbols of a primitive function, and makes them variables of its kernel.
#include "compiler/passes/fuse/kernel_sizes.h"

#include "compiler/ops/symbols.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {

std::vector<std::string> kernelSizes(const Module& module, const GraphFunction& function)
{
    std::vector<std::string> sizes;
    const auto addAll = [&](const Dim& dim) {
        for (std::string& symbol : dim.symbols())
            if (std::find(sizes.begin(), sizes.end(), symbol) == sizes.end())
                sizes.push_back(std::move(symbol));
    };
    for (const std::vector<NodeId>& nodes : {function.params, function.order})
        for (const NodeId id : nodes) {
            const NodeRecord& node = module.node(id);
            for (const TensorType& type : node.types)
                for (const Dim& dim : type.shape) addAll(dim);
            for (const std::string& text : node.attrs.strings("sizes", {}))
                if (const auto dim = parseDim(text)) addAll(*dim);
        }
    return sizes;
}

tir::PrimFunc withSizes(tir::PrimFunc function, const std::vector<std::string>& symbols)
{
    if (symbols.empty()) return function;
    function.sizes.clear();
    std::map<std::string, tir::Expr> sizeOf;
    for (const std::string& symbol : symbols) {
        function.sizes.push_back(tir::makeVar("n" + std::to_string(function.sizes.size())));
        sizeOf[symbol] = tir::Expr(function.sizes.back());
    }
    const auto replaced = [&](const tir::Expr& expr) {
        if (expr->kind != tir::ExprKind::VarRef) return expr;
        const auto symbol = symbolOf(*expr->var);
        return symbol ? sizeOf.at(*symbol) : expr;
    };
    tir::BufferMap buffers;
    const auto add = [&](const tir::Buffer& buffer) {
        if (buffers.contains(buffer.get())) return;
        tir::BufferNode node = *buffer;
        for (tir::Expr& extent : node.shape) extent = tir::rewriteExpr(extent, replaced);
        buffers[buffer.get()] = std::make_shared<const tir::BufferNode>(std::move(node));
    };
    for (tir::Buffer& param : function.params) {
        add(param);
        param = buffers.at(param.get());
    }
    tir::visitStmts(function.body, [&](const tir::Stmt& stmt) {
        if (stmt->buffer) add(stmt->buffer);
        for (const tir::Buffer& buffer : stmt->block.allocs) add(buffer);
        return true;
    });
    function.body = tir::rewriteStmt(
        function.body, [](const tir::Stmt& stmt) { return stmt; }, replaced);
    function.body = tir::substitute(function.body, {}, buffers);
    return function;
}

} // namespace tenon::compiler
