// SPDX-License-Identifier: Apache-2.0
// The graph evaluator as a runner of models.
#include "tests/compiler/quantize/evaluating_runner.h"

#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/onnx/load_onnx.h"

#include <cmath>
#include <random>
#include <stdexcept>

namespace tenon::test {
namespace {

using namespace core;
using compiler::Loaded;

class EvaluatingRunner final : public compiler::ModelRunner
{
public:
    EvaluatingRunner(std::shared_ptr<const Loaded> loaded, JobContext& job)
        : m_loaded(std::move(loaded))
        , m_job(job)
    {
    }

    Result<std::vector<Tensor>> run(const compiler::DataSet& data) override
    {
        return compiler::evaluateGraph(m_loaded->module, {data.inputs.begin(), data.inputs.end()},
                                       m_job);
    }

private:
    std::shared_ptr<const Loaded> m_loaded;
    JobContext& m_job;
};

} // namespace

compiler::OpenRunner evaluatingRunner()
{
    return [](std::shared_ptr<const Loaded> loaded,
              JobContext& job) -> Result<std::unique_ptr<compiler::ModelRunner>> {
        return std::unique_ptr<compiler::ModelRunner>(
            std::make_unique<EvaluatingRunner>(std::move(loaded), job));
    };
}

std::vector<Tensor> evaluated(const tenon_onnx::ModelProto& model,
                              const std::map<std::string, Tensor>& inputs)
{
    const auto bytes = std::make_shared<const std::string>(model.SerializeAsString());
    compiler::ImportOptions options;
    for (const auto& [name, tensor] : inputs) options.shapes[name] = tensor.shape();
    auto loaded =
        compiler::loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, {}, "m", options);
    if (!loaded) throw std::runtime_error(loaded.error().text());
    for (const Diagnostic& problem : loaded->diagnostics)
        if (problem.severity == Severity::Error) throw std::runtime_error(problem.text());
    auto out = compiler::evaluateGraph(loaded->module, inputs, JobContext());
    if (!out) throw std::runtime_error(out.error().text());
    return *out;
}

Tensor randomTensor(const std::vector<int64_t>& shape, uint64_t seed)
{
    std::mt19937_64 random(seed);
    const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    std::vector<float> values;
    for (int64_t i = 0; i < elementCount(shape); ++i)
        values.push_back(static_cast<float>(0.2 + (uniform() + uniform() + uniform() - 1.5) * 2));
    return Tensor::of<float>(kFloat32, shape, values);
}

compiler::CalibrationData randomData(const std::string& input, const std::vector<int64_t>& shape,
                                     size_t count)
{
    compiler::CalibrationData out;
    for (size_t i = 0; i < count; ++i)
        out.push_back({"set " + std::to_string(i), {{input, randomTensor(shape, 100 + i)}}});
    return out;
}

tenon_onnx::ModelProto withRandomWeights(tenon_onnx::ModelProto model)
{
    uint64_t seed = 1;
    for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
        const bool isWeight =
            tensor.name().starts_with("w") && tensor.data_type() == tenon_onnx::TensorProto::FLOAT;
        if (!isWeight) continue;
        const Tensor values = randomTensor({tensor.dims().begin(), tensor.dims().end()}, ++seed);
        tensor.clear_float_data();
        tensor.set_raw_data(values.bytes().data(), values.bytes().size());
    }
    return model;
}

} // namespace tenon::test
