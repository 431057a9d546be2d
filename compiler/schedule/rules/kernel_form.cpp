// SPDX-License-Identifier: Apache-2.0
// Compares a kernel with what the rule of its family reads out of it.
#include "compiler/schedule/rules/kernel_form.h"

#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

std::string formOf(const tir::Stmt& block)
{
    std::string form;
    for (const tir::IterVar& iter : block->block.iters)
        form += iter.kind == tir::IterKind::Reduce ? 'R' : 'S';
    return form;
}

bool hasKnownSizes(const tir::Stmt& block, std::ptrdiff_t first)
{
    return std::all_of(
        block->block.iters.begin() + first, block->block.iters.end(), [](const tir::IterVar& iter) {
            return iter.extent->kind == tir::ExprKind::IntImm && iter.extent->integer > 0;
        });
}

/// Whether its axes are those of `form`.
bool hasForm(const std::string& axes, AxesForm form)
{
    if (form.starts_with('*')) return axes.ends_with(form.substr(1));
    if (form.starts_with('N')) return axes.starts_with('S') && axes.substr(1) == form.substr(1);
    return axes == form;
}

/// Numbers that rules divide by.
bool hasPositiveNumbers(const tir::Stmt& block)
{
    const core::Attrs& facts = block->block.annotations;
    const auto arePositive = [&](const char* name) {
        const std::vector<int64_t> pair = facts.integers(name, {1, 1});
        return pair.size() >= 2 &&
               std::all_of(pair.begin(), pair.end(), [](int64_t each) { return each > 0; });
    };
    return arePositive("strides") && arePositive("tile_size") &&
           facts.integer("tile_columns", 1) > 0;
}

} // namespace

Status checkForm(const Schedule& schedule, std::string_view rule, AxesForm form)
{
    if (form.empty()) return kDone;
    const std::string anchor = anchorOf(schedule);
    const auto site = siteOfBlock(schedule.function().body, anchor);
    if (!site) return unknownBlock(rule, anchor);
    const std::string axes = formOf(site->stmt);
    const std::ptrdiff_t firstKnown = form.starts_with('N') ? 1 : 0;
    if (!hasForm(axes, form) || !hasKnownSizes(site->stmt, firstKnown) ||
        !hasPositiveNumbers(site->stmt))
        return badSchedule(rule, "of block " + quoted(anchor) + ": its axes are " + quoted(axes) +
                                     ", not " + quoted(form) + " of known sizes");
    return kDone;
}

bool isBlockedConv(const tir::Stmt& block)
{
    bool hasWeights = false, hasData = false;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        if (expr->kind != tir::ExprKind::Load || expr->buffer == block->body->buffer) return true;
        const auto& shape = expr->buffer->shape;
        const bool isKnown = std::all_of(shape.begin(), shape.end(), [](const tir::Expr& extent) {
            return extent->kind == tir::ExprKind::IntImm;
        });
        hasWeights |= isKnown && shape.size() == 6;
        // Quads of bytes have no axis for channels in a block.
        hasData |= isKnown && (shape.size() == 4 || shape.size() == 5);
        return true;
    });
    return formOf(block) == "SSSSSRRRR" && hasWeights && hasData;
}

} // namespace tenon::compiler
