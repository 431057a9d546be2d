// SPDX-License-Identifier: Apache-2.0
// Finding and editing loops, blocks and buffers by name; what all schedule primitives share.
#pragma once

#include "compiler/schedule/schedule.h"
#include "core/ir/tir/simplify.h"

#include <functional>
#include <optional>

namespace tenon::compiler {

/// A statement and everything around it, outermost first.
struct Site
{
    tir::Stmt stmt;
    std::vector<tir::Stmt> above;
};

std::optional<Site> siteOfLoop(const tir::Stmt& root, std::string_view name);
std::optional<Site> siteOfBlock(const tir::Stmt& root, std::string_view name);

/// Loops between the site and the block around it, outermost first.
std::vector<tir::Stmt> loopsAbove(const Site& site);
/// Constant ranges of all loops around the site (not of the site itself).
tir::Ranges rangesAbove(const Site& site);

/// Blocks directly or indirectly inside, in program order; the root block is not counted.
std::vector<tir::Stmt> blocksIn(const tir::Stmt& stmt);

bool reads(const tir::Stmt& stmt, const tir::Buffer& buffer);
bool writes(const tir::Stmt& stmt, const tir::Buffer& buffer);
/// Every buffer written inside, in program order.
std::vector<tir::Buffer> writtenIn(const tir::Stmt& stmt);
std::vector<tir::Buffer> readIn(const tir::Stmt& stmt);
/// Parameter or allocation of that name; null when there is none.
tir::Buffer bufferNamed(const tir::PrimFunc& function, std::string_view name);
bool isParameter(const tir::PrimFunc& function, const tir::Buffer& buffer);

/// `base`, or `base_1`, ... not used by any loop / block / buffer of the function.
std::string freshLoopName(const tir::Stmt& root, const std::string& base);
std::string freshBlockName(const tir::Stmt& root, const std::string& base);
std::string freshBufferName(const tir::PrimFunc& function, const std::string& base);

/// The root block with another list of allocations.
tir::Stmt withAlloc(const tir::Stmt& root, const tir::Buffer& buffer);
tir::Stmt withoutAlloc(const tir::Stmt& root, const tir::Buffer& buffer);

/// Largest statement around the block that holds nothing else.
tir::Stmt nestOf(const Site& block);
/// The function's body without the block and the loops that hold nothing else.
tir::Stmt withoutBlock(const tir::Stmt& root, const Site& block);

/// A copy of the block statement with another predicate / other bindings.
tir::Stmt withBlock(const tir::Stmt& stmt, tir::Block block);
/// Adds `condition` to every outermost block inside.
tir::Stmt guarded(const tir::Stmt& stmt, const tir::Expr& condition);

/// The conjunction of those terms of a predicate that satisfy `keep`; null when none does.
tir::Expr termsWhere(const tir::Expr& predicate, const std::function<bool(const tir::Expr&)>& keep);

/// Whether it is this constant, as an integer or as a float.
bool isNumber(const tir::Expr& expr, int number);

/// True when `loop` or a loop inside is a reduction loop around the second half of an overlapping
/// split (see splitOverlap).
bool repeatsReduction(const tir::Stmt& root);

Diagnostic badSchedule(std::string_view primitive, const std::string& message);
Diagnostic unknownLoop(std::string_view primitive, std::string_view loop);
Diagnostic unknownBlock(std::string_view primitive, std::string_view block);

} // namespace tenon::compiler
