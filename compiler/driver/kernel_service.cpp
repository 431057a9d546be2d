// SPDX-License-Identifier: Apache-2.0
// In-process code generation and linking, and the worker's loop over framed CBOR messages (u32
// length, then the message).
#include "compiler/driver/kernel_service.h"

#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/linker.h"
#include "compiler/driver/kernel_worker_link.h"
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"
#include "core/jobs/job.h"

#include <nlohmann/json.hpp>

namespace tenon::compiler {
namespace {

/// The same loops, one element at a time.
tir::Stmt withoutVectors(const tir::Stmt& body)
{
    return tir::rewriteStmt(body, [](const tir::Stmt& stmt) {
        if (stmt->kind != tir::StmtKind::For || stmt->loop.kind != tir::LoopKind::Vectorized)
            return stmt;
        tir::Loop loop = stmt->loop;
        loop.kind = tir::LoopKind::Serial;
        return tir::forLoop(std::move(loop), stmt->body);
    });
}

/// All but the object; `loops` become what it is made of.
Result<KernelProducts> lowerScheduled(Result<ScheduledKernel> scheduled, const MachineSpec& machine,
                                      tir::PrimFunc& loops)
{
    if (!scheduled) return scheduled.error();
    if (!machine.vectorizes) scheduled->function.body = withoutVectors(scheduled->function.body);
    auto lowered = lowerToLoops(scheduled->function);
    if (!lowered) return lowered.error();
    KernelProducts products;
    products.rule = scheduled->rule;
    products.refusal = scheduled->refusal;
    for (const TraceStep& step : scheduled->trace) products.trace += step.text() + "\n";
    products.scheduled = tir::print(scheduled->function);
    products.lowered = tir::print(*lowered);
    loops = std::move(*lowered);
    return products;
}

class InProcess : public KernelService
{
public:
    Result<KernelProducts> compile(const tir::PrimFunc& unscheduled, const std::string& symbol,
                                   const MachineSpec& machine, const TargetFacts& facts) override
    {
        tir::PrimFunc loops;
        auto products = lowerScheduled(schedule(unscheduled, facts), machine, loops);
        const ObjectCode* code = machine.backEnd->objects;
        if (!products || !code) return products; // source is written with the program
        auto object =
            code->emitKernel({loops, symbol, facts.vectorBytes}, machine, EmitForm::Object);
        if (!object) return object.error();
        products->object = std::move(*object);
        return products;
    }

    Result<std::string> emitText(const TextRequest& request) override
    {
        const ObjectCode* code = request.machine.backEnd->objects;
        CHECK(code) << "no objects are made for " << request.machine.text();
        if (request.kind == TextRequest::Kind::Builtins) return code->emitBuiltins(request.machine);
        if (request.kind == TextRequest::Kind::Glue)
            return code->emitGlue(request.text, request.machine);
        auto lowered = tir::parsePrimFunc(request.text);
        if (!lowered) return lowered.error();
        return code->emitKernel({*lowered, request.symbol, request.vectorBytes}, request.machine,
                                request.form);
    }

    Status link(const LinkRequest& request) override
    {
        return compiler::link(request.job, request.output);
    }

protected:
    virtual Result<ScheduledKernel> schedule(const tir::PrimFunc& unscheduled,
                                             const TargetFacts& facts) const
    {
        return scheduleKernel(unscheduled, facts);
    }
};

class Scheduling final : public InProcess
{
public:
    Result<KernelProducts> compile(const tir::PrimFunc& unscheduled, const std::string&,
                                   const MachineSpec& machine, const TargetFacts& facts) override
    {
        tir::PrimFunc loops;
        return lowerScheduled(schedule(unscheduled, facts), machine, loops);
    }
};

class AsWritten final : public InProcess
{
    Result<ScheduledKernel> schedule(const tir::PrimFunc& function,
                                     const TargetFacts&) const override
    {
        return ScheduledKernel{.function = function, .trace = {}, .rule = "as written"};
    }
};

Status answer(KernelService& service, const KernelRequest& request, KernelReply& reply)
{
    auto function = tir::parsePrimFunc(request.functionText);
    if (!function) return function.error();
    auto products = service.compile(*function, request.symbol, request.machine, request.facts);
    if (!products) return products.error();
    reply.products = std::move(*products);
    return kDone;
}

Status answer(KernelService& service, const TextRequest& request, KernelReply& reply)
{
    auto bytes = service.emitText(request);
    if (!bytes) return bytes.error();
    reply.bytes = std::move(*bytes);
    return kDone;
}

Status answer(KernelService& service, const LinkRequest& request, KernelReply&)
{
    return service.link(request);
}

} // namespace

std::shared_ptr<KernelService> inProcessKernelService() { return std::make_shared<InProcess>(); }

std::shared_ptr<KernelService> schedulingKernelService() { return std::make_shared<Scheduling>(); }

std::shared_ptr<KernelService> asWrittenKernelService() { return std::make_shared<AsWritten>(); }

int runKernelWorker(int fd)
{
    InProcess compiler;
    while (auto bytes = receiveMessage(fd)) {
        KernelReply reply;
        JobContext job;
        const Status done = runGuarded(
            [&](JobContext&) -> Status {
                auto request = decodeRequest(*bytes);
                if (!request) return request.error();
                return std::visit([&](const auto& asked) { return answer(compiler, asked, reply); },
                                  *request);
            },
            job);
        if (!done) reply.error = done.error();
        if (!sendMessage(fd, encodeReply(reply))) return 1;
    }
    return 0;
}

} // namespace tenon::compiler
