// SPDX-License-Identifier: Apache-2.0
// One compile and run per configuration; kernels of equal text are compiled once for all of them.
#include "tests/fuzz/graphs/run_graph.h"

#include "compiler/driver/compile.h"
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "remote/session/local_board.h"

#include <cmath>
#include <filesystem>

namespace tenon::test {

using namespace core;
using compiler::ExecutorKind;

namespace {

using Tensors = std::vector<Tensor>;

bool areFinite(const Tensors& tensors)
{
    for (const Tensor& tensor : tensors)
        for (const double value : tensor.numbers())
            if (!std::isfinite(value) || std::fabs(value) > 1e6) return false;
    return true;
}

class Check
{
public:
    Check(const RandomGraph& graph, std::string folder, JobContext& job)
        : m_graph(graph)
        , m_folder(std::move(folder))
        , m_job(job)
    {
        m_check.caseFolder = m_folder;
    }

    GraphCheck run(Peer& peer)
    {
        Status done = runAll(peer);
        if (const Status kept = writeOutputs(); done && !kept) done = kept;
        if (!done) m_check.mismatch = done.error().text();
        return std::move(m_check);
    }

private:
    /// What the others are compared with, for the kept case.
    Status writeOutputs()
    {
        for (size_t i = 0; i < m_wanted.size(); ++i)
            if (Status s = compiler::writeTensorFile(
                    m_folder + "/test_data_set_0/output_" + std::to_string(i) + ".pb", m_wanted[i],
                    m_graph.model.graph().output(static_cast<int>(i)).name());
                !s)
                return s;
        return kDone;
    }

    Status runAll(Peer& peer)
    {
        const std::string data = m_folder + "/test_data_set_0";
        std::filesystem::create_directories(data);
        if (Status s =
                writeFileAtomically(m_folder + "/model.onnx", m_graph.model.SerializeAsString());
            !s)
            return s;
        for (size_t i = 0; i < m_graph.inputs.size(); ++i)
            if (Status s =
                    compiler::writeTensorFile(data + "/input_" + std::to_string(i) + ".pb",
                                              m_graph.inputs[i].second, m_graph.inputs[i].first);
                !s)
                return s;
        auto loaded = compiler::loadModel(m_folder + "/model.onnx", {});
        if (!loaded) return loaded.error();
        m_loaded = std::make_shared<const compiler::Loaded>(std::move(*loaded));
        for (const Diagnostic& d : m_loaded->diagnostics)
            if (d.severity == Severity::Error) return d;
        if (!m_graph.needsVm)
            if (Status s = interpret(); !s || m_check.isSkipped) return s;
        for (const auto& [executor, level] : configurations())
            if (Status s = runOne(m_loaded, executor, level); !s || m_check.isSkipped) return s;
        if (Status s = runOpen(); !s) return s;
        return peer.isThere() ? askPeer(peer) : kDone;
    }

    std::vector<std::pair<ExecutorKind, int>> configurations() const
    {
        if (m_graph.needsVm) return {{ExecutorKind::Vm, 0}, {ExecutorKind::Vm, 3}};
        return {{ExecutorKind::Aot, 0},   {ExecutorKind::Aot, 3}, {ExecutorKind::Vm, 0},
                {ExecutorKind::Graph, 0}, {ExecutorKind::Vm, 3},  {ExecutorKind::Graph, 3}};
    }

    Status interpret()
    {
        const std::map<std::string, Tensor> inputs(m_graph.inputs.begin(), m_graph.inputs.end());
        auto outputs = compiler::evaluateGraph(m_loaded->module, inputs, m_job);
        if (!outputs) return outputs.error();
        return compare("the interpreter", std::move(*outputs));
    }

    /// The same graph with the first dimension of every input open, within bounds, and with rows
    /// and columns of its images open. What needs known sizes is left out.
    Status runOpen()
    {
        if (Status s = runOpenAlong({0}); !s || m_check.isSkipped) return s;
        return runOpenAlong({2, 3});
    }

    /// Along these dimensions of inputs, images where they are not the first.
    Status runOpenAlong(const std::vector<int>& dims)
    {
        constexpr int kImageRank = 4;
        tenon_onnx::ModelProto open = m_graph.model;
        compiler::ImportOptions bounds;
        for (auto& input : *open.mutable_graph()->mutable_input()) {
            auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
            for (const int dim : dims) {
                if (shape->dim_size() <= dim || (dim > 0 && shape->dim_size() != kImageRank) ||
                    shape->dim(dim).dim_value() < 1)
                    continue;
                const int64_t size = shape->dim(dim).dim_value();
                const std::string name = "n" + std::to_string(size);
                shape->mutable_dim(dim)->set_dim_param(name);
                bounds.bounds[name] = {{1, size + 2}};
            }
        }
        if (bounds.bounds.empty()) return kDone;
        for (auto& output : *open.mutable_graph()->mutable_output())
            output.mutable_type()->mutable_tensor_type()->clear_shape();
        const std::string path = m_folder + "/open.onnx";
        if (Status s = writeFileAtomically(path, open.SerializeAsString()); !s) return s;
        auto loaded = compiler::loadModel(path, bounds);
        if (!loaded) return loaded.error();
        if (hasErrors(loaded->diagnostics)) return kDone;
        return runOne(std::make_shared<const compiler::Loaded>(std::move(*loaded)),
                      ExecutorKind::Vm, 3);
    }

    Status runOne(const std::shared_ptr<const compiler::Loaded>& loaded, ExecutorKind executor,
                  int level)
    {
        const bool isOpen = loaded != m_loaded;
        const std::string name = std::string(compiler::executorName(executor)) + " at opt level " +
                                 std::to_string(level) + (isOpen ? ", sizes open" : "");
        compiler::CompileOptions options;
        options.executor = executor;
        options.optLevel = level;
        options.cacheFolder = m_folder + "/cache";
        const auto inRun = [&](Diagnostic error) {
            error.message = name + ": " + error.message;
            return error;
        };
        auto compiled = compiler::compile(loaded, options, m_job);
        if (!compiled && isOpen && compiled.error().code == DiagnosticCode::DynamicShape)
            return kDone;
        if (!compiled) return inRun(compiled.error());
        const std::string library = m_folder + "/model.so";
        auto written = compiler::writeArtifact(**compiled, library);
        if (!written) return inRun(written.error());
        auto outputs = remote::runArtifact(
            {.artifactPath = library, .inputs = m_graph.inputs, .poison = true}, m_job);
        if (!outputs) return inRun(outputs.error());
        return compare(name, std::move(*outputs));
    }

    Status compare(const std::string& name, Tensors outputs)
    {
        if (m_wanted.empty()) {
            m_check.isSkipped = !areFinite(outputs);
            m_wanted = std::move(outputs);
            m_first = name;
            return kDone;
        }
        for (size_t i = 0; i < m_wanted.size(); ++i) {
            const Tensor& wanted = m_wanted[i];
            const Tensor& got = outputs.at(i);
            if (wanted.shape() != got.shape() || wanted.dtype() != got.dtype())
                return differs(name, i, got.typeText() + " instead of " + wanted.typeText());
            double scale = 1e-3, worst = 0;
            for (int64_t k = 0; k < wanted.size(); ++k) {
                scale = std::max(scale, std::fabs(wanted.number(k)));
                const double error = std::fabs(wanted.number(k) - got.number(k));
                worst = std::isnan(error) ? INFINITY : std::max(worst, error);
            }
            const bool isFloat = wanted.dtype().isFloat();
            if (isFloat && m_graph.tolerance <= kPlainTolerance)
                m_check.largest = std::max(m_check.largest, worst / scale);
            if (worst > (isFloat ? m_graph.tolerance * scale : wholeTolerance(wanted.dtype())))
                return differs(name, i,
                               "a difference of " + exact(worst) + " where the largest value is " +
                                   exact(scale));
        }
        return kDone;
    }

    /// Quantized values may be a step apart, whole numbers never.
    double wholeTolerance(DataType dtype) const
    {
        return m_graph.tolerance > kPlainTolerance && dtype.bits == 8 ? 1 : 0;
    }

    Status differs(const std::string& name, size_t output, const std::string& how)
    {
        return makeError(DiagnosticCode::NumericMismatch, "output " + std::to_string(output) +
                                                              " of " + name + " has " + how +
                                                              " by " + m_first);
    }

    Status askPeer(Peer& peer)
    {
        auto outputs = peer.run(m_folder, m_wanted.size());
        if (!outputs) {
            m_check.refusal = outputs.error().message;
            return kDone;
        }
        m_check.isCompared = true;
        return compare("the peer", std::move(*outputs));
    }

    const RandomGraph& m_graph;
    std::string m_folder;
    JobContext& m_job;
    std::shared_ptr<const compiler::Loaded> m_loaded;
    Tensors m_wanted;
    std::string m_first;
    GraphCheck m_check;
};

} // namespace

GraphCheck checkGraph(const RandomGraph& graph, const std::string& folder, Peer& peer,
                      JobContext& job)
{
    return Check(graph, folder, job).run(peer);
}

} // namespace tenon::test
