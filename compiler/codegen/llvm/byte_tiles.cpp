// SPDX-License-Identifier: Apache-2.0
// Which nests of loops are products of matrices of bytes: every loop is over positions, vectors of
// weights or steps, by what a step of it moves.
#include "compiler/codegen/llvm/byte_tiles.h"

#include "compiler/codegen/llvm/byte_quads.h"
#include "compiler/codegen/llvm/unsplat.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::StmtKind;
using tir::StmtNode;

constexpr int64_t kWordBytes = 4;

/// Bytes from one iteration to the next; nothing where they differ.
std::optional<int64_t> stepOf(const tir::Buffer& buffer, const Expr& index, const tir::Var& var)
{
    const Expr next = tir::substitute(index, {{var.get(), Expr(var) + Expr(1)}});
    const Expr step = tir::simplify(next - index);
    if (step->kind != ExprKind::IntImm) return std::nullopt;
    return step->integer * static_cast<int64_t>(buffer->dtype.bytes());
}

/// What one loop moves.
struct LoopSteps
{
    int64_t extent, sums, data, weights;
};

/// Loops of known counts, and the one statement inside of them.
struct Nest
{
    std::vector<const tir::Loop*> loops;
    const StmtNode* body;
};

std::optional<Nest> nestOf(const StmtNode& loop)
{
    Nest nest{{}, &loop};
    for (; nest.body->kind == StmtKind::For; nest.body = nest.body->body.get()) {
        const tir::Loop& each = nest.body->loop;
        const bool isCounted = each.min.isConstInt(0) && each.extent->kind == ExprKind::IntImm &&
                               each.kind != tir::LoopKind::Parallel;
        if (!isCounted) return std::nullopt;
        nest.loops.push_back(&each);
    }
    return nest;
}

/// The expression in the first iteration of all loops.
Expr firstOf(const Expr& index, const std::vector<tir::Var>& loops)
{
    tir::VarMap zeros;
    for (const tir::Var& var : loops) zeros[var.get()] = Expr(0);
    return tir::simplify(tir::substitute(index, zeros));
}

/// Whole vectors of words that follow one another.
bool isRow(const Expr& index)
{
    return index->kind == ExprKind::Ramp && index->dtype.lanes == kTileWords &&
           index->args[1].isConstInt(1);
}

bool isWords(const Expr& expr)
{
    return expr->kind == ExprKind::Load && expr->buffer->dtype == kInt32;
}

/// The load of a word, or of the first byte of one; null for anything else.
Expr wordOf(const Expr& expr) { return isWords(expr) ? expr : firstByteOfQuads(*expr); }

/// The sum of the innermost statement.
std::optional<ByteProducts> productsIn(const StmtNode& store)
{
    if (store.kind != StmtKind::Store || store.indices.size() != 1 || !isRow(store.indices[0]))
        return std::nullopt;
    if (store.value->kind != ExprKind::Add) return std::nullopt;
    const Expr &sum = store.value->args[0], &dot = store.value->args[1];
    if (dot->kind != ExprKind::Intrinsic || dot->intrinsic != tir::Intrinsic::DotU8I8 ||
        !unsplat(dot->args[0]).isConstInt(0))
        return std::nullopt;
    const Expr data = wordOf(unsplat(dot->args[1]));
    const Expr& weights = dot->args[2];
    const bool areLoads = isWords(sum) && data.get() && isWords(weights) &&
                          sum->buffer == store.buffer && data->dtype.lanes == 1 &&
                          isRow(weights->args[0]) &&
                          tir::structuralEqual(sum->args[0], store.indices[0]);
    if (!areLoads || store.buffer->scope == tir::Scope::Register) return std::nullopt;
    ByteProducts out;
    out.sums = store.buffer;
    out.data = data->buffer;
    out.weights = weights->buffer;
    out.sumsIndex = store.indices[0]->args[0];
    out.dataIndex = data->args[0];
    out.weightsIndex = weights->args[0]->args[0];
    return out;
}

/// Steps that are all one run of data, and as many rows of weights.
bool joinSteps(ByteProducts& out, std::vector<LoopSteps> steps)
{
    std::sort(steps.begin(), steps.end(),
              [](const LoopSteps& a, const LoopSteps& b) { return a.data < b.data; });
    for (const LoopSteps& step : steps) {
        if (out.steps == 1) out.weightsPerStep = step.weights;
        if (step.data != out.steps * kWordBytes || step.weights != out.steps * out.weightsPerStep)
            return false;
        out.steps *= step.extent;
    }
    return !steps.empty() && out.weightsPerStep >= kTileWords * kWordBytes;
}

/// Positions that are all as far from one another.
bool joinPositions(ByteProducts& out, std::vector<LoopSteps> positions)
{
    std::sort(positions.begin(), positions.end(),
              [](const LoopSteps& a, const LoopSteps& b) { return a.sums < b.sums; });
    for (const LoopSteps& position : positions) {
        if (out.positions == 1) {
            out.sumsPerPosition = position.sums;
            out.dataPerPosition = position.data;
        }
        if (position.sums != out.positions * out.sumsPerPosition ||
            position.data != out.positions * out.dataPerPosition)
            return false;
        out.positions *= position.extent;
    }
    return out.positions > 1;
}

bool classify(ByteProducts& out, const std::vector<LoopSteps>& loops)
{
    std::vector<LoopSteps> positions, steps;
    for (const LoopSteps& loop : loops) {
        const bool isPosition = loop.sums > 0 && loop.data > 0 && loop.weights == 0;
        const bool isVector = loop.sums > 0 && loop.data == 0 && loop.weights > 0;
        if (loop.sums == 0 && loop.data > 0 && loop.weights > 0) {
            steps.push_back(loop);
        } else if (isPosition) {
            positions.push_back(loop);
        } else if (isVector && out.vectors == 1) {
            out.vectors = loop.extent;
            out.sumsPerVector = loop.sums;
            out.weightsPerVector = loop.weights;
        } else {
            return false;
        }
    }
    return joinPositions(out, std::move(positions)) && joinSteps(out, std::move(steps));
}

/// True where the loops walk the sums of the products, once each: those that share a row are
/// positions.
bool walkSums(const std::vector<LoopSteps>& loops, const ByteProducts& products)
{
    ByteProducts own;
    std::vector<LoopSteps> positions;
    for (const LoopSteps& loop : loops) {
        if (loop.weights == 0) {
            positions.push_back(loop);
            continue;
        }
        if (own.vectors > 1) return false;
        own.vectors = loop.extent;
        own.sumsPerVector = loop.sums;
    }
    return joinPositions(own, std::move(positions)) && own.positions == products.positions &&
           own.sumsPerPosition == products.sumsPerPosition && own.vectors == products.vectors &&
           own.sumsPerVector == products.sumsPerVector;
}

} // namespace

std::vector<TileSteps> tileSteps(int64_t steps)
{
    constexpr int64_t kNearlyWhole = 12;
    if (steps <= kTileWords) return {{0, steps, 1}};
    for (int64_t each = kTileWords; each >= kNearlyWhole; --each)
        if (steps % each == 0) return {{0, each, steps / each}};
    const int64_t whole = steps / kTileWords;
    return {{0, kTileWords, whole}, {whole * kTileWords, steps % kTileWords, 1}};
}

std::optional<ByteProducts> byteProductsOf(const StmtNode& loop)
{
    const auto nest = nestOf(loop);
    if (!nest) return std::nullopt;
    auto out = productsIn(*nest->body);
    if (!out) return std::nullopt;
    std::vector<LoopSteps> loops;
    for (const tir::Loop* each : nest->loops) {
        const auto sums = stepOf(out->sums, out->sumsIndex, each->var);
        const auto data = stepOf(out->data, out->dataIndex, each->var);
        const auto weights = stepOf(out->weights, out->weightsIndex, each->var);
        if (!sums || !data || !weights) return std::nullopt;
        if (!each->extent.isConstInt(1))
            loops.push_back({each->extent->integer, *sums, *data, *weights});
        out->loops.push_back(each->var);
    }
    return classify(*out, loops) ? out : std::nullopt;
}

std::optional<InitialSums> initialSumsOf(const StmtNode& loop, const ByteProducts& products)
{
    const auto nest = nestOf(loop);
    const StmtNode* store = nest ? nest->body : nullptr;
    if (!store || store->kind != StmtKind::Store || store->buffer != products.sums ||
        !isRow(store->indices[0]) || !isWords(store->value) || !isRow(store->value->args[0]))
        return std::nullopt;
    InitialSums out;
    out.rows = store->value->buffer;
    out.index = store->value->args[0]->args[0];
    const Expr& sums = store->indices[0]->args[0];
    std::vector<LoopSteps> loops;
    for (const tir::Loop* each : nest->loops) {
        out.loops.push_back(each->var);
        const auto step = stepOf(products.sums, sums, each->var);
        const auto row = stepOf(out.rows, out.index, each->var);
        if (!step || !row) return std::nullopt;
        if (!each->extent.isConstInt(1)) loops.push_back({each->extent->integer, *step, 0, *row});
        out.perVector += each->extent.isConstInt(1) ? 0 : *row;
    }
    const Expr distance =
        tir::simplify(firstOf(sums, out.loops) - firstOf(products.sumsIndex, products.loops));
    const bool areSame = distance.isConstInt(0) && walkSums(loops, products);
    return areSame ? std::optional(std::move(out)) : std::nullopt;
}

} // namespace tenon::compiler
