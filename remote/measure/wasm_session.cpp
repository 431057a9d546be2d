// SPDX-License-Identifier: Apache-2.0
// Hands a module and its inputs to Node and reads outputs and times back, by way of files.
#include "remote/measure/wasm_session.h"

#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "remote/virtual/run_program.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace tenon::remote {

using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using core::Tensor;

namespace {

using Json = nlohmann::json;

int64_t bytesOf(const TensorSpec& spec)
{
    return core::elementCount(spec.shape) * spec.dtype.bytes();
}

Json specsJson(const std::vector<TensorSpec>& specs)
{
    Json out = Json::array();
    for (const TensorSpec& spec : specs)
        out.push_back({{"code", static_cast<int>(spec.dtype.kind)},
                       {"bits", spec.dtype.bits},
                       {"shape", spec.shape},
                       {"bytes", bytesOf(spec)}});
    return out;
}

Result<std::vector<TensorSpec>> specsOf(const std::vector<core::ManifestTensor>& tensors)
{
    std::vector<TensorSpec> out;
    for (const core::ManifestTensor& tensor : tensors) {
        const Result<core::DataType> dtype = core::parseDataType(tensor.dtype);
        if (!dtype) return dtype.error();
        out.push_back({tensor.name, *dtype, tensor.shape});
    }
    return out;
}

/// Cuts the bytes into the outputs.
Result<std::vector<Tensor>> tensorsOf(const std::string& bytes,
                                      const std::vector<TensorSpec>& specs)
{
    std::vector<Tensor> out;
    size_t at = 0;
    for (const TensorSpec& spec : specs) {
        const auto size = static_cast<size_t>(bytesOf(spec));
        if (size > bytes.size() - at)
            return makeError(DiagnosticCode::BoardFailure, "node wrote too few bytes");
        out.push_back(Tensor::make(spec.dtype, spec.shape, [&](std::span<std::byte> to) {
            std::memcpy(to.data(), bytes.data() + at, size);
        }));
        at += size;
    }
    return out;
}

} // namespace

Result<std::unique_ptr<LocalSession>> WasmSession::open(const RunRequest& request)
{
    const Result<core::Manifest> manifest = core::readManifest(request.artifactPath);
    if (!manifest) return manifest.error();
    Result<std::vector<TensorSpec>> inputs = specsOf(manifest->inputs);
    Result<std::vector<TensorSpec>> outputs = specsOf(manifest->outputs);
    if (!inputs) return inputs.error();
    if (!outputs) return outputs.error();
    std::unique_ptr<WasmSession> session(new WasmSession(request));
    session->m_prefix = "tvmgen_" + manifest->moduleName;
    session->m_values.resize(inputs->size());
    session->m_inputs = std::move(*inputs);
    session->m_outputs = std::move(*outputs);
    return std::unique_ptr<LocalSession>(std::move(session));
}

Status WasmSession::setInputs(const NamedTensors& inputs, const JobContext&)
{
    for (const auto& [name, tensor] : inputs) {
        const auto spec = std::find_if(m_inputs.begin(), m_inputs.end(),
                                       [&](const TensorSpec& s) { return s.name == name; });
        if (spec == m_inputs.end())
            return makeError(DiagnosticCode::UnknownName,
                             "the model has no input " + core::quoted(name));
        if (spec->dtype != tensor.dtype() || spec->shape != tensor.shape())
            return makeError(DiagnosticCode::ShapeMismatch,
                             "input " + core::quoted(name) + " is " + tensor.typeText() +
                                 ", but the model was compiled for " + spec->dtype.text() + "(" +
                                 core::join(spec->shape, ", ") + ")");
        m_values[static_cast<size_t>(spec - m_inputs.begin())] = tensor;
    }
    return core::kDone;
}

Result<Timing> WasmSession::start(const TimingRequest& timing, std::vector<Tensor>& outputs,
                                  const JobContext& job)
{
    const Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-wasm-");
    if (!folder) return folder.error();
    std::string given;
    for (size_t i = 0; i < m_inputs.size(); ++i) {
        if (m_values[i].isNull()) {
            given.append(static_cast<size_t>(bytesOf(m_inputs[i])), '\0');
            continue;
        }
        const auto bytes = m_values[i].bytes();
        given.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    const Json request = {{"entry", m_prefix + "___tvm_main__"},
                          {"profile", m_prefix + "___tenon_profile__"},
                          {"perCall", timing.perCall},
                          {"inputs", specsJson(m_inputs)},
                          {"outputs", specsJson(m_outputs)},
                          {"number", std::max(1, timing.number)},
                          {"repeat", timing.repeat},
                          {"minRepeatMs", timing.minRepeatMs}};
    for (const auto& [name, text] :
         {std::pair<const char*, std::string>{"request", request.dump()}, {"input", given}})
        if (Status done = core::writeFileAtomically(folder->file(name), text); !done)
            return done.error();
    std::vector<std::string> command = m_request.emulator;
    command.insert(command.end(),
                   {"-e", wasmHostText(), "--", m_request.artifactPath, folder->file("request"),
                    folder->file("input"), folder->file("output"), folder->file("times")});
    const Status ran = runProgram(command, job, m_request.timeout);
    if (!ran && ran.error().code == DiagnosticCode::IoFailure)
        return makeError(DiagnosticCode::BoardFailure, ran.error().message,
                         {.file = m_request.artifactPath});
    if (!ran) return ran.error();
    const Result<std::string> bytes = core::readFile(folder->file("output"));
    const Result<std::string> times = core::readFile(folder->file("times"));
    if (!bytes) return bytes.error();
    if (!times) return times.error();
    Result<std::vector<Tensor>> read = tensorsOf(*bytes, m_outputs);
    if (!read) return read.error();
    outputs = std::move(*read);
    const Json said = Json::parse(*times);
    Timing out;
    out.runsMs = said["runsMs"].get<std::vector<double>>();
    for (const Json& call : said["callsMs"]) {
        out.callMs.push_back(summarize(call.get<std::vector<double>>()).median);
        out.callSumMs += out.callMs.back();
    }
    return out;
}

Result<std::vector<Tensor>> WasmSession::run(const JobContext& job)
{
    std::vector<Tensor> outputs;
    const Result<Timing> ran = start({.number = 1, .repeat = 0}, outputs, job);
    if (!ran) return ran.error();
    return outputs;
}

Result<Timing> WasmSession::measure(const TimingRequest& request, const JobContext& job)
{
    std::vector<Tensor> outputs;
    Result<Timing> timing = start(request, outputs, job);
    if (!timing) return timing;
    timing->summaryMs = summarize(timing->runsMs);
    timing->hygiene.warnings.push_back("timed inside node, on one thread and tied to no CPU");
    if (request.coldCache) timing->hygiene.warnings.push_back("caches were not emptied");
    return timing;
}

} // namespace tenon::remote
