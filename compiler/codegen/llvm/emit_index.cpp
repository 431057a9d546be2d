// SPDX-License-Identifier: Apache-2.0
// Indices of the loop IR: sums of multiples of loop variables, their quotients, and addresses.
#include "compiler/codegen/llvm/emitter.h"

#include <algorithm>

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;

Emitter::Affine Emitter::affineOf(const Expr& index)
{
    const ExprNode& node = *index;
    const auto scaled = [](Affine a, int64_t factor) {
        a.constant *= factor;
        for (auto& term : a.terms) term.second *= factor;
        return a;
    };
    if (node.kind == ExprKind::Add || node.kind == ExprKind::Sub) {
        Affine a = affineOf(node.args[0]);
        const Affine b = scaled(affineOf(node.args[1]), node.kind == ExprKind::Sub ? -1 : 1);
        a.constant += b.constant;
        for (const auto& [term, coefficient] : b.terms) {
            const auto same = std::find_if(a.terms.begin(), a.terms.end(),
                                           [&](const auto& t) { return t.first == term; });
            if (same != a.terms.end())
                same->second += coefficient;
            else
                a.terms.emplace_back(term, coefficient);
        }
        return a;
    }
    if (node.kind == ExprKind::Mul) {
        const Affine a = affineOf(node.args[0]);
        const Affine b = affineOf(node.args[1]);
        if (b.terms.empty()) return scaled(a, b.constant);
        if (a.terms.empty()) return scaled(b, a.constant);
    }
    llvm::Value* whole = value(index);
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(whole))
        return {constant->getSExtValue(), {}};
    return {0, {{whole, 1}}};
}

Emitter::Affine Emitter::outerFirst(Affine affine) const
{
    const auto depthOf = [&](const llvm::Value* v) {
        const auto found = m_depth.find(v);
        return found != m_depth.end() ? found->second : m_loopDepth;
    };
    std::stable_sort(affine.terms.begin(), affine.terms.end(), [&](const auto& a, const auto& b) {
        return depthOf(a.first) < depthOf(b.first);
    });
    return affine;
}

llvm::Value* Emitter::linear(const Expr& index)
{
    llvm::Value* sum = nullptr;
    const Affine affine = outerFirst(affineOf(index));
    for (const auto& [term, coefficient] : affine.terms) {
        llvm::Value* part =
            m_builder.CreateMul(term, llvm::ConstantInt::getSigned(term->getType(), coefficient));
        sum = sum ? m_builder.CreateAdd(sum, part) : part;
    }
    llvm::Value* constant = llvm::ConstantInt::getSigned(typeOf(index->dtype), affine.constant);
    return sum ? m_builder.CreateAdd(sum, constant) : constant;
}

std::pair<llvm::Value*, llvm::Align> Emitter::address(const tir::Buffer& buffer, const Expr& index)
{
    const auto place = m_places.find(buffer.get());
    CHECK(place != m_places.end()) << "buffer " << buffer->name << " has no storage";
    const Affine affine = outerFirst(affineOf(index));
    llvm::Type* element = storedTypeOf(buffer->dtype.scalar());
    llvm::Type* index64 = m_builder.getInt64Ty();
    llvm::Value* pointer = place->second.pointer;
    const int64_t bytes = buffer->dtype.bytes();
    int64_t known = place->second.alignment;
    // One GEP per loop level: each inner pointer is the outer one plus its own step, which hoists
    // and strength-reduces.
    for (const auto& [term, coefficient] : affine.terms) {
        llvm::Value* wide = m_builder.CreateSExtOrTrunc(term, index64);
        llvm::Value* step =
            coefficient == 1
                ? wide
                : m_builder.CreateMul(wide, llvm::ConstantInt::getSigned(index64, coefficient), "",
                                      false, true);
        pointer = m_builder.CreateInBoundsGEP(element, pointer, step);
        while (coefficient * bytes % known != 0) known /= 2;
    }
    if (affine.constant != 0)
        pointer = m_builder.CreateInBoundsGEP(
            element, pointer, llvm::ConstantInt::getSigned(index64, affine.constant));
    while (affine.constant * bytes % known != 0) known /= 2;
    return {pointer, llvm::Align(static_cast<uint64_t>(std::max<int64_t>(known, 1)))};
}

} // namespace tenon::compiler
