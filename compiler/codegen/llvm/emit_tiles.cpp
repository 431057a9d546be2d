// SPDX-License-Identifier: Apache-2.0
// Sums of products of bytes by instructions that multiply tiles of 16 rows of 64 bytes (Intel
// AMX). Linux lends tiles to those that ask; where it does not, the loops are what they were.
#include "compiler/codegen/llvm/byte_tiles.h"
#include "compiler/codegen/llvm/emitter.h"
#include "core/target/lent_tiles.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

constexpr int64_t kWordBytes = 4;
/// Two by two sums, the data of two and the weights of two are all tiles that there are.
constexpr int64_t kTogether = 2;
constexpr int64_t kFirstData = 4, kFirstWeights = 6;

using Rows = std::array<int64_t, kTogether>;

/// What the tiles hold: 64 bytes as the instruction reads them (Intel's manual, LDTILECFG).
llvm::Constant* configuration(llvm::LLVMContext& context, const Rows& rows, int64_t steps)
{
    constexpr size_t kRowBytes = 16, kRows = 48;
    std::array<uint8_t, 64> bytes{1}; // the palette of eight tiles
    const auto hold = [&](int64_t tile, int64_t count, int64_t words) {
        bytes[kRowBytes + 2 * static_cast<size_t>(tile)] = static_cast<uint8_t>(kWordBytes * words);
        bytes[kRows + static_cast<size_t>(tile)] = static_cast<uint8_t>(count);
    };
    for (int64_t i = 0; i < kTogether; ++i) {
        const int64_t count = rows[static_cast<size_t>(i)];
        for (int64_t j = 0; j < kTogether; ++j) hold(i * kTogether + j, count, kTileWords);
        hold(kFirstData + i, count, steps);
        hold(kFirstWeights + i, steps, kTileWords);
    }
    return llvm::ConstantDataArray::get(context, llvm::ArrayRef(bytes));
}

/// One nest of products: tile by tile of the sums, two by two where there are so many.
class TileProducts
{
public:
    /// Where the first elements are.
    struct Places
    {
        llvm::Value *sums, *data, *weights;
        llvm::Value* rows = nullptr; ///< that sums start from; null: from what they are
        int64_t rowsPerVector = 0;   ///< bytes
    };

    TileProducts(llvm::IRBuilderBase& builder, const ByteProducts& products, const Places& places)
        : m_builder(builder)
        , m_products(products)
        , m_places(places)
        , m_tiles((products.positions + kTileRows - 1) / kTileRows)
    {
    }

    void emit()
    {
        for (const TileSteps& steps : tileSteps(m_products.steps)) {
            m_steps = steps;
            m_configured = {};
            for (int64_t tile = 0; tile < m_tiles; tile += kTogether) {
                const int64_t tiles = std::min(kTogether, m_tiles - tile);
                configure({rowsOf(tile), rowsOf(tile + tiles - 1)});
                for (int64_t vector = 0; vector < m_products.vectors; vector += kTogether)
                    sumsOf({tile, tiles, vector, std::min(kTogether, m_products.vectors - vector)});
            }
        }
        m_builder.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
    }

private:
    /// Tiles that are summed up together.
    struct Group
    {
        int64_t tile, tiles, vector, vectors;
    };

    /// Tiles are alike but for one row.
    int64_t rowsOf(int64_t tile) const
    {
        return m_products.positions / m_tiles + (tile < m_products.positions % m_tiles ? 1 : 0);
    }
    int64_t firstOf(int64_t tile) const
    {
        return tile * (m_products.positions / m_tiles) +
               std::min(tile, m_products.positions % m_tiles);
    }

    void configure(const Rows& rows)
    {
        if (rows == m_configured) return;
        m_configured = rows;
        auto* shape = new llvm::GlobalVariable(
            *m_builder.GetInsertBlock()->getModule(),
            llvm::ArrayType::get(m_builder.getInt8Ty(), 64), true,
            llvm::GlobalValue::PrivateLinkage,
            configuration(m_builder.getContext(), rows, m_steps.each), "tenon.tiles");
        shape->setAlignment(llvm::Align(64));
        m_builder.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {shape});
    }

    llvm::Value* number(int64_t tile) const
    {
        return m_builder.getInt8(static_cast<uint8_t>(tile));
    }

    /// So many bytes behind `base`, which after the last step may be behind its buffer.
    llvm::Value* beyond(llvm::Value* base, int64_t count) const
    {
        return m_builder.CreateGEP(m_builder.getInt8Ty(), base,
                                   m_builder.getInt64(static_cast<uint64_t>(count)));
    }

    void load(int64_t tile, llvm::Value* from, int64_t stride) const
    {
        m_builder.CreateIntrinsic(
            llvm::Intrinsic::x86_tileloadd64, {},
            {number(tile), from, m_builder.getInt64(static_cast<uint64_t>(stride))});
    }

    /// Calls `each(tile of sums, where they are)`.
    template <class Each>
    void eachSum(const Group& group, Each&& each) const
    {
        for (int64_t i = 0; i < group.tiles; ++i)
            for (int64_t j = 0; j < group.vectors; ++j)
                each(i * kTogether + j,
                     beyond(m_places.sums, firstOf(group.tile + i) * m_products.sumsPerPosition +
                                               (group.vector + j) * m_products.sumsPerVector));
    }

    void sumsOf(const Group& group) const
    {
        eachSum(group, [&](int64_t tile, llvm::Value* at) {
            const int64_t vector = group.vector + tile % kTogether;
            if (m_places.rows && m_steps.first == 0) // the same for every position
                load(tile, beyond(m_places.rows, vector * m_places.rowsPerVector), 0);
            else
                load(tile, at, m_products.sumsPerPosition);
        });
        llvm::Value* data = beyond(m_places.data, firstOf(group.tile) * m_products.dataPerPosition +
                                                      m_steps.first * kWordBytes);
        llvm::Value* weights =
            beyond(m_places.weights, group.vector * m_products.weightsPerVector +
                                         m_steps.first * m_products.weightsPerStep);
        multiplyAll(group, data, weights);
        eachSum(group, [&](int64_t tile, llvm::Value* at) {
            m_builder.CreateIntrinsic(
                llvm::Intrinsic::x86_tilestored64, {},
                {number(tile), at,
                 m_builder.getInt64(static_cast<uint64_t>(m_products.sumsPerPosition))});
        });
    }

    /// All steps, as a loop.
    void multiplyAll(const Group& group, llvm::Value* data, llvm::Value* weights) const
    {
        llvm::Function* function = m_builder.GetInsertBlock()->getParent();
        llvm::BasicBlock* before = m_builder.GetInsertBlock();
        auto* body = llvm::BasicBlock::Create(m_builder.getContext(), "tiles", function);
        auto* after = llvm::BasicBlock::Create(m_builder.getContext(), "after_tiles", function);
        m_builder.CreateBr(body);
        m_builder.SetInsertPoint(body);
        llvm::PHINode* round = m_builder.CreatePHI(m_builder.getInt64Ty(), 2);
        llvm::PHINode* dataAt = m_builder.CreatePHI(m_builder.getPtrTy(), 2);
        llvm::PHINode* weightsAt = m_builder.CreatePHI(m_builder.getPtrTy(), 2);
        multiply(group, dataAt, weightsAt);
        llvm::Value* next = m_builder.CreateAdd(round, m_builder.getInt64(1));
        const auto rounds = static_cast<uint64_t>(m_steps.rounds);
        round->addIncoming(m_builder.getInt64(0), before);
        round->addIncoming(next, body);
        dataAt->addIncoming(data, before);
        dataAt->addIncoming(beyond(dataAt, m_steps.each * kWordBytes), body);
        weightsAt->addIncoming(weights, before);
        weightsAt->addIncoming(beyond(weightsAt, m_steps.each * m_products.weightsPerStep), body);
        m_builder.CreateCondBr(m_builder.CreateICmpULT(next, m_builder.getInt64(rounds)), body,
                               after);
        m_builder.SetInsertPoint(after);
    }

    void multiply(const Group& group, llvm::Value* data, llvm::Value* weights) const
    {
        for (int64_t j = 0; j < group.vectors; ++j)
            load(kFirstWeights + j, beyond(weights, j * m_products.weightsPerVector),
                 m_products.weightsPerStep);
        for (int64_t i = 0; i < group.tiles; ++i) {
            load(kFirstData + i, beyond(data, i * rowsOf(group.tile) * m_products.dataPerPosition),
                 m_products.dataPerPosition);
            for (int64_t j = 0; j < group.vectors; ++j)
                m_builder.CreateIntrinsic(
                    llvm::Intrinsic::x86_tdpbusd, {},
                    {number(i * kTogether + j), number(kFirstData + i), number(kFirstWeights + j)});
        }
    }

    llvm::IRBuilderBase& m_builder;
    const ByteProducts& m_products;
    Places m_places;
    int64_t m_tiles;
    TileSteps m_steps{};
    Rows m_configured{};
};

} // namespace

llvm::Value* Emitter::tilesGranted()
{
    if (m_granted) return m_granted;
    // As core::lendsTiles() asks, in whatever program the kernel runs.
    llvm::IRBuilder<> builder(m_entry, m_entry->getFirstInsertionPt());
    llvm::Type* word = builder.getInt64Ty();
    auto* type = llvm::FunctionType::get(word, {word, word, word}, false);
    auto* call = llvm::InlineAsm::get(
        type, "syscall",
        "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}", true);
    llvm::Value* status = builder.CreateCall(call, {builder.getInt64(kArchPrctl),
                                                    builder.getInt64(kRequestPermission),
                                                    builder.getInt64(kTileData)});
    m_granted = builder.CreateICmpEQ(status, builder.getInt64(0));
    return m_granted;
}

/// The loops of `node`, and before them those of `initial` where it is not null; false where they
/// are others.
bool Emitter::tileProducts(const tir::StmtNode* initial, const tir::StmtNode& node)
{
    if (!m_options.multipliesTiles) return false;
    const auto products = byteProductsOf(node);
    if (!products) return false;
    const auto rows = initial ? initialSumsOf(*initial, *products) : std::nullopt;
    if (initial && !rows) return false;
    auto* tiles = llvm::BasicBlock::Create(m_context, "by_tiles", m_function);
    auto* loops = llvm::BasicBlock::Create(m_context, "by_loops", m_function);
    auto* done = llvm::BasicBlock::Create(m_context, "multiplied", m_function);
    m_builder.CreateCondBr(tilesGranted(), tiles, loops);
    m_builder.SetInsertPoint(tiles);
    const auto placeOf = [&](const tir::Buffer& buffer, const tir::Expr& index) {
        return address(buffer, index).first;
    };
    for (const tir::Var& var : products->loops) m_vars[var.get()] = m_builder.getInt64(0);
    TileProducts::Places places{placeOf(products->sums, products->sumsIndex),
                                placeOf(products->data, products->dataIndex),
                                placeOf(products->weights, products->weightsIndex)};
    if (rows) {
        for (const tir::Var& var : rows->loops) m_vars[var.get()] = m_builder.getInt64(0);
        places.rows = placeOf(rows->rows, rows->index);
        places.rowsPerVector = rows->perVector;
    }
    TileProducts(m_builder, *products, places).emit();
    m_builder.CreateBr(done);
    m_builder.SetInsertPoint(loops);
    m_options.multipliesTiles = false; // the same loops once more
    if (initial) loop(*initial);
    loop(node);
    m_options.multipliesTiles = true;
    m_builder.CreateBr(done);
    m_builder.SetInsertPoint(done);
    return true;
}

} // namespace tenon::compiler
