// SPDX-License-Identifier: Apache-2.0
// A warm hit skips scheduling, lowering and LLVM; its texts come from the cache too.
#include "compiler/driver/kernels.h"

#include "compiler/driver/object_cache.h"
#include "compiler/passes/fuse/item_kernels.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/ir/tir/text.h"
#include "core/target/target_facts_fields.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace tenon::compiler {
namespace {

using Clock = std::chrono::steady_clock;

std::string factsText(const TargetFacts& facts)
{
    std::string text;
    visitFields(facts, [&](const char* name, const auto& value) {
        text += std::string(name) + "=" + exact(static_cast<double>(value)) + ",";
    });
    return text;
}

/// The error with the kernel's name and the first source node that it serves.
Diagnostic placed(Diagnostic error, const Module& lowered, const std::string& kernel)
{
    error.location.detail = "kernel " + kernel;
    for (const NodeId id : lowered.main().order) {
        const NodeRecord& call = lowered.node(id);
        if (call.kernel != kernel || call.origin.empty()) continue;
        const size_t source = call.origin.front().value;
        if (source < lowered.sources().size()) error.location.node = lowered.sources()[source].name;
        break;
    }
    return error;
}

/// Long texts take long to compile: begun last, one would keep a thread busy while others wait.
std::vector<size_t> longestFirst(const std::vector<std::string>& texts)
{
    std::vector<size_t> order(texts.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return texts[a].size() > texts[b].size(); });
    return order;
}

} // namespace

std::set<std::string> calledKernels(const Module& lowered)
{
    std::set<std::string> out;
    for (const auto& [id, function] : lowered.functions()) {
        if (function->attrs.integer("primitive", 0) != 0) continue;
        for (const NodeId nodeId : function->order) {
            const NodeRecord& node = lowered.node(nodeId);
            if (node.kind != NodeKind::CallTir || node.kernel == kNopKernel) continue;
            out.insert(node.kernel);
            for (const std::string& chunk : node.attrs.strings(kChunkKernelsAttr, {}))
                out.insert(chunk);
        }
    }
    return out;
}

namespace {

/// What is called, not compiled yet.
std::vector<CompiledKernel> unscheduledKernels(const Module& lowered)
{
    const std::set<std::string> called = calledKernels(lowered);
    std::vector<CompiledKernel> kernels;
    for (const auto& [name, function] : lowered.kernels()) {
        if (!called.contains(name)) continue;
        CompiledKernel kernel;
        kernel.name = name;
        kernel.unscheduled = function;
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

} // namespace

Result<std::vector<CompiledKernel>>
compileKernels(const Module& lowered, const MachineSpec& machine, const TargetFacts& facts,
               const std::string& cacheFolder, KernelService& service, JobContext& job)
{
    const ObjectCache cache(cacheFolder);
    const std::string context = "tenon kernel 1\n" + compilerBuildId() + "\n" + machine.text() +
                                "\n" + factsText(facts) + "\n";
    std::vector<CompiledKernel> kernels = unscheduledKernels(lowered);
    std::vector<std::string> texts;
    for (const CompiledKernel& kernel : kernels) texts.push_back(tir::print(*kernel.unscheduled));
    const std::vector<size_t> order = longestFirst(texts);
    std::atomic<size_t> finished{0};
    const Status done = job.parallelFor(kernels.size(), [&](size_t place) -> Status {
        CompiledKernel& kernel = kernels[order[place]];
        const std::string& text = texts[order[place]];
        const auto start = Clock::now();
        kernel.tirHash = hashBytes(text).hex();
        kernel.symbol = "k_" + kernel.tirHash.substr(0, 16);
        const std::string key = context + text;
        if (auto hit = cache.find(key)) {
            kernel.scheduleRule = (*hit)["rule"];
            kernel.refusal = (*hit)["refusal"];
            kernel.scheduleTrace = (*hit)["trace"];
            kernel.scheduledText = (*hit)["scheduled"];
            kernel.loweredText = (*hit)["lowered"];
            kernel.object = std::make_shared<const std::string>(std::move((*hit)["object"]));
            kernel.fromCache = true;
        } else {
            auto products = service.compile(*kernel.unscheduled, kernel.symbol, machine, facts);
            if (!products) return placed(products.error(), lowered, kernel.name);
            kernel.scheduleRule = std::move(products->rule);
            kernel.refusal = std::move(products->refusal);
            kernel.scheduleTrace = std::move(products->trace);
            kernel.scheduledText = std::move(products->scheduled);
            kernel.loweredText = std::move(products->lowered);
            kernel.object = std::make_shared<const std::string>(std::move(products->object));
            cache.store(key, {{"rule", kernel.scheduleRule},
                              {"refusal", kernel.refusal},
                              {"trace", kernel.scheduleTrace},
                              {"scheduled", kernel.scheduledText},
                              {"lowered", kernel.loweredText},
                              {"object", *kernel.object}});
        }
        kernel.compileMs = millisecondsSince(start);
        const size_t count = ++finished;
        job.progress(0.3 + 0.6 * static_cast<double>(count) / static_cast<double>(kernels.size()),
                     "compiled " + kernel.name);
        return kDone;
    });
    if (!done) return done.error();
    return kernels;
}

} // namespace tenon::compiler
