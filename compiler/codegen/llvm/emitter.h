// SPDX-License-Identifier: Apache-2.0
// Emitter: writes flat loop IR (schedule/rules.h: lowerToLoops) as final-form LLVM IR.
#pragma once

#include "compiler/codegen/llvm/emit_options.h"
#include "compiler/codegen/llvm/known_values.h"
#include "core/base/result.h"
#include "core/ir/tir/division.h"
#include "core/ir/tir/stmt.h"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::compiler {

using namespace core;
struct Narrowing;
class Emitter
{
public:
    Emitter(llvm::Module& module, const EmitOptions& options);

    /// Emits `int32_t symbol(void* p0, ..., i64 size0, ...)`, which returns 0, -1 when the runtime
    /// refused something, or kTenonDividedByZero; `lines` of the printed function by statement.
    Status emit(const tir::PrimFunc& function,
                const std::unordered_map<const tir::StmtNode*, int>& lines);

private:
    class Aside;
    class ParallelLoop;
    struct Place ///< where a buffer's bytes are
    {
        llvm::Value* pointer;
        unsigned alignment;
    };
    /// An index: constant + sum of coefficient * value. With outer loops first, sums hoist.
    struct Affine
    {
        int64_t constant = 0;
        std::vector<std::pair<llvm::Value*, int64_t>> terms;
    };
    // emit_expr.cpp
    llvm::Value* value(const tir::Expr& expr);
    llvm::Value* binary(const tir::ExprNode& node);
    llvm::Value* compare(const tir::ExprNode& node);
    llvm::Value* castTo(DataType to, llvm::Value* source, DataType from);
    llvm::Value* lookup(const tir::ExprNode& node); ///< emit_lookup.cpp; null: no table of bytes
    // emit_near.cpp; null where lanes depend on more than their number
    llvm::Value* nearLanes(const tir::ExprNode& node, llvm::Type* element);
    llvm::Constant* knownComparison(const tir::ExprNode& node);
    llvm::Value* loadElement(const tir::ExprNode& node);
    llvm::Value* rampValue(const tir::ExprNode& node);
    llvm::Value* conditional(const tir::ExprNode& node);
    // emit_division.cpp
    llvm::Value* division(const tir::ExprNode& node); ///< of integers, quotient or remainder
    llvm::Value* safeDivisor(llvm::Value* divisor, bool isSigned);
    llvm::Value* floorDivide(const tir::ExprNode& node, llvm::Value* a, llvm::Value* b);
    void noteFault(llvm::Value* isZero);
    llvm::AllocaInst* faultSlot();
    llvm::Value* status(); ///< what the function being written returns at its end
    // emit_index.cpp
    Affine affineOf(const tir::Expr& index);
    Affine outerFirst(Affine affine) const;
    llvm::Value* linear(const tir::Expr& index); ///< as value(), outer loops first
    /// Address of element `index`, constant parts as a displacement, and its known alignment.
    std::pair<llvm::Value*, llvm::Align> address(const tir::Buffer& buffer, const tir::Expr& index);
    // emit_type.cpp
    llvm::Type* typeOf(DataType dtype);       ///< of a register value (bool: i1)
    llvm::Type* storedTypeOf(DataType dtype); ///< of memory (bool: i8)
    bool isSoft(DataType dtype) const;        ///< a 16-bit float that the target lacks
    llvm::Value* fromStored(llvm::Value* stored, DataType dtype);
    llvm::Value* toStored(llvm::Value* value, DataType dtype);
    /// To what the type can hold, where registers hold more.
    llvm::Value* rounded(llvm::Value* value, DataType dtype);
    llvm::Value* remainder(llvm::Value* a, llvm::Value* b, DataType dtype); ///< emit_remainder.cpp
    // emit_math.cpp: expansions in plain vector arithmetic with stated error bounds
    llvm::Value* intrinsic(const tir::ExprNode& node);
    llvm::Value* productOfBytes(const tir::ExprNode& node); ///< by lanes of 16 bits; null: another
    llvm::Value* pairOfProducts(const tir::ExprNode& sum);  ///< emit_pairs.cpp; null: another sum
    llvm::Value* quads(const tir::ExprNode& node); ///< emit_quads.cpp; null: there are none
    llvm::Value* quadsOfVectors(const tir::ExprNode& node);
    llvm::Value* dotOfBytes(tir::Intrinsic dot, llvm::Value* sum, llvm::Value* a, llvm::Value* b);
    // emit_requantize.cpp, emit_packed.cpp
    /// A rounded, limited sum as bytes; null where this is another cast.
    llvm::Value* requantized(const tir::ExprNode& cast);
    llvm::Value* saturated(const tir::ExprNode& cast); ///< the same of a number of floats
    /// A float of such bytes plus a constant, which never become bytes; null where this is another.
    llvm::Value* requantizedNumber(const tir::ExprNode& cast);
    llvm::Value* numberWithin(const tir::Expr& expr, const Narrowing& to);
    llvm::Value* nearestWithin(llvm::Value* x, const Narrowing& to, int limits); ///< halves to even
    void selectRound(const tir::StmtNode& node, const llvm::ConstantInt& begin, int64_t round);
    /// Ways to unroll, each of the file of its name: false when they do not apply.
    bool unrolledSquare(const tir::StmtNode& node, const llvm::ConstantInt& begin, int64_t extent);
    bool unrolledQuads(const tir::StmtNode& node, const llvm::ConstantInt& begin, int64_t extent);
    bool unrolledPacked(const tir::StmtNode& node, const llvm::ConstantInt& begin, int64_t extent);
    bool unrolledWoven(const tir::StmtNode& node, const llvm::ConstantInt& begin, int64_t extent);
    bool unrolledInTurns(const tir::StmtNode& node, const llvm::ConstantInt& begin, int64_t extent);
    void inTurns(const tir::StmtNode& loop, const std::vector<llvm::Value*>& variables);
    bool tileProducts(const tir::StmtNode* initial, const tir::StmtNode& node); ///< emit_tiles.cpp
    llvm::Value* tilesGranted();
    // emit_stmt.cpp
    void statement(const tir::Stmt& stmt);
    void loop(const tir::StmtNode& node);
    void rounds(const tir::StmtNode& node, llvm::Value* begin, llvm::Value* end, int64_t together);
    void unrolled(const tir::StmtNode& node);
    void storeElement(const tir::StmtNode& node);
    void request(const tir::ExprNode& load);
    void branch(const tir::StmtNode& node);
    void whileLoop(const tir::StmtNode& node);
    void allocation(const tir::StmtNode& node);
    void markLine(const tir::StmtNode& node);
    // emit_parallel.cpp
    void parallelLoop(const tir::StmtNode& node);
    llvm::Value* runtimePointer(const std::string& name);
    void returnOnFailure(llvm::Value* status);
    llvm::AllocaInst* entryAlloca(llvm::Type* type, llvm::Align align, const llvm::Twine& name);
    void beginFunction(llvm::Function* function, const std::string& displayName);

    llvm::Module& m_module;
    llvm::LLVMContext& m_context;
    KnownValues m_known;
    KnownBuilder m_builder;
    std::unique_ptr<llvm::DIBuilder> m_debug;
    EmitOptions m_options;
    const std::unordered_map<const tir::StmtNode*, int>* m_lines = nullptr;
    llvm::DIFile* m_file = nullptr;
    llvm::DISubroutineType* m_debugType = nullptr;
    llvm::DISubprogram* m_subprogram = nullptr;
    llvm::Function* m_function = nullptr;
    llvm::BasicBlock* m_entry = nullptr;
    std::unordered_map<const tir::VarNode*, llvm::Value*> m_vars;
    tir::Ranges m_ranges; ///< of the loops around
    std::unordered_map<const tir::BufferNode*, Place> m_places;
    std::unordered_map<const llvm::Value*, int> m_depth; ///< loop depth of loop variables
    int m_loopDepth = 0;
    llvm::Value* m_mask = nullptr; ///< lanes that may be loaded, inside a vector if_then_else
    std::vector<llvm::Value*> m_workspaces; ///< to free before every return, innermost last
    tir::LoadedVars m_loaded;
    llvm::AllocaInst* m_fault = nullptr; ///< of the function being written; null: no fault so far
    llvm::Value* m_granted = nullptr;    ///< in it, whether the system lends tiles
    int m_parallelCount = 0;
    bool m_insideParallel = false;
};

} // namespace tenon::compiler
