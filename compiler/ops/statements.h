// SPDX-License-Identifier: Apache-2.0
// Shorthand for operators that are written as statements of the loop IR.
#pragma once

#include "compiler/te/te.h"

#include <functional>
#include <string>
#include <vector>

namespace tenon::compiler {

/// for name in 0..extent: body(name), as a loop of that kind
inline tir::Stmt loopOf(tir::LoopKind kind, const std::string& name, const tir::Expr& extent,
                        const std::function<tir::Stmt(const tir::Expr&)>& body)
{
    const tir::Var var = tir::makeVar(name);
    return tir::forLoop({.var = var, .extent = extent, .kind = kind}, body(tir::Expr(var)));
}

/// One iteration after the other.
inline tir::Stmt serialLoop(const std::string& name, const tir::Expr& extent,
                            const std::function<tir::Stmt(const tir::Expr&)>& body)
{
    return loopOf(tir::LoopKind::Serial, name, extent, body);
}

/// Zeros behind the first `begin` rows of a buffer of rank 1 or 2.
inline tir::Stmt clearBehind(const tir::Buffer& buffer, const tir::Expr& begin)
{
    return serialLoop("rest", buffer->shape[0], [&](const tir::Expr& i) {
        const tir::Expr zero = tir::zeroOf(buffer->dtype);
        const tir::Stmt clear =
            buffer->shape.size() == 1
                ? tir::store(buffer, {i}, zero)
                : serialLoop("column", buffer->shape[1], [&](const tir::Expr& column) {
                      return tir::store(buffer, {i, column}, zero);
                  });
        return tir::ifThen(i >= begin, clear);
    });
}

/// A number that statements change.
class Cell
{
public:
    explicit Cell(const std::string& name, core::DataType dtype = core::kInt64)
        : m_buffer(tir::makeBuffer(name, {tir::Expr(1)}, dtype, tir::Scope::Local))
    {
    }
    tir::Expr get() const { return tir::load(m_buffer, {tir::Expr(0)}); }
    tir::Stmt set(tir::Expr value) const
    {
        return tir::store(m_buffer, {tir::Expr(0)}, std::move(value));
    }
    tir::Stmt add(int64_t value) const { return set(get() + tir::Expr(value)); }
    tir::Stmt within(const tir::Stmt& body) const { return tir::allocate(m_buffer, body); }

private:
    tir::Buffer m_buffer;
};

} // namespace tenon::compiler
