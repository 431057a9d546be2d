// SPDX-License-Identifier: Apache-2.0
// Which products of a block's sums become pairs: those first whose pairs most sums read, as rows
// of an image are for a depthwise window's columns.
#include "compiler/codegen/llvm/product_pairs.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace tenon::compiler {
namespace {

/// More candidates than that would take too long: windows have fewer.
constexpr size_t kMostCandidates = 20000;
constexpr int kFree = 1 << 20; ///< readers of what exists or is made outside the loop

using Factors = std::pair<llvm::CastInst*, llvm::CastInst*>;

struct Product
{
    llvm::BinaryOperator* multiply;
    std::array<llvm::CastInst*, 2> factors;
    bool isTaken = false;
};

/// Two products of one sum, and which of their factors are pairs.
struct Candidate
{
    size_t first, second;         ///< products
    std::array<size_t, 2> shared; ///< pairs of factors
};

/// Two factors in one register.
struct Pair
{
    Factors factors;
    int readers = 0;
    bool isOutside = false;
    llvm::Value* value = nullptr;
};

/// What widens numbers of at most 16 bits that keep their value there.
llvm::CastInst* narrowFactor(llvm::Value* value)
{
    auto* cast = llvm::dyn_cast<llvm::CastInst>(value);
    if (!cast) return nullptr;
    const unsigned bits = cast->getSrcTy()->getScalarSizeInBits();
    const bool isSigned = cast->getOpcode() == llvm::Instruction::SExt;
    const bool isUnsigned = cast->getOpcode() == llvm::Instruction::ZExt;
    return (isSigned && (bits == 8 || bits == 16)) || (isUnsigned && bits == 8) ? cast : nullptr;
}

llvm::FixedVectorType* halvesOf(llvm::Type* words)
{
    const auto* type = llvm::cast<llvm::FixedVectorType>(words);
    return llvm::FixedVectorType::get(llvm::Type::getInt16Ty(words->getContext()),
                                      2 * type->getNumElements());
}

llvm::Value* sumOfPairs(llvm::IRBuilder<>& builder, llvm::Type* words, llvm::Value* a,
                        llvm::Value* b)
{
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(words)->getNumElements();
    auto* halves = halvesOf(words);
    return builder.CreateIntrinsic(
        lanes == 8 ? llvm::Intrinsic::x86_avx2_pmadd_wd : llvm::Intrinsic::x86_sse2_pmadd_wd, {},
        {builder.CreateBitCast(a, halves), builder.CreateBitCast(b, halves)});
}

class PairsOfBlock
{
public:
    PairsOfBlock(llvm::BasicBlock& block, const llvm::DominatorTree& tree, int vectorBytes)
        : m_block(block)
        , m_tree(tree)
        , m_vectorBytes(vectorBytes)
    {
    }

    void form()
    {
        for (llvm::Instruction& instruction : m_block)
            if (isRoot(instruction)) addSum(instruction);
        if (m_candidates.size() <= kMostCandidates)
            while (const Candidate* best = bestCandidate()) take(*best);
        for (const Product& product : m_products)
            if (!product.isTaken) takeAlone(product);
    }

private:
    bool isSum(const llvm::Value* value) const
    {
        const auto* add = llvm::dyn_cast<llvm::BinaryOperator>(value);
        const auto* type = add ? llvm::dyn_cast<llvm::FixedVectorType>(add->getType()) : nullptr;
        if (!type || add->getOpcode() != llvm::Instruction::Add || add->getParent() != &m_block ||
            !type->getElementType()->isIntegerTy(32))
            return false;
        const unsigned lanes = type->getNumElements();
        return (lanes == 4 || lanes == 8) && static_cast<int>(lanes) * 4 <= m_vectorBytes;
    }

    bool isRoot(const llvm::Instruction& instruction) const
    {
        return isSum(&instruction) &&
               !(instruction.hasOneUse() && isSum(*instruction.user_begin()));
    }

    /// Products of a sum, and what might be pairs of them.
    void addSum(llvm::Instruction& root)
    {
        const size_t begin = m_products.size();
        std::vector<llvm::Value*> open{&root};
        while (!open.empty()) {
            llvm::Value* value = open.back();
            open.pop_back();
            if (value == &root || (value->hasOneUse() && isSum(value))) {
                auto* add = llvm::cast<llvm::BinaryOperator>(value);
                add->dropPoisonGeneratingFlags(); // its operands change places
                open.insert(open.end(), {add->getOperand(1), add->getOperand(0)});
            } else {
                addProduct(*value);
            }
        }
        for (size_t q = begin; q < m_products.size(); ++q)
            for (size_t p = begin; p < q && m_candidates.size() <= kMostCandidates; ++p)
                for (const bool isCrossed : {false, true}) addCandidate(p, q, isCrossed);
    }

    void addProduct(llvm::Value& value)
    {
        auto* multiply = llvm::dyn_cast<llvm::BinaryOperator>(&value);
        if (!multiply || multiply->getOpcode() != llvm::Instruction::Mul ||
            !multiply->hasOneUse() || multiply->getParent() != &m_block)
            return;
        llvm::CastInst* a = narrowFactor(multiply->getOperand(0));
        llvm::CastInst* b = narrowFactor(multiply->getOperand(1));
        if (a && b) m_products.push_back({multiply, {a, b}});
    }

    void addCandidate(size_t first, size_t second, bool isCrossed)
    {
        const Product &p = m_products[first], &q = m_products[second];
        Candidate candidate{first, second, {}};
        for (size_t i = 0; i < 2; ++i) {
            Factors factors{p.factors.at(i), q.factors.at(isCrossed ? 1 - i : i)};
            if (factors.first->getOpcode() != factors.second->getOpcode() ||
                factors.first->getSrcTy() != factors.second->getSrcTy())
                return;
            candidate.shared.at(i) = pairOf(factors);
        }
        for (const size_t pair : candidate.shared) ++m_pairs[pair].readers;
        m_candidates.push_back(candidate);
    }

    size_t pairOf(const Factors& factors)
    {
        const auto [place, isNew] = m_places.try_emplace(factors, m_pairs.size());
        if (isNew)
            m_pairs.push_back({.factors = factors,
                               .isOutside = factors.first->getParent() != &m_block &&
                                            factors.second->getParent() != &m_block});
        return place->second;
    }

    bool isOpen(const Candidate& candidate) const
    {
        return !m_products[candidate.first].isTaken && !m_products[candidate.second].isTaken;
    }

    int readersOf(size_t at) const
    {
        const Pair& pair = m_pairs[at];
        return pair.value || pair.isOutside ? kFree : pair.readers;
    }

    /// The first of those whose pairs most others read; null where both pairs are read once.
    const Candidate* bestCandidate()
    {
        llvm::erase_if(m_candidates, [&](const Candidate& candidate) {
            if (isOpen(candidate)) return false;
            for (const size_t pair : candidate.shared) --m_pairs[pair].readers;
            return true;
        });
        const Candidate* best = nullptr;
        int most = 0;
        for (const Candidate& candidate : m_candidates) {
            const auto [least, greatest] =
                std::minmax({readersOf(candidate.shared[0]), readersOf(candidate.shared[1])});
            if (least <= most || greatest == 1) continue;
            most = least;
            best = &candidate;
        }
        return best;
    }

    /// The earlier product leaves its sum, the later becomes both.
    void take(const Candidate& candidate)
    {
        Product &p = m_products[candidate.first], &q = m_products[candidate.second];
        p.isTaken = q.isTaken = true;
        llvm::BinaryOperator *earlier = p.multiply, *later = q.multiply;
        if (later->comesBefore(earlier)) std::swap(earlier, later);
        llvm::Value *a = made(candidate.shared[0]), *b = made(candidate.shared[1]);
        llvm::IRBuilder<> builder(later);
        later->replaceAllUsesWith(sumOfPairs(builder, later->getType(), a, b));
        auto* add = llvm::cast<llvm::BinaryOperator>(*earlier->user_begin());
        add->replaceAllUsesWith(add->getOperand(add->getOperand(0) == earlier ? 1 : 0));
        llvm::RecursivelyDeleteTriviallyDeadInstructions(add);
        llvm::RecursivelyDeleteTriviallyDeadInstructions(later);
    }

    llvm::Value* made(size_t at)
    {
        Pair& pair = m_pairs[at];
        if (pair.value) return pair.value;
        auto [first, second] = pair.factors;
        llvm::Instruction* last = m_tree.dominates(first, second) ? second : first;
        llvm::IRBuilder<> builder(last->getParent(), *last->getInsertionPointAfterDef());
        const unsigned lanes =
            llvm::cast<llvm::FixedVectorType>(first->getType())->getNumElements();
        std::vector<int> order;
        for (int lane = 0; lane < static_cast<int>(lanes); ++lane)
            order.insert(order.end(), {lane, lane + static_cast<int>(lanes)});
        llvm::Value* woven =
            builder.CreateShuffleVector(first->getOperand(0), second->getOperand(0), order);
        pair.value = builder.CreateIntCast(woven, halvesOf(first->getType()),
                                           first->getOpcode() == llvm::Instruction::SExt);
        return pair.value;
    }

    /// A factor from outside the loop is stored with zeros above it.
    void takeAlone(const Product& product)
    {
        const auto outside = llvm::find_if(product.factors, [&](const llvm::CastInst* factor) {
            return factor->getParent() != &m_block;
        });
        if (outside == product.factors.end()) return;
        llvm::CastInst* factor = *outside;
        llvm::Value*& low = m_low[factor];
        if (!low) {
            llvm::IRBuilder<> above(factor->getParent(), *factor->getInsertionPointAfterDef());
            low = above.CreateAnd(factor, 0xffff);
        }
        llvm::IRBuilder<> builder(product.multiply);
        llvm::CastInst* other = product.factors[outside == product.factors.begin() ? 1 : 0];
        llvm::BinaryOperator* multiply = product.multiply;
        multiply->replaceAllUsesWith(sumOfPairs(builder, multiply->getType(), other, low));
        llvm::RecursivelyDeleteTriviallyDeadInstructions(multiply);
    }

    llvm::BasicBlock& m_block;
    const llvm::DominatorTree& m_tree;
    int m_vectorBytes;
    std::vector<Product> m_products;
    std::vector<Candidate> m_candidates;
    std::vector<Pair> m_pairs;
    llvm::DenseMap<Factors, size_t> m_places;
    llvm::DenseMap<llvm::Value*, llvm::Value*> m_low;
};

} // namespace

void pairProducts(llvm::Function& function, int vectorBytes)
{
    const llvm::DominatorTree tree(function);
    for (llvm::BasicBlock& block : function) PairsOfBlock(block, tree, vectorBytes).form();
}

} // namespace tenon::compiler
