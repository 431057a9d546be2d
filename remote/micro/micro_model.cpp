// SPDX-License-Identifier: Apache-2.0
// TVM's functions of a model, and Tenon's own of the board.
#include "remote/micro/micro_model.h"

#include "core/base/board_code.h"
#include "core/base/text.h"

#include <cstring>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;
using core::Tensor;

namespace {

/// A board that starts anew again and again is no board to wait for.
constexpr int kMostRestarts = 20;

core::Diagnostic unexpected()
{
    return makeError(DiagnosticCode::RpcFailure, "the board answered something unexpected");
}

} // namespace

MicroModel::MicroModel(std::unique_ptr<MicroLine> line, std::string model, const MicroPace& pace)
    : m_exchange(std::move(line), pace)
    , m_name(std::move(model))
{
}

Result<std::unique_ptr<MicroModel>> MicroModel::open(std::unique_ptr<MicroLine> line,
                                                     const std::string& model,
                                                     const Patience& patience,
                                                     const MicroPace& pace)
{
    std::unique_ptr<MicroModel> out(new MicroModel(std::move(line), model, pace));
    out->m_patience = patience;
    Status ready = out->connect();
    while (!ready && out->m_exchange.isSessionLost() && out->m_restarts < kMostRestarts &&
           ready.error().code == core::BoardCode::LinkLost) {
        ++out->m_restarts;
        ready = out->connect();
    }
    if (!ready) return ready.error();
    return out;
}

void MicroModel::setPatience(const Patience& patience)
{
    m_patience = patience;
    m_session->setPatience(patience);
}

Status MicroModel::connect()
{
    m_session.reset(); // its goodbye would end the next one
    if (Status started = m_exchange.start(m_patience); !started) return started;
    auto carrier = std::make_unique<MicroCarrier>(m_exchange);
    MicroCarrier& limits = *carrier;
    m_session = RpcSession::over(std::move(carrier), m_patience);
    const auto most = m_session->callGlobal("tvm.rpc.server.GetCRTMaxPacketSize", PackedArgs());
    if (!most) return most.error();
    if (most->integer > 0) limits.setMostBytes(static_cast<size_t>(most->integer));
    const auto library = m_session->callGlobal("runtime.SystemLib", PackedArgs());
    if (!library) return library.error();
    m_library = library->handle;
    const auto module = m_session->callGlobal("tvm.aot_executor.create",
                                              PackedArgs().handle(m_library).cpu().text(m_name));
    if (!module) return module.error();
    m_module = module->handle;
    const auto run = m_session->moduleFunction(m_module, "run");
    if (!run) return run.error();
    m_run = *run;
    return core::kDone;
}

Status MicroModel::reconnect()
{
    ++m_restarts;
    return connect();
}

Result<int64_t> MicroModel::count(const char* function)
{
    const auto handle = m_session->moduleFunction(m_module, function);
    if (!handle) return handle.error();
    const auto reply = m_session->call(*handle, PackedArgs());
    if (!reply) return reply.error();
    return reply->integer;
}

Result<std::vector<Tensor>> MicroModel::inferOnce(std::span<const Tensor> inputs)
{
    const auto inputCount = count("get_num_inputs");
    if (!inputCount) return inputCount.error();
    if (*inputCount != static_cast<int64_t>(inputs.size()))
        return makeError(DiagnosticCode::BadArgument,
                         "the model on the board takes " + std::to_string(*inputCount) +
                             " inputs; " + std::to_string(inputs.size()) + " were given");
    const auto getInput = m_session->moduleFunction(m_module, "get_input");
    const auto getOutput = getInput ? m_session->moduleFunction(m_module, "get_output") : getInput;
    if (!getOutput) return getOutput.error();
    for (size_t i = 0; i < inputs.size(); ++i) {
        const auto there =
            m_session->call(*getInput, PackedArgs().integer(static_cast<int64_t>(i)));
        if (!there) return there.error();
        const auto size = static_cast<size_t>(core::elementCount(there->tensor.shape) *
                                              there->tensor.dtype.bytes());
        if (size != inputs[i].bytes().size())
            return makeError(DiagnosticCode::BadArgument,
                             "input " + std::to_string(i) + " has " +
                                 core::bytesText(inputs[i].bytes().size()) +
                                 "; the model on the board takes " + core::bytesText(size));
        if (Status copied = m_session->copyTo(there->tensor, inputs[i].bytes()); !copied)
            return copied.error();
    }
    if (const auto ran = m_session->call(m_run, PackedArgs()); !ran) return ran.error();
    const auto outputCount = count("get_num_outputs");
    if (!outputCount) return outputCount.error();
    std::vector<Tensor> outputs;
    for (int64_t i = 0; i < *outputCount; ++i) {
        const auto there = m_session->call(*getOutput, PackedArgs().integer(i));
        if (!there) return there.error();
        auto values = m_session->copyFrom(there->tensor);
        if (!values) return values.error();
        outputs.push_back(std::move(*values));
    }
    return outputs;
}

Result<std::vector<Tensor>> MicroModel::infer(std::span<const Tensor> inputs)
{
    Status connected = core::kDone;
    for (int tries = 0;; ++tries) {
        const bool isLost = m_exchange.isSessionLost();
        if (isLost) connected = reconnect();
        Result<std::vector<Tensor>> outputs =
            connected ? inferOnce(inputs) : Result<std::vector<Tensor>>(connected.error());
        if (outputs || !m_exchange.isSessionLost() || tries == kMostRestarts ||
            outputs.error().code != core::BoardCode::LinkLost)
            return outputs;
    }
}

Result<std::vector<double>> MicroModel::time(int number, int repeat, int minRepeatMs)
{
    const auto evaluator =
        m_session->callGlobal("runtime.RPCTimeEvaluator", PackedArgs()
                                                              .handle(m_module)
                                                              .text("run")
                                                              .integer(kDLCPU)
                                                              .integer(0)
                                                              .integer(number)
                                                              .integer(repeat)
                                                              .integer(minRepeatMs)
                                                              .integer(0)
                                                              .integer(0)
                                                              .integer(1)
                                                              .integer(0)
                                                              .text(""));
    if (!evaluator) return evaluator.error();
    const auto seconds = m_session->call(evaluator->handle, PackedArgs());
    if (!seconds) return seconds.error();
    return seconds->doubles();
}

Result<std::vector<uint64_t>> MicroModel::numbers(const char* function)
{
    const auto reply = m_session->callGlobal(function, PackedArgs());
    if (!reply) return reply.error();
    if (reply->code != kTVMBytes || reply->text.size() % sizeof(uint64_t) != 0) return unexpected();
    std::vector<uint64_t> out(reply->text.size() / sizeof(uint64_t));
    std::memcpy(out.data(), reply->text.data(), reply->text.size());
    return out;
}

Result<std::vector<uint64_t>> MicroModel::profile() { return numbers("tenon.micro.profile"); }

Result<MicroStatistics> MicroModel::statistics()
{
    constexpr size_t kFixed = 12;
    constexpr uint64_t kVersion = 1;
    const auto got = numbers("tenon.micro.statistics");
    if (!got) return got.error();
    const std::vector<uint64_t>& n = *got;
    if (n.size() < kFixed || n[0] != kVersion || n.size() != kFixed + n[kFixed - 1])
        return unexpected();
    return MicroStatistics{
        n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], {n.begin() + kFixed, n.end()}};
}

Result<MicroBoard> describedBoard(RpcSession& session)
{
    MicroBoard out;
    const auto function = session.globalFunction("tenon.micro.board");
    if (!function) return function.error();
    if (!*function) return out;
    const auto reply = session.call(*function, PackedArgs());
    if (!reply) return reply.error();
    const size_t line = std::min(reply->text.find('\n'), reply->text.size());
    out.image = reply->text.substr(0, line);
    for (const std::string& word : core::split(reply->text.substr(line), ' ')) {
        const std::string each(core::trimmed(word));
        if (const size_t is = each.find('='); is != std::string::npos)
            out.words[each.substr(0, is)] = each.substr(is + 1);
    }
    return out;
}

Result<std::vector<std::string>> MicroModel::kernels()
{
    const auto reply = m_session->callGlobal("tenon.micro.functions", PackedArgs());
    if (!reply) return reply.error();
    std::vector<std::string> names = core::split(reply->text, '\n');
    std::erase(names, "");
    return names;
}

} // namespace tenon::remote
