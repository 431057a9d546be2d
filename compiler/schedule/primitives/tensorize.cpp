// SPDX-License-Identifier: Apache-2.0
// tensorize: the blocks under a loop compute with an instruction of the target.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

/// What a statement computes, said with the instruction; null when it computes something else.
using Match = Stmt (*)(const Stmt& body);

/// c = c + a * b, rounded once.
Stmt fusedMultiplyAdd(const Stmt& body)
{
    if (body->kind != tir::StmtKind::Store || !body->buffer->dtype.isFloat()) return nullptr;
    const Expr& sum = body->value;
    if (sum->kind != ExprKind::Add) return nullptr;
    for (const size_t side : {size_t{0}, size_t{1}}) {
        const Expr& product = sum->args[1 - side];
        const Expr& addend = sum->args[side];
        if (addend->kind != ExprKind::Load || product->kind != ExprKind::Mul) continue;
        return tir::store(body->buffer, body->indices,
                          tir::call(tir::Intrinsic::Fma, sum->dtype,
                                    {product->args[0], product->args[1], addend}));
    }
    return nullptr;
}

struct Instruction
{
    std::string_view name;
    Match match;
};

constexpr Instruction kInstructions[] = {{"fma", fusedMultiplyAdd}};

} // namespace

Status Primitives::tensorize(std::string loop, std::string intrinsic)
{
    constexpr const char* kName = "tensorize";
    const auto site = siteOfLoop(m_function.body, loop);
    if (!site) return unknownLoop(kName, loop);
    const Instruction* instruction = nullptr;
    for (const Instruction& known : kInstructions)
        if (known.name == intrinsic) instruction = &known;
    if (!instruction)
        return badSchedule(kName, "does not know the instruction " + quoted(intrinsic));
    Stmt root = m_function.body;
    for (const Stmt& block : blocksIn(site->stmt)) {
        const Stmt body = instruction->match(block->body);
        if (!body)
            return badSchedule(kName, "of loop " + quoted(loop) + ": block " +
                                          quoted(block->block.name) + " does not compute what " +
                                          quoted(intrinsic) + " does");
        root = tir::replaceStmt(root, block.get(), tir::block(block->block, block->init, body));
    }
    m_function.body = root;
    record(kName, {loop}, {{"intrinsic", intrinsic}});
    return kDone;
}

} // namespace tenon::compiler
