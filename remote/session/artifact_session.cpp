// SPDX-License-Identifier: Apache-2.0
// Loading, inputs and runs of an artifact in a server, and what the server's death means.
#include "remote/session/artifact_session.h"

#include "core/artifact/manifest.h"
#include "core/base/board_code.h"
#include "core/base/text.h"
#include "core/target/thread_choice.h"
#include "remote/session/child_process.h"
#include "remote/session/tensor_specs.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tenon::remote {

using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using core::Tensor;

namespace {

constexpr const char* kCrashed = "crashed: signal ";

Result<std::vector<TensorSpec>> parseSpecs(const nlohmann::json& list)
{
    std::vector<TensorSpec> specs;
    for (const nlohmann::json& item : list) {
        const Result<core::DataType> dtype = core::parseDataType(item.value("dtype", ""));
        if (!dtype) return dtype.error();
        specs.push_back(
            {item.value("name", ""), *dtype, item.value("shape", std::vector<int64_t>{})});
    }
    return specs;
}

/// A declared size of -1 is any.
bool fitsShape(const std::vector<int64_t>& declared, const std::vector<int64_t>& shape)
{
    return std::equal(declared.begin(), declared.end(), shape.begin(), shape.end(),
                      [](int64_t any, int64_t size) { return any == -1 || any == size; });
}

/// The number behind "in call " of a crash message, or -1.
int callOfCrash(const std::string& message)
{
    const std::string key = " in call ";
    const size_t at = message.find(key);
    return at == std::string::npos ? -1 : std::atoi(message.c_str() + at + key.size());
}

/// Signals that are no fault of the code.
bool wasSentBySomebody(int signal)
{
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT ||
           signal == SIGKILL;
}

/// The server's own words for memory that ran out deserve their own code.
core::Diagnostic asMemoryProblem(core::Diagnostic error)
{
    if (error.message.find("out of memory") != std::string::npos ||
        error.message.find("exceed the memory") != std::string::npos ||
        error.message.find("a run may take") != std::string::npos)
        error.code = DiagnosticCode::OutOfMemory;
    return error;
}

} // namespace

void addCall(const std::string& artifactPath, int call, core::Diagnostic& error)
{
    error.message += " in call " + std::to_string(call);
    const Result<core::Manifest> manifest = core::readManifest(artifactPath);
    if (!manifest || call < 0 || static_cast<size_t>(call) >= manifest->calls.size()) return;
    const core::ManifestCall& found = manifest->calls[static_cast<size_t>(call)];
    error.message += " " + core::quoted(found.name);
    if (found.fromNodes.empty()) return;
    error.message += " of nodes " + core::join(found.fromNodes, ", ");
    error.location.node = found.fromNodes.front();
}

ArtifactSession::ArtifactSession(const RunRequest& request, std::unique_ptr<ServerEnd> server,
                                 std::unique_ptr<RpcSession> rpc)
    : m_path(request.artifactPath)
    , m_loadName(request.loadName)
    , m_emulator(request.emulator.empty() ? "" : request.emulator.front())
    , m_threads(std::max(1u, request.threads))
    , m_wantedThreads(m_threads)
    , m_mayExceed(request.mayExceedProcessors)
    , m_poison(request.poison)
    , m_timeout(request.timeout)
    , m_server(std::move(server))
    , m_rpc(std::move(rpc))
{
}

/// A failed exchange as the user should read it; a dead child becomes a BoardFailure.
core::Diagnostic ArtifactSession::explain(const core::Diagnostic& error)
{
    const bool saidSo = error.message.starts_with(kCrashed);
    if (error.code != DiagnosticCode::RpcFailure && error.code != core::BoardCode::DataFault)
        return error;
    if (!saidSo && !m_rpc->isBroken()) return asMemoryProblem(error);
    m_isDead = true;
    if (!saidSo)
        if (std::optional<core::Diagnostic> lost = m_server->lostLink()) return *lost;
    const int signal = saidSo ? std::atoi(error.message.c_str() + std::strlen(kCrashed))
                              : m_server->signalOfDeath(std::chrono::seconds(2));
    if (saidSo) m_crashedCall = callOfCrash(error.message);
    if (signal == SIGABRT && !saidSo && !m_emulator.empty()) return emulatorFault();
    std::string text = "the compiled code ended its process";
    if (signal != 0) text = "the compiled code crashed with " + signalName(signal);
    if (wasSentBySomebody(signal)) text = "the process was ended with " + signalName(signal);
    if (signal == SIGKILL)
        text = "the process was killed with SIGKILL; somebody ended it or memory ran out";
    core::Diagnostic diagnostic = makeError(DiagnosticCode::BoardFailure, text, {.file = m_path});
    if (!wasSentBySomebody(signal)) diagnostic.crashSignal = signal;
    if (m_crashedCall >= 0) addCall(m_path, m_crashedCall, diagnostic);
    if (saidSo) diagnostic.location.detail = error.message.substr(std::strlen("crashed: "));
    return diagnostic;
}

/// A server that is told to abort says so first: the signal was meant for what runs it.
core::Diagnostic ArtifactSession::emulatorFault()
{
    m_hasEmulatorFailed = true;
    std::string words(core::trimmed(m_server->lastWords()));
    words = words.substr(words.rfind('\n') + 1);
    return makeError(DiagnosticCode::BoardFailure,
                     "the emulator " +
                         core::quoted(std::filesystem::path(m_emulator).filename().string()) +
                         " aborted" + (words.empty() ? "" : " with \"" + words + "\"") +
                         "; that is its own fault and not the model's, try another version of it "
                         "or a board",
                     {.file = m_path});
}

Result<RemoteHandle> ArtifactSession::method(const std::string& name)
{
    for (const auto& [known, handle] : m_methods)
        if (known == name) return handle;
    const Result<RemoteHandle> found = m_rpc->moduleFunction(m_executor, name);
    if (found) m_methods.emplace_back(name, *found);
    return found;
}

Result<Reply> ArtifactSession::callMethod(const std::string& name, const PackedArgs& arguments)
{
    const Result<RemoteHandle> function = method(name);
    if (!function) return explain(function.error());
    Result<Reply> reply = m_rpc->call(*function, arguments);
    if (!reply) return explain(reply.error());
    return reply;
}

/// Servers of others have fewer functions; what only serves precision may be missing.
Status ArtifactSession::callIfPresent(const std::string& name, const PackedArgs& arguments)
{
    const Result<RemoteHandle> function = m_rpc->globalFunction(name);
    if (!function) return explain(function.error());
    if (!*function) return core::kDone;
    const Result<Reply> reply = m_rpc->call(*function, arguments);
    if (!reply) return explain(reply.error());
    const Status released = m_rpc->release(*function);
    return released ? released : Status(explain(released.error()));
}

/// What a function of the server without arguments counts; 0 where it has no such function.
Result<int64_t> ArtifactSession::countOf(const std::string& name)
{
    const Result<Reply> reply = m_rpc->callGlobal(name, {});
    if (!reply && (m_rpc->isBroken() || reply.error().code == DiagnosticCode::Cancelled))
        return explain(reply.error());
    return reply ? reply->integer : 0;
}

/// Never more than the system gives, unless it was asked for: threads that wait for the processor
/// of another are slower than fewer ones.
Status ArtifactSession::setThreads()
{
    const Result<int64_t> usable = countOf("tenon.usable_processors");
    if (!usable) return usable.error();
    if (*usable > 0 && *usable <= core::kMostThreads) m_usable = static_cast<unsigned>(*usable);
    if (m_usable > 0 && !m_mayExceed) m_threads = std::min(m_threads, m_usable);
    return callIfPresent("runtime.config_threadpool",
                         PackedArgs().integer(0).integer(static_cast<int64_t>(m_threads)));
}

Status ArtifactSession::load(const JobContext& job)
{
    start(job);
    if (Status set = setThreads(); !set) return set;
    if (Status set = callIfPresent("tenon.poison_memory", PackedArgs().integer(m_poison ? 1 : 0));
        !set)
        return set;
    std::error_code failed;
    const std::string path =
        m_loadName.empty() ? std::filesystem::absolute(m_path, failed).string() : m_loadName;
    const Result<Reply> module =
        m_rpc->callGlobal("tvm.rpc.server.load_module", PackedArgs().text(path));
    if (!module) {
        const core::Diagnostic error = explain(module.error()); // its constructors may crash
        if (isBroken() || error.code != core::BoardCode::DataFault) return error;
        return makeError(DiagnosticCode::BadArtifact, error.message);
    }
    const Result<RemoteHandle> factory = m_rpc->moduleFunction(module->handle, "default");
    if (!factory && factory.error().code != DiagnosticCode::UnknownName)
        return explain(factory.error()); // stopped, or the link broke
    if (!factory)
        return makeError(DiagnosticCode::BadArtifact,
                         core::quoted(m_path) +
                             " is no compiled model; it has no executor factory");
    const Result<Reply> executor = m_rpc->call(*factory, PackedArgs().cpu());
    if (!executor) return explain(executor.error());
    m_executor = executor->handle;
    return describe();
}

Status ArtifactSession::describe()
{
    const Result<Reply> reply = callMethod("get_input_info", {});
    if (!reply && isBroken()) return reply.error();
    if (!reply || reply->code != kTVMStr) return describeByManifest();
    const nlohmann::json text = nlohmann::json::parse(reply->text, nullptr, false);
    if (!text.is_object())
        return makeError(DiagnosticCode::RpcFailure, "the server described the model unreadably");
    const Result<std::vector<TensorSpec>> inputs = parseSpecs(text["inputs"]);
    const Result<std::vector<TensorSpec>> outputs = parseSpecs(text["outputs"]);
    if (!inputs) return inputs.error();
    if (!outputs) return outputs.error();
    m_inputs = *inputs;
    m_outputs = *outputs;
    return core::kDone;
}

/// For servers of others, whose executors describe themselves by objects that stay there.
Status ArtifactSession::describeByManifest()
{
    const Result<core::Manifest> manifest = core::readManifest(m_path);
    if (!manifest) return manifest.error();
    const Result<std::vector<TensorSpec>> inputs = specsOf(manifest->inputs);
    const Result<std::vector<TensorSpec>> outputs = specsOf(manifest->outputs);
    if (!inputs) return inputs.error();
    if (!outputs) return outputs.error();
    m_inputs = *inputs;
    m_outputs = *outputs;
    return core::kDone;
}

Result<RemoteTensor> ArtifactSession::inputBuffer(const TensorSpec& spec,
                                                  const std::vector<int64_t>& shape)
{
    for (auto buffer = m_buffers.begin(); buffer != m_buffers.end(); ++buffer) {
        if (buffer->first != spec.name) continue;
        if (buffer->second.shape == shape) return buffer->second;
        if (Status released = m_rpc->release(buffer->second); !released) return released.error();
        m_buffers.erase(buffer);
        break;
    }
    const Result<RemoteTensor> made = m_rpc->allocate(spec.dtype, shape);
    if (made) m_buffers.emplace_back(spec.name, *made);
    return made;
}

Status ArtifactSession::setInputs(const NamedTensors& inputs, const JobContext& job)
{
    start(job);
    for (const auto& [name, tensor] : inputs) {
        const Result<size_t> place = placeOfInput(name, tensor, m_inputs, fitsShape);
        if (!place) return place.error();
        const Result<RemoteTensor> buffer = inputBuffer(m_inputs[*place], tensor.shape());
        if (!buffer) return explain(buffer.error());
        if (Status copied = m_rpc->copyTo(*buffer, tensor.bytes()); !copied)
            return explain(copied.error());
        const Result<Reply> set = callMethod("set_input", PackedArgs().text(name).tensor(*buffer));
        if (!set) return set.error();
    }
    return core::kDone;
}

Result<std::vector<Tensor>> ArtifactSession::run(const JobContext& job)
{
    if (Status ran = execute(job); !ran) return ran.error();
    return fetchOutputs(job);
}

Status ArtifactSession::execute(const JobContext& job)
{
    start(job);
    const Result<Reply> ran = callMethod("run", {});
    if (!ran) return ran.error();
    return core::kDone;
}

Result<std::vector<Tensor>> ArtifactSession::fetchOutputs(const JobContext& job)
{
    start(job);
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < m_outputs.size(); ++i) {
        const Result<Reply> output =
            callMethod("get_output", PackedArgs().integer(static_cast<int64_t>(i)));
        if (!output) return output.error();
        const Result<Tensor> copied = m_rpc->copyFrom(output->tensor);
        if (!copied) return explain(copied.error());
        if (Status released = m_rpc->release(output->tensor); !released)
            return explain(released.error());
        outputs.push_back(*copied);
    }
    return outputs;
}

Status ArtifactSession::runInstrumented(const JobContext& job)
{
    start(job);
    const Result<Reply> reply = callMethod("profile", PackedArgs().integer(1));
    if (!reply) return reply.error();
    return core::kDone;
}

} // namespace tenon::remote
