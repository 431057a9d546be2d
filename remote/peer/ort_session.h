// SPDX-License-Identifier: Apache-2.0
// A session of ONNX Runtime through its C API, out of a library that is loaded at run time.
#pragma once

#include "core/tensor/onnx_tensor.h"
#include "remote/peer/ort_api.h"
#include "remote/peer/output_difference.h"

#include <string>
#include <vector>

namespace tenon::remote {

struct OrtOptions
{
    int threads = 1;
    /// All of the library's rewritings. Without: each operator as the file has it, which is what
    /// values are held against (rewritten pairs of QuantizeLinear and DequantizeLinear round at
    /// other places).
    bool areOptimised = true;
};

/// The library, and one session with everything bound. Foreign code: for a process of its own.
class OrtSession
{
public:
    core::Status load(const std::string& library);
    /// Instead of the model that is open. `dataSet` holds input_0.pb and so on: each for the input
    /// of its name, else of its number.
    core::Status open(const std::string& model, const std::string& dataSet,
                      const OrtOptions& options);

    core::Status run();
    /// Of the outputs from output_0.pb and so on in `folder`; `share` as addDifference() has it.
    core::Result<OutputDifference> difference(const std::string& folder, double share);
    core::Status writeOutputs(const std::string& folder);
    const char* version() const { return m_version; }
    double sessionMs() const { return m_sessionMs; }
    double firstRunMs() const { return m_firstRunMs; }

private:
    /// Calls one table entry; a non-null status becomes an error with its text.
    template <class Entry, class... Arguments>
    core::Status call(Arguments... arguments) const;

    void close();
    core::Status createSession(const char* model, const OrtOptions& options);
    core::Result<std::string> outputBytes(ort::Object value) const;
    core::Status bindInputs(const std::string& dataSet);
    core::Status bindInput(size_t index, const std::vector<core::OnnxTensor>& files);
    core::Status bindOutputs();

    void* const* m_table = nullptr;
    const char* m_version = "";
    double m_sessionMs = 0;
    double m_firstRunMs = 0;
    ort::Object m_env = nullptr;
    ort::Object m_session = nullptr;
    ort::Object m_binding = nullptr;
    ort::Object m_memory = nullptr;
    ort::Object m_allocator = nullptr;
    std::vector<core::OnnxTensor> m_inputs;
    std::vector<ort::Object> m_outputs;
};

} // namespace tenon::remote
