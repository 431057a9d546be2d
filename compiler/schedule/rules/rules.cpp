// SPDX-License-Identifier: Apache-2.0
// The rule table and its driver.
#include "compiler/schedule/rules.h"

#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/kernel_form.h"
#include "compiler/schedule/rules/rows.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Shapes the tiled rules need: all sizes known.
bool hasKind(const tir::PrimFunc& function, std::initializer_list<std::string_view> kinds)
{
    if (!function.sizes.empty()) return false;
    const std::string kind = function.attrs.string("kind", "");
    for (const std::string_view wanted : kinds)
        if (kind == wanted) return true;
    return false;
}

bool isAttention(const tir::PrimFunc& f, const TargetFacts&) { return hasKind(f, {"attention"}); }
bool isChain(const tir::PrimFunc& f, const TargetFacts&)
{
    return hasKind(f, {"conv2d_nchwc", "depthwise_conv2d_nchwc", "pool"}) && isConvChain(f);
}
bool isConv2dNchwc(const tir::PrimFunc& f, const TargetFacts&)
{
    return hasKind(f, {"conv2d_nchwc"});
}
bool isConv2dStrassen(const tir::PrimFunc& f, const TargetFacts&)
{
    return hasKind(f, {"conv2d_strassen"});
}
bool isConv2dWinograd(const tir::PrimFunc& f, const TargetFacts&)
{
    return hasKind(f, {"conv2d_winograd"});
}
bool isConv2dPlain(const tir::PrimFunc& f, const TargetFacts&)
{
    return hasKind(f, {"conv2d", "conv2d_transpose"});
}
bool isMatmul(const tir::PrimFunc& f, const TargetFacts&)
{
    return hasKind(f, {"dense", "dense_pack", "matmul"});
}
bool isOpenProduct(const tir::PrimFunc& f, const TargetFacts& facts)
{
    return !f.sizes.empty() && f.attrs.string("kind", "") == "matmul" && hasOpenColumns(f, facts);
}
bool isSoftmax(const tir::PrimFunc& f, const TargetFacts&)
{
    return hasKind(f, {"softmax", "layer_norm"});
}
bool isWindow(const tir::PrimFunc& f, const TargetFacts&)
{
    return hasKind(f, {"depthwise_conv2d_nchwc", "pool"});
}
/// Of any number of images of known size, in blocks of channels.
bool isWindowOfPatches(const tir::PrimFunc& f, const TargetFacts&)
{
    constexpr size_t kBlockedRank = 5;
    const std::string kind = f.attrs.string("kind", "");
    return !f.sizes.empty() && (kind == "depthwise_conv2d_nchwc" || kind == "pool") &&
           f.params.back()->shape.size() == kBlockedRank;
}
bool isAny(const tir::PrimFunc&, const TargetFacts&) { return true; }

/// Padding that is read at several places: with its conditions in them none could be in vectors.
std::vector<std::string> sharedPads(const Schedule& schedule)
{
    constexpr int64_t kFewReaders = 3;
    std::vector<std::string> pads;
    for (const std::string& name : schedule.blocks()) {
        const tir::Stmt block = blockOf(schedule, name);
        const auto& axes = block->block.iters;
        const bool branches = std::any_of(axes.begin(), axes.end(), [&](const tir::IterVar& axis) {
            return branchesAlong(block, axis.var);
        });
        const tir::Buffer made = bufferNamed(schedule.function(), outputOf(schedule, name));
        if (branches && made && readersOf(schedule.function().body, made) >= kFewReaders)
            pads.push_back(name);
    }
    return pads;
}

/// Blocks whose rows their readers take one by one.
std::vector<std::string> rowsOfReaders(const Schedule& schedule)
{
    std::vector<std::string> rows;
    for (const std::string& name : schedule.blocks())
        if (blockOf(schedule, name)->block.annotations.integer("row_of_reader", 0) != 0)
            rows.push_back(name);
    return rows;
}

/// The loop of `block` that runs over its rows once it has its loops, all outer axes perhaps joined
/// in it; "" where vectors run over several rows.
std::string rowLoopOf(const Schedule& schedule, const std::string& block, const AxisView& row,
                      int64_t count)
{
    const std::vector<std::string> loops = schedule.loopsOf(block);
    if (std::find(loops.begin(), loops.end(), row.loop) != loops.end()) return row.loop;
    return schedule.extentOf(loops[0]) == count ? loops[0] : "";
}

/// The reader's loops, and in them, row by row, what it reads.
void scheduleByRows(Schedule& schedule, const std::string& rows, const TargetFacts& facts)
{
    const std::string reader = readerOf(schedule, rows);
    if (reader.empty()) return scheduleBlock(schedule, rows, facts);
    const std::vector<AxisView> axes = axesOf(schedule, reader);
    scheduleBlock(schedule, reader, facts);
    const std::string loop =
        axes.size() < 2 || schedule.hasFailed()
            ? ""
            : rowLoopOf(schedule, reader, axes[axes.size() - 2],
                        workOf(schedule, reader) / std::max<int64_t>(1, axes.back().extent));
    if (loop.empty() || !schedule.tries().computeAt(rows, loop))
        return scheduleBlock(schedule, rows, facts);
    return vectorizeRows(schedule, rows, axesOf(schedule, rows).back().extent, facts);
}

/// Every block gets parallel and, where contiguous, vectorized loops.
void scheduleDefault(Schedule& schedule, const TargetFacts& facts)
{
    std::vector<std::string> keep = sharedPads(schedule);
    const std::vector<std::string> rows = rowsOfReaders(schedule);
    keep.insert(keep.end(), rows.begin(), rows.end());
    inlineElementwise(schedule, keep);
    std::vector<std::string> done;
    for (const std::string& name : rows) {
        done.insert(done.end(), {name, readerOf(schedule, name)});
        scheduleByRows(schedule, name, facts);
    }
    for (const std::string& name : schedule.blocks())
        if (std::find(done.begin(), done.end(), name) == done.end())
            scheduleBlock(schedule, name, facts);
}

constexpr ScheduleRule kRules[] = {
    {"attention", isAttention, scheduleAttention, "*"},
    {"conv_chain", isChain, scheduleConvChain, "*"},
    {"conv2d_nchwc", isConv2dNchwc, scheduleConv2dNchwc, "SSSSSRRRR"},
    {"conv2d_strassen", isConv2dStrassen, scheduleConv2dStrassen, "SSSSSSRR"},
    {"conv2d_winograd", isConv2dWinograd, scheduleConv2dWinograd, "SSSSSSRR"},
    {"conv2d_plain", isConv2dPlain, scheduleConv2dPlain, "SSSSRRR"},
    {"matmul", isMatmul, scheduleMatmul, "*SSR"},
    {"open_columns", isOpenProduct, scheduleOpenColumns, ""},
    {"softmax", isSoftmax, scheduleSoftmax, "*"},
    {"window", isWindow, scheduleWindow, "*"},
    {"window_of_patches", isWindowOfPatches, scheduleWindow, "NSSSSRR"},
    {"default", isAny, scheduleDefault, ""},
};

bool isShared(const tir::PrimFunc& function)
{
    bool found = false;
    tir::visitStmts(function.body, [&](const tir::Stmt& stmt) {
        found = found ||
                (stmt->kind == tir::StmtKind::For && stmt->loop.kind == tir::LoopKind::Parallel);
        return !found;
    });
    return found;
}

Status applyRule(const ScheduleRule& rule, const tir::PrimFunc& unscheduled,
                 const TargetFacts& facts, ScheduledKernel& out)
{
    Schedule schedule(unscheduled);
    TargetFacts own = facts;
    if (!isWorthSharing(schedule, "", facts)) own.threads = 1;
    if (const Status fits = checkForm(schedule, rule.name, rule.axes); !fits) return fits;
    rule.apply(schedule, own);
    if (schedule.hasFailed()) return schedule.status();
    // Tiles of kernels that one thread computes after all need not leave work for others.
    if (own.threads > 1 && !isShared(schedule.function())) {
        own.threads = 1;
        schedule = Schedule(unscheduled);
        rule.apply(schedule, own);
        if (schedule.hasFailed()) return schedule.status();
    }
    out = {schedule.function(), schedule.trace(), std::string(rule.name), {}};
    return kDone;
}

} // namespace

std::span<const ScheduleRule> allScheduleRules() { return kRules; }

bool hasOrderedSums(const tir::PrimFunc& function)
{
    return function.attrs.integer(kOrderedSumsAttr, 0) != 0;
}

Result<ScheduledKernel> scheduleKernel(const tir::PrimFunc& unscheduled, const TargetFacts& facts)
{
    // A kernel whose fused neighbours do not fit its rule still gets the rule that fits all.
    const ScheduleRule& fallback = kRules[std::size(kRules) - 1];
    ScheduledKernel out;
    std::string refusal;
    for (const ScheduleRule& rule : allScheduleRules()) {
        if (!rule.matches(unscheduled, facts)) continue;
        const Status taken = applyRule(rule, unscheduled, facts, out);
        if (taken) return out;
        refusal = std::string(rule.name) + ": " + taken.error().message;
        break;
    }
    if (const Status plain = applyRule(fallback, unscheduled, facts, out); !plain)
        return plain.error();
    out.refusal = std::move(refusal);
    return out;
}

} // namespace tenon::compiler
