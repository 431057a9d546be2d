// SPDX-License-Identifier: Apache-2.0
// The on-device server of an emulated Cortex-M over its UART, through a line that loses, repeats
// and damages bytes and a board that is reset: no wrong result may be taken for right.
//
// usage: line_campaign PROJECT [--rounds N] [--seed S]
// PROJECT is of `tenon project create --template baremetal-mps2`, its server built.
#include "core/base/text.h"
#include "remote/measure/sampling.h"
#include "remote/micro/micro_model.h"
#include "tests/remote/micro/harmful_line.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tenon::remote {
namespace {

using core::Result;
using core::Status;
using core::Tensor;

constexpr int kInputs = 16;       ///< different ones, each with a result that is known
constexpr int kMostSilences = 10; ///< a program that stops again and again is broken
/// Some 100 resets in 10,000 requests.
constexpr LineHarm kHarm{.drop = 0.01, .corrupt = 0.01, .repeat = 0.01, .reset = 0.005};

struct Campaign
{
    std::string project;
    int64_t rounds = 10000; ///< requests with their answers; an inference takes some thirty
    uint32_t seed = 1;
};

/// What the model takes, as zeros.
Result<std::vector<Tensor>> blankInputs(MicroModel& model)
{
    RpcSession& session = model.session();
    const auto library = session.callGlobal("runtime.SystemLib", PackedArgs());
    if (!library) return library.error();
    const auto module = session.callGlobal(
        "tvm.aot_executor.create", PackedArgs().handle(library->handle).cpu().text("default"));
    if (!module) return module.error();
    const auto get = session.moduleFunction(module->handle, "get_input");
    const auto count = session.moduleFunction(module->handle, "get_num_inputs");
    if (!get || !count) return get ? count.error() : get.error();
    const auto inputs = session.call(*count, PackedArgs());
    if (!inputs) return inputs.error();
    std::vector<Tensor> out;
    for (int64_t i = 0; i < inputs->integer; ++i) {
        const auto port = session.call(*get, PackedArgs().integer(i));
        if (!port) return port.error();
        out.push_back(Tensor::make(port->tensor.dtype, port->tensor.shape,
                                   [](auto to) { std::memset(to.data(), 0, to.size()); }));
    }
    return out;
}

/// Small whole numbers: floats of them are exact.
std::vector<Tensor> inputsOf(const std::vector<Tensor>& blank, int which)
{
    std::vector<Tensor> out;
    for (const Tensor& each : blank)
        out.push_back(Tensor::make(each.dtype(), each.shape(), [&](std::span<std::byte> to) {
            if (each.dtype().bytes() != 4) {
                for (size_t i = 0; i < to.size(); ++i)
                    to[i] = static_cast<std::byte>((i * 7 + static_cast<size_t>(which) * 13) % 50);
                return;
            }
            for (size_t i = 0; i < to.size() / 4; ++i) {
                const auto value = static_cast<float>((static_cast<int>(i) * 7 + which * 13) % 50);
                std::memcpy(to.data() + 4 * i, &value, sizeof value);
            }
        }));
    return out;
}

bool isSame(const std::vector<Tensor>& a, const std::vector<Tensor>& b)
{
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i].bytes().size() != b[i].bytes().size() ||
            std::memcmp(a[i].bytes().data(), b[i].bytes().data(), a[i].bytes().size()) != 0)
            return false;
    return true;
}

/// Bytes per second to the board and back, over an undisturbed line.
Status tellThroughput(MicroModel& model)
{
    constexpr int64_t kBytes = 16384;
    const auto array = model.session().allocate({core::DtypeKind::UInt, 8, 1}, {kBytes});
    if (!array) return array.error();
    std::vector<std::byte> bytes(static_cast<size_t>(kBytes));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31);
    const double start = steadySeconds();
    if (Status sent = model.session().copyTo(*array, bytes); !sent) return sent;
    const double there = steadySeconds();
    const auto back = model.session().copyFrom(*array);
    const double end = steadySeconds();
    if (!back) return back.error();
    if (std::memcmp(back->bytes().data(), bytes.data(), bytes.size()) != 0)
        return core::makeError(core::DiagnosticCode::NumericMismatch, "an array came back changed");
    std::printf("throughput  %.0f KB/s to the board, %.0f KB/s back\n",
                static_cast<double>(kBytes) / 1e3 / (there - start),
                static_cast<double>(kBytes) / 1e3 / (end - there));
    return model.session().release(*array);
}

struct Harmed
{
    double seconds = 0;
    int64_t inferences = 0;
    int64_t requestsBefore = 0;
    int silences = 0; ///< boards that were given up, and started anew
};

Status tellEnd(MicroModel& model, const HarmfulLine& line, const Harmed& run)
{
    const auto counted = model.statistics();
    if (!counted) return counted.error();
    const MicroLineCounters& sent = model.lineCounters();
    const auto requests = static_cast<double>(sent.requests - run.requestsBefore);
    const LineHarms& harms = line.harms();
    std::printf("rounds      %lld inferences, %.0f requests in %.1f s, %.1f a second\n",
                static_cast<long long>(run.inferences), requests, run.seconds,
                requests / run.seconds);
    std::printf(
        "harm        %lld lost, %lld damaged, %lld repeated, %lld resets in the middle of a "
        "request, %lld of an answer\n",
        static_cast<long long>(harms.dropped), static_cast<long long>(harms.corrupted),
        static_cast<long long>(harms.repeated), static_cast<long long>(harms.requestResets),
        static_cast<long long>(harms.answerResets));
    std::printf("recovery    %lld of %lld frames behind a harmed one understood at once\n",
                static_cast<long long>(harms.framesBehindHarm - harms.framesLostToo),
                static_cast<long long>(harms.framesBehindHarm));
    std::printf("mended      %lld requests sent again, %d restarts noticed, %lld damaged frames "
                "here\n",
                static_cast<long long>(sent.resent), model.restarts(),
                static_cast<long long>(sent.badFrames));
    std::printf("board       since its last start %llu runs, %llu frames, %llu damaged, %llu "
                "requests repeated, stack %llu of %llu B\n",
                static_cast<unsigned long long>(counted->runs),
                static_cast<unsigned long long>(counted->frames),
                static_cast<unsigned long long>(counted->badFrames),
                static_cast<unsigned long long>(counted->repeated),
                static_cast<unsigned long long>(counted->stackPeakBytes),
                static_cast<unsigned long long>(counted->stackBytes));
    if (run.silences > 0)
        std::printf("stopped     %d boards neither answered nor ended, and were started anew\n",
                    run.silences);
    return core::kDone;
}

/// What must not have happened besides wrong results.
Status judge(const MicroModel& model, const HarmfulLine& line)
{
    const LineHarms& harms = line.harms();
    const auto failed = [](const std::string& what) {
        return core::makeError(core::DiagnosticCode::BoardFailure, what);
    };
    if (harms.ends > 0)
        return failed(std::to_string(harms.ends) +
                      " boards ended by themselves: " + line.lastWords());
    if (harms.framesLostToo > 0) return failed("frames behind a harmed one were lost, too");
    if (harms.resets() > 0 && model.restarts() == 0)
        return failed("the board was reset and nobody noticed");
    return core::kDone;
}

struct Answers
{
    std::vector<std::vector<Tensor>> inputs, right;
};

/// By a line that does no harm.
Result<Answers> knownAnswers(MicroModel& model)
{
    const auto blank = blankInputs(model);
    if (!blank) return blank.error();
    Answers out;
    for (int i = 0; i < kInputs; ++i) {
        out.inputs.push_back(inputsOf(*blank, i));
        auto outputs = model.infer(out.inputs.back());
        if (!outputs) return outputs.error();
        out.right.push_back(std::move(*outputs));
    }
    if (isSame(out.right[0], out.right[1]))
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "the model's results do not tell its inputs apart");
    return out;
}

/// A board that stopped is told of and started anew; everything else that fails ends the campaign.
Result<Harmed> inferUnderHarm(MicroModel& model, HarmfulLine& line, const Campaign& campaign,
                              const Answers& known)
{
    std::mt19937 random(campaign.seed);
    const double begun = steadySeconds();
    Harmed run{.requestsBefore = model.lineCounters().requests};
    for (; model.lineCounters().requests - run.requestsBefore < campaign.rounds; ++run.inferences) {
        const auto which = static_cast<size_t>(random() % kInputs);
        const auto outputs = model.infer(known.inputs[which]);
        if (!outputs && outputs.error().code == core::DiagnosticCode::TimedOut &&
            run.silences < kMostSilences) {
            std::printf("inference %lld: %s\n", static_cast<long long>(run.inferences),
                        outputs.error().text().c_str());
            ++run.silences;
            if (Status again = line.begin(); !again) return again.error();
            continue;
        }
        if (!outputs) return outputs.error();
        if (!isSame(*outputs, known.right[which]))
            return core::makeError(core::DiagnosticCode::NumericMismatch,
                                   "inference " + std::to_string(run.inferences) +
                                       ": a wrong result");
    }
    run.seconds = steadySeconds() - begun;
    return run;
}

Status run(const Campaign& campaign)
{
    const auto start = [&] { return startProgramLine(campaign.project + "/serve.sh"); };
    auto owned = std::make_unique<HarmfulLine>(start, LineHarm{}, campaign.seed);
    HarmfulLine& line = *owned;
    if (Status begun = line.begin(); !begun) return begun;
    // The emulated UART takes some 20 KB a second.
    const MicroPace pace{std::chrono::milliseconds(100), std::chrono::milliseconds(1000)};
    auto model = MicroModel::open(std::move(owned), "default", {std::chrono::seconds(20)}, pace);
    if (!model) return model.error();
    (*model)->setPatience({std::chrono::seconds(60)});
    if (Status told = tellThroughput(**model); !told) return told;
    const auto known = knownAnswers(**model);
    if (!known) return known.error();
    line.setHarm(kHarm);
    const auto harmed = inferUnderHarm(**model, line, campaign, *known);
    if (!harmed) return harmed.error();
    line.setHarm({});
    if (Status told = tellEnd(**model, line, *harmed); !told) return told;
    return judge(**model, line);
}

} // namespace
} // namespace tenon::remote

int main(int argc, char** argv)
{
    tenon::remote::Campaign campaign;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--rounds" && i + 1 < argc)
            campaign.rounds = std::atoi(argv[++i]);
        else if (word == "--seed" && i + 1 < argc)
            campaign.seed = static_cast<uint32_t>(std::atoi(argv[++i]));
        else
            campaign.project = word;
    }
    if (campaign.project.empty() || campaign.rounds < 1) {
        std::fprintf(stderr, "usage: line_campaign PROJECT [--rounds N] [--seed S]\n");
        return 2;
    }
    const auto done = tenon::remote::run(campaign);
    if (done) return 0;
    std::fprintf(stderr, "%s\n", done.error().text().c_str());
    return 1;
}
