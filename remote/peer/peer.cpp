// SPDX-License-Identifier: Apache-2.0
// The conversation with the program around ONNX Runtime.
#include "remote/peer/peer.h"

#include "core/base/file.h"
#include "core/base/program_files.h"
#include "core/base/temporary_folder.h"
#include "core/tensor/onnx_tensor.h"
#include "remote/peer/peer_program.h"

#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace tenon::remote {

using core::JobContext;
using core::Result;
using core::Status;
using Json = nlohmann::json;

namespace {

constexpr int kGlanceMs = 50;

core::Diagnostic failure(const std::string& message)
{
    return core::makeError(core::DiagnosticCode::UnsupportedFeature, message);
}

/// An answer that is no error.
Result<Json> understood(const std::string& line)
{
    const Json answer = Json::parse(line, nullptr, false);
    if (!answer.is_object()) return failure("ONNX Runtime's process answered no JSON");
    const auto error = answer.find("error");
    if (error == answer.end()) return answer;
    return failure("onnxruntime: " + (error->is_string() ? error->get<std::string>() : ""));
}

} // namespace

std::string libraryOfPeer()
{
    const char* library = std::getenv("TENON_ONNXRUNTIME");
    return library ? library : "";
}

Peer::Peer(ChildProcess child)
    : m_child(std::move(child))
    , m_socket(m_child.takeSocket())
{
}

Peer::~Peer() { ::close(m_socket); }

Result<std::string> Peer::readLine(const JobContext& job)
{
    for (;;) {
        if (const size_t end = m_received.find('\n'); end != std::string::npos) {
            std::string line = m_received.substr(0, end);
            m_received.erase(0, end + 1);
            return line;
        }
        if (Status go = job.checkStop(); !go) return go.error();
        pollfd ready{.fd = m_socket, .events = POLLIN, .revents = 0};
        if (::poll(&ready, 1, kGlanceMs) <= 0) continue;
        char bytes[4096];
        const ssize_t count = ::read(m_socket, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count > 0) {
            m_received.append(bytes, static_cast<size_t>(count));
            continue;
        }
        const int signal = m_child.signalOfDeath(std::chrono::seconds(2));
        return failure("ONNX Runtime's process " +
                       (signal != 0 ? "crashed with " + signalName(signal) : "ended") +
                       " while it worked on the model");
    }
}

Result<std::unique_ptr<Peer>> Peer::start(const PeerRequest& request, const JobContext& job)
{
    // Read before the first line of the answer.
    const auto folder = core::TemporaryFolder::make("tenon-peer-");
    if (!folder) return folder.error();
    for (size_t i = 0; i < request.inputs.size(); ++i) {
        const auto& [name, tensor] = request.inputs[i];
        const std::string path = folder->file("input_" + std::to_string(i) + ".pb");
        const std::string bytes = core::onnxTensorBytes(core::onnxTensorOf(tensor, name));
        if (Status done = core::writeFileAtomically(path, bytes); !done) return done.error();
    }
    const std::string program = request.program.empty() ? core::thisProgram() : request.program;
    std::vector<std::string> arguments = {kPeerCommand, request.library, request.model,
                                          folder->path(), std::to_string(request.threads)};
    if (!request.isOptimised) arguments.emplace_back(kAsWritten);
    Result<ChildProcess> child = ChildProcess::start(program, arguments);
    if (!child) return child.error();
    std::unique_ptr<Peer> peer(new Peer(std::move(*child)));
    const Result<std::string> line = peer->readLine(job);
    if (!line) return line.error();
    const Result<Json> hello = understood(*line);
    if (!hello) return hello.error();
    peer->m_name = hello->value("name", "");
    peer->m_version = hello->value("version", "");
    return peer;
}

Status Peer::send(const std::string& command)
{
    // Shorter than any socket's buffer; what is not taken is a process that is gone.
    if (::send(m_socket, command.data(), command.size(), MSG_NOSIGNAL) ==
        static_cast<ssize_t>(command.size()))
        return core::kDone;
    return failure("ONNX Runtime's process is gone");
}

Status Peer::writeOutputs(const std::string& folder, const JobContext& job)
{
    if (Status sent = send("write " + folder + "\n"); !sent) return sent;
    const Result<std::string> line = readLine(job);
    if (!line) return line.error();
    const Result<Json> answer = understood(*line);
    return answer ? core::kDone : Status(answer.error());
}

Result<std::string> Peer::difference(const std::vector<core::Tensor>& outputs, double share,
                                     const JobContext& job)
{
    const auto folder = core::TemporaryFolder::make("tenon-peer-");
    if (!folder) return folder.error();
    for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string name = "output_" + std::to_string(i);
        const std::string bytes = core::onnxTensorBytes(core::onnxTensorOf(outputs[i], name));
        if (Status done = core::writeFileAtomically(folder->file(name + ".pb"), bytes); !done)
            return done.error();
    }
    if (Status sent = send("check " + folder->path() + " " + std::to_string(share) + "\n"); !sent)
        return sent.error();
    const Result<std::string> line = readLine(job);
    if (!line) return line.error();
    const Result<Json> answer = understood(*line);
    if (!answer) return answer.error();
    return answer->value("difference", "onnxruntime compared nothing");
}

Result<std::vector<double>> Peer::time(const PeerSamples& samples, const JobContext& job)
{
    const std::string command = "sample " + std::to_string(samples.count) + " " +
                                std::to_string(samples.number) + " " +
                                std::to_string(samples.minRepeatMs) + "\n";
    if (Status sent = send(command); !sent) return sent.error();
    const Result<std::string> line = readLine(job);
    if (!line) return line.error();
    const Result<Json> answer = understood(*line);
    if (!answer) return answer.error();
    const auto ms = answer->find("ms");
    if (ms == answer->end() || !ms->is_array()) return failure("onnxruntime gave no times");
    std::vector<double> out;
    for (const Json& value : *ms)
        if (value.is_number()) out.push_back(value.get<double>());
    return out;
}

} // namespace tenon::remote
