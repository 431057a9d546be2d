// SPDX-License-Identifier: Apache-2.0
// Calls by slot of the function table; the entries are in ort_api.h.
#include "remote/peer/ort_session.h"

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/tensor/onnx_types.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

namespace tenon::remote {

using core::Result;
using core::Status;

namespace {

core::Diagnostic failure(const std::string& message)
{
    return core::makeError(core::DiagnosticCode::UnsupportedFeature, message);
}

} // namespace

template <class Entry, class... Arguments>
Status OrtSession::call(Arguments... arguments) const
{
    const ort::Status status = Entry::of(m_table)(arguments...);
    if (!status) return core::kDone;
    const core::Diagnostic error = failure(ort::GetErrorMessage::of(m_table)(status));
    ort::ReleaseStatus::of(m_table)(status);
    return error;
}

Status OrtSession::load(const std::string& library)
{
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return failure("cannot load ONNX Runtime: " + std::string(::dlerror()));
    const auto getBase =
        reinterpret_cast<const ort::ApiBase* (*)()>(::dlsym(handle, "OrtGetApiBase"));
    if (!getBase)
        return failure(core::quoted(library) + " is not ONNX Runtime: it has no OrtGetApiBase");
    m_version = getBase()->getVersionString();
    m_table = getBase()->getApi(kOrtApiVersion);
    if (!m_table) return failure(core::quoted(library) + " does not offer version 7 of its C API");
    return call<ort::CreateEnv>(kOrtLogError, "peer", &m_env);
}

Status OrtSession::run() { return call<ort::RunWithBinding>(m_session, nullptr, m_binding); }

void OrtSession::close()
{
    for (ort::Object value : m_outputs) ort::ReleaseValue::of(m_table)(value);
    if (m_binding) ort::ReleaseIoBinding::of(m_table)(m_binding);
    if (m_session) ort::ReleaseSession::of(m_table)(m_session);
    m_session = m_binding = nullptr;
    m_outputs.clear();
    m_inputs.clear();
}

Status OrtSession::createSession(const char* model, const OrtOptions& chosen)
{
    ort::Object options = nullptr;
    Status done = call<ort::CreateSessionOptions>(&options);
    const int level = chosen.areOptimised ? kOrtEnableAllOptimisations : kOrtDisableOptimisations;
    if (done) done = call<ort::SetGraphOptimizationLevel>(options, level);
    if (done) done = call<ort::SetIntraOpNumThreads>(options, chosen.threads);
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

Status OrtSession::bindInput(size_t index, const std::vector<core::OnnxTensor>& files)
{
    char* name = nullptr;
    Status done = call<ort::SessionGetInputName>(m_session, index, m_allocator, &name);
    if (!done) return done;
    auto given = std::find_if(files.begin(), files.end(),
                              [&](const core::OnnxTensor& file) { return file.name == name; });
    if (given == files.end() && index < files.size())
        given = files.begin() + static_cast<std::ptrdiff_t>(index);
    if (given == files.end()) return failure("input " + core::quoted(name) + " has no value");
    core::OnnxTensor& input = m_inputs.emplace_back(*given); // bound by address until close()
    ort::Object value = nullptr;
    done = call<ort::CreateTensorWithData>(
        m_memory, static_cast<void*>(input.raw.data()), input.raw.size(),
        static_cast<const int64_t*>(input.dims.data()), input.dims.size(),
        static_cast<int>(input.elementType), &value);
    if (done) done = call<ort::BindInput>(m_binding, static_cast<const char*>(name), value);
    return done;
}

Status OrtSession::bindInputs(const std::string& dataSet)
{
    size_t count = 0;
    Status done = call<ort::SessionGetInputCount>(m_session, &count);
    if (!done) return done;
    std::vector<core::OnnxTensor> files;
    for (size_t i = 0;; ++i) {
        const std::string path = dataSet + "/input_" + std::to_string(i) + ".pb";
        if (!std::filesystem::exists(path)) break;
        auto tensor = core::readOnnxTensor(path);
        if (!tensor) return tensor.error();
        files.push_back(std::move(*tensor));
    }
    m_inputs.reserve(count);
    for (size_t i = 0; done && i < count; ++i) done = bindInput(i, files);
    return done;
}

/// The first run allocates the outputs; binding those values again pins their memory.
Status OrtSession::bindOutputs()
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

Status OrtSession::open(const std::string& model, const std::string& dataSet,
                        const OrtOptions& options)
{
    close();
    Status done = createSession(model.c_str(), options);
    if (done) done = bindInputs(dataSet);
    if (done) done = bindOutputs();
    return done;
}

/// A TensorProto.
Result<std::string> OrtSession::outputBytes(ort::Object value) const
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
    const auto dtype = core::dataTypeOf(elementType);
    if (!dtype) return failure("an output is of type " + core::onnxTypeName(elementType));
    auto bytes = static_cast<size_t>(dtype->bytes());
    for (const int64_t dim : dims) bytes *= static_cast<size_t>(dim);
    return core::onnxTensorBytes(
        {std::move(dims), elementType, {}, {static_cast<const char*>(data), bytes}});
}

Status OrtSession::writeOutputs(const std::string& folder)
{
    for (size_t i = 0; i < m_outputs.size(); ++i) {
        const auto bytes = outputBytes(m_outputs[i]);
        if (!bytes) return bytes.error();
        const std::string path = folder + "/output_" + std::to_string(i) + ".pb";
        if (const Status done = core::writeFileAtomically(path, *bytes); !done) return done;
    }
    return core::kDone;
}

Result<OutputDifference> OrtSession::difference(const std::string& folder, double share)
{
    OutputDifference difference;
    for (size_t i = 0; i < m_outputs.size(); ++i) {
        const auto wanted = core::readOnnxTensor(folder + "/output_" + std::to_string(i) + ".pb");
        if (!wanted) return wanted.error();
        const auto bytes = outputBytes(m_outputs[i]);
        if (!bytes) return bytes.error();
        const auto got = core::parseOnnxTensor(*bytes);
        if (!got) return got.error();
        addDifference(*got, *wanted, share, difference);
    }
    return difference;
}

} // namespace tenon::remote
