// SPDX-License-Identifier: Apache-2.0
// Hands a module and its inputs to Node and reads outputs and times back, by way of files.
#include "remote/session/wasm_session.h"

#include "core/base/file.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tenon::remote {

using core::JobContext;
using core::Result;
using core::Status;

namespace {

using Json = nlohmann::json;

Json specsJson(const std::vector<TensorSpec>& specs)
{
    Json out = Json::array();
    for (const TensorSpec& spec : specs)
        out.push_back({{"code", static_cast<int>(spec.dtype.kind)},
                       {"bits", spec.dtype.bits},
                       {"shape", spec.shape},
                       {"bytes", core::elementCount(spec.shape) * spec.dtype.bytes()}});
    return out;
}

} // namespace

Result<std::unique_ptr<LocalSession>> WasmSession::open(const RunRequest& request)
{
    std::unique_ptr<WasmSession> session(new WasmSession(request));
    if (Status read = session->readManifest(); !read) return read.error();
    return std::unique_ptr<LocalSession>(std::move(session));
}

Result<Timing> WasmSession::runOn(const core::TemporaryFolder& folder, const TimingRequest& timing,
                                  const JobContext& job)
{
    const std::string prefix = "tvmgen_" + m_manifest.moduleName;
    const Json request = {
        {"entry", prefix + "___tvm_main__"}, {"profile", prefix + "___tenon_profile__"},
        {"perCall", timing.perCall},         {"inputs", specsJson(m_inputs)},
        {"outputs", specsJson(m_outputs)},   {"number", std::max(1, timing.number)},
        {"repeat", timing.repeat},           {"minRepeatMs", timing.minRepeatMs}};
    if (Status done = core::writeFileAtomically(folder.file("request"), request.dump()); !done)
        return done.error();
    std::vector<std::string> command = m_request.emulator;
    command.insert(command.end(),
                   {"-e", wasmHostText(), "--", m_request.artifactPath, folder.file("request"),
                    folder.file("input"), folder.file("output"), folder.file("times")});
    if (Status ran = runToEnd(command, job); !ran) return ran.error();
    const Result<std::string> times = core::readFile(folder.file("times"));
    if (!times) return times.error();
    const Json said = Json::parse(*times);
    Timing out;
    out.runsMs = said["runsMs"].get<std::vector<double>>();
    for (const Json& call : said["callsMs"]) {
        out.callMs.push_back(summarize(call.get<std::vector<double>>()).median);
        out.callSumMs += out.callMs.back();
    }
    return out;
}

std::string WasmSession::hygieneWarning() const
{
    return "timed inside node, on one thread and tied to no CPU";
}

} // namespace tenon::remote
