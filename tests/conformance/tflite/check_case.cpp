// SPDX-License-Identifier: Apache-2.0
// Files of a case, and comparing results.
#include "tests/conformance/tflite/check_case.h"

#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/tensor_file.h"
#include "compiler/frontend/tflite/load_tflite.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "remote/session/compiled_runner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

namespace tenon::test {

using namespace core;

namespace {

Outcome compared(const Tensor& got, const Tensor& wanted)
{
    Outcome out;
    if (got.dtype() != wanted.dtype() || got.shape() != wanted.shape()) {
        out.fault = got.dtype().text() + " (" + join(got.shape(), ", ") + ") instead of " +
                    wanted.dtype().text() + " (" + join(wanted.shape(), ", ") + ")";
        return out;
    }
    const std::vector<double> a = got.numbers(), b = wanted.numbers();
    double largest = 1e-30;
    for (const double value : b)
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    for (size_t i = 0; i < a.size(); ++i) {
        const bool isSame = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
        const double off = isSame ? 0 : std::fabs(a[i] - b[i]);
        if (!std::isfinite(off))
            out.fault = "no number, or infinite, where the reference is not";
        else if (wanted.dtype().isFloat())
            out.error = std::max(out.error, off / largest);
        else
            out.steps = std::max(out.steps, off);
        if (!wanted.dtype().isFloat()) {
            ++out.elements;
            out.off += off > 0;
        }
    }
    return out;
}

Outcome comparedAll(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted)
{
    Outcome out;
    if (got.size() != wanted.size()) {
        out.fault =
            std::to_string(got.size()) + " results instead of " + std::to_string(wanted.size());
        return out;
    }
    for (size_t i = 0; i < got.size(); ++i) out.add(compared(got[i], wanted[i]));
    return out;
}

Outcome refused(const std::string& why)
{
    Outcome out;
    out.refusal = why;
    return out;
}

Result<std::shared_ptr<const compiler::Loaded>> load(const TfliteCase& one)
{
    const std::vector<std::byte> bytes = one.model.file();
    auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "model.tflite", {});
    if (!loaded) return loaded.error();
    for (const Diagnostic& d : loaded->diagnostics)
        if (d.severity == Severity::Error) return d;
    return std::make_shared<const compiler::Loaded>(*std::move(loaded));
}

compiler::DataSet dataOf(const TfliteCase& one, const compiler::Loaded& loaded)
{
    compiler::DataSet data{.source = one.what, .inputs = {}};
    for (size_t i = 0; i < one.inputs.size(); ++i)
        data.inputs.emplace_back(loaded.facts.inputs.at(i).name, one.inputs[i]);
    return data;
}

Result<std::vector<Tensor>> defined(const TfliteCase& one, const compiler::Loaded& loaded,
                                    core::JobContext& job)
{
    std::map<std::string, Tensor> inputs;
    for (const auto& [name, tensor] : dataOf(one, loaded).inputs) inputs.emplace(name, tensor);
    return compiler::evaluateGraph(loaded.module, inputs, job);
}

} // namespace

void Outcome::add(const Outcome& other)
{
    if (refusal.empty()) refusal = other.refusal;
    if (fault.empty()) fault = other.fault;
    steps = std::max(steps, other.steps);
    error = std::max(error, other.error);
    elements += other.elements;
    off += other.off;
}

std::vector<std::string> foldersOf(const TfliteCases& all)
{
    std::map<std::string, int> counts;
    std::vector<std::string> out;
    for (const TfliteCase& one : all) {
        const std::string stem = one.op + "." + split(one.type, ',')[0];
        char number[8];
        std::snprintf(number, sizeof number, ".%03d", counts[stem]++);
        out.push_back(stem + number);
    }
    return out;
}

Status writeCase(const TfliteCase& one, const std::string& folder)
{
    const std::string data = folder + "/test_data_set_0";
    std::error_code failed;
    std::filesystem::create_directories(data, failed);
    const std::vector<std::byte> bytes = one.model.file();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (Status s = writeFileAtomically(folder + "/model.tflite", text); !s) return s;
    for (size_t i = 0; i < one.inputs.size(); ++i) {
        const std::string path = data + "/input_" + std::to_string(i) + ".pb";
        if (Status s = compiler::writeTensorFile(path, one.inputs[i], ""); !s) return s;
    }
    return kDone;
}

Result<Reference> readReference(const TfliteCase& one, const std::string& folder)
{
    Reference out;
    out.refusal = one.mistrust;
    if (!out.refusal.empty()) return out;
    namespace fs = std::filesystem;
    if (fs::exists(folder + "/reference_error.txt")) {
        auto text = readFile(folder + "/reference_error.txt");
        if (!text) return text.error();
        out.refusal = split(trimmed(*text), '\n').front();
        return out;
    }
    for (int i = 0;; ++i) {
        const std::string path = folder + "/test_data_set_0/output_" + std::to_string(i) + ".pb";
        if (!fs::exists(path)) break;
        auto tensor = compiler::readTensorFile(path);
        if (!tensor) return tensor.error();
        out.results.push_back(std::move(tensor->tensor));
    }
    if (out.results.empty()) out.refusal = "TensorFlow Lite did not run it";
    return out;
}

Outcome checkDefinition(const TfliteCase& one, const Reference& reference, JobContext& job)
{
    const auto loaded = load(one);
    if (!loaded) return refused(loaded.error().text());
    const auto results = defined(one, **loaded, job);
    const bool isOpen = !results && results.error().code == DiagnosticCode::DynamicShape;
    if (isOpen) return {}; // only compiled programs know such sizes
    if (!results) return refused(results.error().text());
    return reference.results.empty() ? Outcome() : comparedAll(*results, reference.results);
}

Outcome checkCompiled(const TfliteCase& one, const Reference& reference,
                      const compiler::CompileOptions& options, JobContext& job)
{
    const auto loaded = load(one);
    if (!loaded) return refused(loaded.error().text());
    std::vector<Tensor> wanted = reference.results;
    if (wanted.empty()) {
        auto results = defined(one, **loaded, job);
        if (!results) return refused(results.error().text());
        wanted = *std::move(results);
    }
    auto runner = remote::compiledRunner(options)(*loaded, job);
    if (!runner) return refused(runner.error().text());
    const auto results = (*runner)->run(dataOf(one, **loaded));
    if (!results) return refused(results.error().text());
    return comparedAll(*results, wanted);
}

} // namespace tenon::test
