// SPDX-License-Identifier: Apache-2.0
// Runs a model on ONNX Runtime's C API and times it on demand: the peer of `./dev bench models`.
//
// usage: ort_peer LIBRARY [MODEL DATA_SET_DIR THREADS]
// Then one command per line on stdin: `run K` times K runs; `check` compares with output_*.pb;
// `write DIR` writes the outputs as DIR/output_*.pb; `open MODEL DATA_SET_DIR` takes another model,
// whose paths hold no spaces. Each answer is one line of JSON. Inputs and outputs are bound once,
// all optimisations are on.
#include "core/base/clock.h"
#include "core/base/file.h"
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

/// Of ONNX's element types; 0 for those without a fixed size.
size_t bytesOfElement(int type)
{
    static constexpr size_t kBytes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2};
    return type > 0 && type < static_cast<int>(std::size(kBytes)) ? kBytes[type] : 0;
}

/// The library, and one session with everything bound.
class Peer
{
public:
    Status load(const char* library);
    /// Instead of the model that is open.
    Status open(const std::string& model, const std::string& dataSet, int threads);

    Status run() { return call<ort::RunWithBinding>(m_session, nullptr, m_binding); }
    Result<double> maxAbsError(const std::string& dataSet);
    Status writeOutputs(const std::string& folder);
    const char* version() const { return m_version; }
    double sessionMs() const { return m_sessionMs; }
    double firstRunMs() const { return m_firstRunMs; }

private:
    /// Calls one table entry; a non-null status becomes an error with its text.
    template <class Entry, class... Arguments>
    Status call(Arguments... arguments) const
    {
        const ort::Status status = Entry::of(m_table)(arguments...);
        if (!status) return core::kDone;
        const core::Diagnostic error = failure(ort::GetErrorMessage::of(m_table)(status));
        ort::ReleaseStatus::of(m_table)(status);
        return error;
    }

    void close();
    Status createSession(const char* model, int threads);
    Result<std::string> tensorBytes(ort::Object value) const;
    Status bindInputs(const std::string& dataSet);
    Status bindOutputs();

    void* const* m_table = nullptr;
    const char* m_version = "";
    double m_sessionMs = 0;
    double m_firstRunMs = 0;
    ort::Object m_env = nullptr;
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
    m_table = getBase()->getApi(kOrtApiVersion);
    if (!m_table) return failure("library does not offer API version 7");
    return call<ort::CreateEnv>(kOrtLogError, "peer", &m_env);
}

void Peer::close()
{
    for (ort::Object value : m_outputs) ort::ReleaseValue::of(m_table)(value);
    if (m_binding) ort::ReleaseIoBinding::of(m_table)(m_binding);
    if (m_session) ort::ReleaseSession::of(m_table)(m_session);
    m_session = m_binding = nullptr;
    m_outputs.clear();
    m_inputs.clear();
}

Status Peer::createSession(const char* model, int threads)
{
    ort::Object options = nullptr;
    Status done = call<ort::CreateSessionOptions>(&options);
    if (done) done = call<ort::SetGraphOptimizationLevel>(options, kOrtEnableAllOptimisations);
    if (done) done = call<ort::SetIntraOpNumThreads>(options, threads);
    if (done) done = call<ort::SetInterOpNumThreads>(options, 1);
    const auto start = std::chrono::steady_clock::now();
    if (done) done = call<ort::CreateSession>(m_env, model, options, &m_session);
    m_sessionMs = core::millisecondsSince(start);
    if (done) done = call<ort::CreateIoBinding>(m_session, &m_binding);
    if (done)
        done = call<ort::CreateCpuMemoryInfo>(kOrtArenaAllocator, kOrtDefaultMemory, &m_memory);
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
    const auto start = std::chrono::steady_clock::now();
    if (done) done = run();
    m_firstRunMs = core::millisecondsSince(start);
    ort::Object* values = nullptr;
    if (done) done = call<ort::GetBoundOutputValues>(m_binding, m_allocator, &values, &count);
    for (size_t i = 0; done && i < count; ++i) {
        m_outputs.push_back(values[i]);
        done = call<ort::BindOutput>(m_binding, static_cast<const char*>(names[i]), values[i]);
    }
    return done;
}

Status Peer::open(const std::string& model, const std::string& dataSet, int threads)
{
    close();
    Status done = createSession(model.c_str(), threads);
    if (done) done = bindInputs(dataSet);
    if (done) done = bindOutputs();
    return done;
}

void appendVarint(std::string& out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

/// A TensorProto: dims, data_type and raw_data.
Result<std::string> Peer::tensorBytes(ort::Object value) const
{
    ort::Object shape = nullptr;
    int elementType = 0;
    size_t rank = 0;
    void* data = nullptr;
    Status done = call<ort::GetTensorTypeAndShape>(value, &shape);
    if (done) done = call<ort::GetTensorElementType>(shape, &elementType);
    if (done) done = call<ort::GetDimensionsCount>(shape, &rank);
    std::vector<int64_t> dims(rank);
    if (done) done = call<ort::GetDimensions>(shape, dims.data(), rank);
    if (done) done = call<ort::GetTensorMutableData>(value, &data);
    if (shape) ort::ReleaseTensorTypeAndShape::of(m_table)(shape);
    if (!done) return done.error();
    size_t bytes = bytesOfElement(elementType);
    if (bytes == 0) return failure("an output is of type " + std::to_string(elementType));
    std::string out;
    for (const int64_t dim : dims) {
        out += '\x08';
        appendVarint(out, static_cast<uint64_t>(dim));
        bytes *= static_cast<size_t>(dim);
    }
    out += '\x10';
    appendVarint(out, static_cast<uint64_t>(elementType));
    out += '\x4a';
    appendVarint(out, bytes);
    return out.append(static_cast<const char*>(data), bytes);
}

Status Peer::writeOutputs(const std::string& folder)
{
    for (size_t i = 0; i < m_outputs.size(); ++i) {
        const auto bytes = tensorBytes(m_outputs[i]);
        if (!bytes) return bytes.error();
        const std::string path = folder + "/output_" + std::to_string(i) + ".pb";
        if (const Status done = core::writeFileAtomically(path, *bytes); !done) return done;
    }
    return core::kDone;
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

nlohmann::json answerOf(const Status& done)
{
    return done ? nlohmann::json{{"done", true}} : nlohmann::json{{"error", done.error().text()}};
}

nlohmann::json answerTo(Peer& peer, const std::string& line, std::string& dataSet)
{
    std::istringstream words(line);
    std::string word, path;
    int count = 0;
    words >> word;
    if (word == "run" && words >> count && count > 0) return timeRuns(peer, count);
    if (word == "write" && words >> path) return answerOf(peer.writeOutputs(path));
    if (word == "open" && words >> path >> dataSet) return answerOf(peer.open(path, dataSet, 1));
    if (word != "check") return {{"error", "commands are `run K`, `check`, `write` and `open`"}};
    const auto error = peer.maxAbsError(dataSet);
    if (!error) return {{"error", error.error().text()}};
    return {{"max_abs_error", *error}};
}

int run(int argc, char** argv)
{
    Peer peer;
    std::string dataSet;
    Status done = peer.load(argv[1]);
    if (argc == 5) dataSet = argv[3];
    if (done && argc == 5) done = peer.open(argv[2], dataSet, std::atoi(argv[4]));
    if (!done) {
        std::fprintf(stderr, "%s\n", done.error().text().c_str());
        return 1;
    }
    std::cout << nlohmann::json{{"name", "onnxruntime"},
                                {"version", peer.version()},
                                {"session_ms", peer.sessionMs()},
                                {"first_run_ms", peer.firstRunMs()}}
                     .dump()
              << std::endl;
    for (std::string line; std::getline(std::cin, line);)
        std::cout << answerTo(peer, line, dataSet).dump() << std::endl;
    return 0;
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv)
{
    if (argc == 2 || argc == 5) return tenon::bench::run(argc, argv);
    std::fprintf(stderr, "usage: ort_peer LIBRARY [MODEL DATA_SET_DIR THREADS]\n");
    return 2;
}
