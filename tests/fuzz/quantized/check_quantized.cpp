// SPDX-License-Identifier: Apache-2.0
// One compile and run per form. A tensor's own error is judged against the exact evaluation of the
// integers that its piece was given, so errors of pieces before it do not count.
#include "tests/fuzz/quantized/check_quantized.h"

#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "core/target/target.h"
#include "remote/session/emulation.h"
#include "remote/session/local_board.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace tenon::test {

using namespace core;
using tenon_onnx::NodeProto;

void Steps::add(double difference)
{
    ++elements;
    one += difference == 1;
    more += difference > 1 || std::isnan(difference);
    largest = std::max(largest, difference);
}

void Steps::add(const Steps& other)
{
    elements += other.elements;
    one += other.one;
    more += other.more;
    largest = std::max(largest, other.largest);
}

double Steps::shareWithinOne() const
{
    return elements == 0 ? 1 : 1 - static_cast<double>(more) / static_cast<double>(elements);
}

std::string Steps::text() const
{
    char out[160];
    std::snprintf(out, sizeof out,
                  "%lld elements, %lld by one step (%.4f %%), %lld by more "
                  "(%.4f %%), at most %.0f",
                  static_cast<long long>(elements), static_cast<long long>(one),
                  elements == 0 ? 0
                                : 100.0 * static_cast<double>(one) / static_cast<double>(elements),
                  static_cast<long long>(more), 100 * (1 - shareWithinOne()), largest);
    return out;
}

void QuantizedDifferences::add(const QuantizedDifferences& other)
{
    whole.add(other.whole);
    tapped.add(other.tapped);
    for (const auto& [label, steps] : other.local) local[label].add(steps);
    if (worst.empty()) worst = other.worst;
}

Steps QuantizedDifferences::allLocal() const
{
    Steps out;
    for (const auto& [label, steps] : local) out.add(steps);
    return out;
}

namespace {

using Results = std::map<std::string, Array>;

class Check
{
public:
    Check(const QuantizedGraph& graph, QuantizedSetting setting, std::string folder,
          JobContext& job)
        : m_graph(graph)
        , m_setting(std::move(setting))
        , m_folder(std::move(folder))
        , m_job(job)
    {
    }

    Result<QuantizedDifferences> run()
    {
        for (const Form form : {Form::Whole, Form::Tapped, Form::Cut}) {
            auto results = runForm(form);
            if (!results) {
                Diagnostic error = results.error();
                error.message = std::string(formName(form)) + ": " + error.message;
                return error;
            }
            compare(form, *results);
        }
        return std::move(m_differences);
    }

private:
    Status writeCase(const WrittenModel& written, const std::string& folder)
    {
        const std::string data = folder + "/test_data_set_0";
        std::filesystem::create_directories(data);
        if (Status s =
                writeFileAtomically(folder + "/model.onnx", written.model.SerializeAsString());
            !s)
            return s;
        const auto write = [&](const char* stem, size_t i, const Tensor& tensor,
                               const std::string& name) {
            return compiler::writeTensorFile(data + "/" + stem + std::to_string(i) + ".pb", tensor,
                                             name);
        };
        for (size_t i = 0; i < written.inputs.size(); ++i)
            if (Status s = write("input_", i, written.inputs[i].second, written.inputs[i].first);
                !s)
                return s;
        for (size_t i = 0; i < written.outputs.size(); ++i)
            if (Status s = write("output_", i, tensorOf(m_graph.tensors.at(written.outputs[i])),
                                 written.outputs[i]);
                !s)
                return s;
        return kDone;
    }

    Result<Results> runForm(Form form)
    {
        const WrittenModel written = writeQuantized(m_graph, form);
        const std::string folder = m_folder + "/" + formName(form);
        if (Status s = writeCase(written, folder); !s) return s.error();
        auto loaded = compiler::loadModel(folder + "/model.onnx", {});
        if (!loaded) return loaded.error();
        for (const Diagnostic& d : loaded->diagnostics)
            if (d.severity == Severity::Error) return d;
        compiler::CompileOptions options;
        options.target = m_setting.target;
        options.executor = m_setting.executor;
        options.optLevel = m_setting.optLevel;
        options.runThreads = m_setting.threads;
        options.cacheFolder = m_folder + "/cache";
        auto compiled = compiler::compile(
            std::make_shared<const compiler::Loaded>(std::move(*loaded)), options, m_job);
        if (!compiled) return compiled.error();
        const std::string library = folder + "/model.so";
        if (auto s = compiler::writeArtifact(**compiled, library); !s) return s.error();
        remote::RunRequest request{.artifactPath = library,
                                   .inputs = written.inputs,
                                   .threads = m_setting.threads,
                                   .poison = true};
        if (Status s = remote::runHere(request, (*compiled)->target); !s) return s.error();
        auto outputs = remote::runArtifact(request, m_job);
        if (!outputs) return outputs.error();
        Results out;
        for (size_t i = 0; i < written.outputs.size(); ++i)
            out[written.outputs[i]] = {outputs->at(i).shape(), outputs->at(i).numbers()};
        return out;
    }

    void compare(Form form, const Results& results)
    {
        if (form == Form::Whole && m_graph.isCalibrated)
            for (const auto& [name, got] : results) m_differences.whole.add(between(name, got));
        if (form == Form::Tapped && m_graph.isCalibrated)
            for (const auto& [name, got] : results) m_differences.tapped.add(between(name, got));
        if (form != Form::Whole) compareLocally(form, results);
    }

    Steps between(const std::string& name, const Array& got) const
    {
        return difference(m_graph.tensors.at(name).exact, got);
    }

    static Steps difference(const Array& wanted, const Array& got)
    {
        Steps out;
        for (size_t i = 0; i < wanted.data.size(); ++i)
            out.add(std::fabs(wanted.data[i] - got.data.at(i)));
        return out;
    }

    /// Every piece on the integers it was given: in the cut form the exact ones, else the results.
    void compareLocally(Form form, const Results& results)
    {
        std::map<std::string, Array> values;
        const auto valueOf = [&](const std::string& name) -> const Array* {
            const auto known = values.find(name);
            return known != values.end() ? &known->second : &m_graph.tensors.at(name).exact;
        };
        for (const NodeProto& node : m_graph.nodes) {
            const std::string& name = node.output(0);
            const GraphTensor& tensor = m_graph.tensors.at(name);
            const bool isConstant = m_graph.tensors.at(node.input(0)).isConstant;
            const Array exact =
                evaluateNode(node, valueOf, tensor.dtype, Numbers::Exact, isConstant);
            const auto got = results.find(name);
            if (got == results.end()) {
                values[name] = exact;
                continue;
            }
            const Steps steps = difference(exact, got->second);
            m_differences.local[labelOf(node)].add(steps);
            if (steps.more > 0 && m_differences.worst.empty())
                m_differences.worst = std::string(formName(form)) + " " + name + " behind " +
                                      labelOf(node) + ": " + steps.text();
            if (form == Form::Tapped) values[name] = got->second;
        }
    }

    /// The operators between a quantization and the dequantization that its first operand is of.
    std::string labelOf(const NodeProto& quantization) const
    {
        std::string label;
        const NodeProto* node = &quantization;
        while (node && node->op_type() != "DequantizeLinear") {
            if (node != &quantization || !node->op_type().starts_with("Quantize"))
                label = node->op_type() + (label.empty() ? "" : "+") + label;
            if (node->op_type().starts_with("QLinear")) break;
            node = producerOf(node->input(0));
        }
        const DataType dtype = m_graph.tensors.at(quantization.output(0)).dtype;
        return (label.empty() ? "nothing" : label) + (dtype.bits > 8 ? " (16 bits)" : "");
    }

    const NodeProto* producerOf(const std::string& name) const
    {
        for (const NodeProto& node : m_graph.nodes)
            if (node.output(0) == name) return &node;
        return nullptr;
    }

    const QuantizedGraph& m_graph;
    QuantizedSetting m_setting;
    std::string m_folder;
    JobContext& m_job;
    QuantizedDifferences m_differences;
};

} // namespace

Result<QuantizedDifferences> checkQuantized(const QuantizedGraph& graph,
                                            const QuantizedSetting& setting,
                                            const std::string& folder, JobContext& job)
{
    return Check(graph, setting, folder, job).run();
}

} // namespace tenon::test
