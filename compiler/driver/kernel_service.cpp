// SPDX-License-Identifier: Apache-2.0
// In-process compilation and the worker's loop over framed CBOR messages (u32 length, then the
// message).
#include "compiler/driver/kernel_service.h"

#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/driver/kernel_worker_link.h"
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "core/jobs/job.h"

#include <nlohmann/json.hpp>

namespace tenon::compiler {
namespace {

class InProcess final : public KernelService
{
public:
    Result<KernelProducts> compile(const tir::PrimFunc& unscheduled, const std::string& symbol,
                                   const MachineSpec& machine, const TargetFacts& facts) override
    {
        auto scheduled = scheduleKernel(unscheduled, facts);
        if (!scheduled) return scheduled.error();
        auto lowered = lowerToLoops(scheduled->function);
        if (!lowered) return lowered.error();
        KernelProducts products;
        products.rule = scheduled->rule;
        for (const TraceStep& step : scheduled->trace) products.trace += step.text() + "\n";
        products.scheduled = tir::print(scheduled->function);
        products.lowered = tir::print(*lowered);
        if (machine.isSource()) return products; // written with the program
        auto object = emitKernel({*lowered, symbol, facts.vectorBytes}, machine, EmitForm::Object);
        if (!object) return object.error();
        products.object = std::move(*object);
        return products;
    }
};

} // namespace

std::shared_ptr<KernelService> inProcessKernelService() { return std::make_shared<InProcess>(); }

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
                auto function = tir::parsePrimFunc(request->functionText);
                if (!function) return function.error();
                auto products =
                    compiler.compile(*function, request->symbol, request->machine, request->facts);
                if (!products) return products.error();
                reply.products = std::move(*products);
                return kDone;
            },
            job);
        if (!done) reply.error = done.error();
        if (!sendMessage(fd, encodeReply(reply))) return 1;
    }
    return 0;
}

} // namespace tenon::compiler
