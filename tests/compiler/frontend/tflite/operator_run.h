// SPDX-License-Identifier: Apache-2.0
// Running a small .tflite model of a test by the definitions of our operators.
#pragma once

#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/tflite/load_tflite.h"
#include "tests/support/tflite_writer.h"

#include <gtest/gtest.h>

namespace tenon::test {

using Given = std::map<std::string, core::Tensor>;

/// The results of the model's graph; a failed test and nothing when it cannot be imported.
inline std::vector<core::Tensor> resultsOf(const TfliteWriter& model, const Given& inputs)
{
    const std::vector<std::byte> bytes = model.file();
    const auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "model.tflite", {});
    if (!loaded) {
        ADD_FAILURE() << loaded.error().text();
        return {};
    }
    for (const core::Diagnostic& d : loaded->diagnostics)
        if (d.severity == core::Severity::Error) {
            ADD_FAILURE() << d.text();
            return {};
        }
    auto results = compiler::evaluateGraph(loaded->module, inputs, core::JobContext());
    if (!results) ADD_FAILURE() << results.error().text();
    return results ? *std::move(results) : std::vector<core::Tensor>();
}

inline core::Tensor floats(std::vector<int64_t> shape, const std::vector<float>& values)
{
    return core::Tensor::of<float>(core::kFloat32, std::move(shape), values);
}

inline core::Tensor bytes(std::vector<int64_t> shape, const std::vector<int8_t>& values)
{
    return core::Tensor::of<int8_t>(core::kInt8, std::move(shape), values);
}

/// The numbers of the first result.
inline std::vector<double> numbersOf(const TfliteWriter& model, const Given& inputs)
{
    const auto results = resultsOf(model, inputs);
    return results.empty() ? std::vector<double>() : results[0].numbers();
}

} // namespace tenon::test
