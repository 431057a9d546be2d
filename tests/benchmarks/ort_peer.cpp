// SPDX-License-Identifier: Apache-2.0
// Runs a model on ONNX Runtime's C API and times it on demand: the peer of `./dev bench models`.
//
// usage: ort_peer LIBRARY MODEL DATA_SET_DIR THREADS
// Then one command per line on stdin: `run K` times K runs; `check` compares with output_*.pb.
// Each answer is one line of JSON. Inputs and outputs are bound once, all optimisations are on.
#include "core/base/text.h"
#include "tests/benchmarks/ort_api.h"
#include "tests/benchmarks/tensor_file.h"

#include <dlfcn.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>

namespace tenon::bench {
namespace {

using core::Result;
using core::Status;

core::Diagnostic failure(const std::string& message)
{
    return core::makeError(core::DiagnosticCode::BadArgument, message);
}

/// A session with everything bound; lives until the process ends.
class Peer
{
public:
    static Result<Peer> open(const char* library, const char* model, const std::string& dataSet,
                             int threads);

    Status run() { return call<ort::RunWithBinding>(m_session, nullptr, m_binding); }
    Result<double> maxAbsError(const std::string& dataSet);
    const char* version() const { return m_version; }

private:
    /// Calls one table entry; a non-null status becomes an error with its text.
    template <class Entry, class... Arguments>
    Status call(Arguments... arguments) const
    {
        const ort::Status status = Entry::of(m_table)(arguments...);
        if (!status) return core::kDone;
        return failure(ort::GetErrorMessage::of(m_table)(status));
    }

    Status load(const char* library);
    Status createSession(const char* model, int threads);
    Status bindInputs(const std::string& dataSet);
    Status bindOutputs();

    void* const* m_table = nullptr;
    const char* m_version = "";
    ort::Object m_session = nullptr;
    ort::Object m_binding = nullptr;
    ort::Object m_memory = nullptr;
    ort::Object m_allocator = nullptr;
    std::vector<TensorFile> m_inputs;
    std::vector<ort::Object> m_outputs;
};

Status Peer::load(const char* library)
{
    void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return failure(::dlerror());
    const auto getBase =
        reinterpret_cast<const ort::ApiBase* (*)()>(::dlsym(handle, "OrtGetApiBase"));
    if (!getBase) return failure("library has no OrtGetApiBase");
    m_version = getBase()->getVersionString();
    m_table = getBase()->getApi(ort::kApiVersion);
    if (!m_table) return failure("library does not offer API version 7");
    return core::kDone;
}

Status Peer::createSession(const char* model, int threads)
{
    ort::Object env = nullptr;
    ort::Object options = nullptr;
    Status done = call<ort::CreateEnv>(ort::kLogWarning, "peer", &env);
    if (done) done = call<ort::CreateSessionOptions>(&options);
    if (done) done = call<ort::SetGraphOptimizationLevel>(options, ort::kEnableAllOptimisations);
    if (done) done = call<ort::SetIntraOpNumThreads>(options, threads);
    if (done) done = call<ort::SetInterOpNumThreads>(options, 1);
    if (done) done = call<ort::CreateSession>(env, model, options, &m_session);
    if (done) done = call<ort::CreateIoBinding>(m_session, &m_binding);
    if (done)
        done = call<ort::CreateCpuMemoryInfo>(ort::kArenaAllocator, ort::kDefaultMemory, &m_memory);
    if (done) done = call<ort::GetDefaultAllocator>(&m_allocator);
    return done;
}

Status Peer::bindInputs(const std::string& dataSet)
{
    size_t count = 0;
    Status done = call<ort::SessionGetInputCount>(m_session, &count);
    if (!done) return done;
    m_inputs.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        auto tensor = readTensorFile(dataSet + "/input_" + std::to_string(i) + ".pb");
        if (!tensor) return tensor.error();
        TensorFile& input = m_inputs.emplace_back(std::move(*tensor));
        char* name = nullptr;
        ort::Object value = nullptr;
        done = call<ort::SessionGetInputName>(m_session, i, m_allocator, &name);
        if (done)
            done = call<ort::CreateTensorWithData>(
                m_memory, static_cast<void*>(input.raw.data()), input.raw.size(),
                static_cast<const int64_t*>(input.dims.data()), input.dims.size(),
                static_cast<int>(input.elementType), &value);
        if (done) done = call<ort::BindInput>(m_binding, static_cast<const char*>(name), value);
        if (!done) return done;
    }
    return core::kDone;
}

/// The first run allocates the outputs; binding those values again pins their memory.
Status Peer::bindOutputs()
{
    size_t count = 0;
    Status done = call<ort::SessionGetOutputCount>(m_session, &count);
    std::vector<char*> names(count);
    for (size_t i = 0; done && i < count; ++i) {
        done = call<ort::SessionGetOutputName>(m_session, i, m_allocator, &names[i]);
        if (done)
            done = call<ort::BindOutputToDevice>(m_binding, static_cast<const char*>(names[i]),
                                                 m_memory);
    }
    if (done) done = run();
    ort::Object* values = nullptr;
    if (done) done = call<ort::GetBoundOutputValues>(m_binding, m_allocator, &values, &count);
    for (size_t i = 0; done && i < count; ++i) {
        m_outputs.push_back(values[i]);
        done = call<ort::BindOutput>(m_binding, static_cast<const char*>(names[i]), values[i]);
    }
    return done;
}

Result<Peer> Peer::open(const char* library, const char* model, const std::string& dataSet,
                        int threads)
{
    Peer peer;
    Status done = peer.load(library);
    if (done) done = peer.createSession(model, threads);
    if (done) done = peer.bindInputs(dataSet);
    if (done) done = peer.bindOutputs();
    if (!done) return done.error();
    return peer;
}

/// Largest difference of the float outputs from the reference files.
Result<double> Peer::maxAbsError(const std::string& dataSet)
{
    double worst = 0;
    for (size_t i = 0; i < m_outputs.size(); ++i) {
        const auto wanted = readTensorFile(dataSet + "/output_" + std::to_string(i) + ".pb");
        if (!wanted) return wanted.error();
        if (wanted->elementType != 1) continue;
        void* data = nullptr;
        const Status done = call<ort::GetTensorMutableData>(m_outputs[i], &data);
        if (!done) return done.error();
        const auto* got = static_cast<const float*>(data);
        for (size_t at = 0; at + 4 <= wanted->raw.size(); at += 4) {
            float reference = 0;
            std::memcpy(&reference, wanted->raw.data() + at, 4);
            const double difference =
                static_cast<double>(got[at / 4]) - static_cast<double>(reference);
            worst = std::max(worst, std::abs(difference));
        }
    }
    return worst;
}

nlohmann::json timeRuns(Peer& peer, int count)
{
    std::vector<double> ms;
    for (int i = 0; i < count; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const Status done = peer.run();
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - start;
        if (!done) return {{"error", done.error().text()}};
        ms.push_back(took.count());
    }
    std::sort(ms.begin(), ms.end());
    return {{"runs", count},
            {"min_ms", ms.front()},
            {"median_ms", ms[ms.size() / 2]},
            {"max_ms", ms.back()}};
}

int serve(Peer& peer, const std::string& dataSet)
{
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string word;
        int count = 0;
        words >> word >> count;
        nlohmann::json answer;
        if (word == "run" && count > 0) {
            answer = timeRuns(peer, count);
        } else if (word == "check") {
            const auto error = peer.maxAbsError(dataSet);
            answer = error ? nlohmann::json{{"max_abs_error", *error}}
                           : nlohmann::json{{"error", error.error().text()}};
        } else {
            answer = {{"error", "commands are `run K` and `check`"}};
        }
        std::cout << answer.dump() << std::endl;
    }
    return 0;
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv)
{
    if (argc != 5) {
        std::fprintf(stderr, "usage: ort_peer LIBRARY MODEL DATA_SET_DIR THREADS\n");
        return 2;
    }
    auto peer = tenon::bench::Peer::open(argv[1], argv[2], argv[3], std::atoi(argv[4]));
    if (!peer) {
        std::fprintf(stderr, "%s\n", peer.error().text().c_str());
        return 1;
    }
    std::cout << nlohmann::json{{"name", "onnxruntime"}, {"version", peer->version()}}.dump()
              << std::endl;
    return tenon::bench::serve(*peer, argv[3]);
}
