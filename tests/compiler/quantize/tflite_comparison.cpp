// SPDX-License-Identifier: Apache-2.0
// Both are evaluated without code generation.
#include "tests/compiler/quantize/tflite_comparison.h"

#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/tflite/load_tflite.h"
#include "compiler/quantize/tflite_document.h"
#include "tests/compiler/quantize/evaluating_runner.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tenon::test {

using namespace core;

std::string differenceOf(const Tensor& got, const Tensor& wanted)
{
    if (got.shape() != wanted.shape()) return "another shape";
    double largest = 1;
    for (const double number : wanted.numbers())
        if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
    for (int64_t i = 0; i < got.size(); ++i) {
        const double a = got.number(i), b = wanted.number(i);
        if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 2e-5 * largest)
            continue;
        return std::to_string(a) + " instead of " + std::to_string(b) + " at " + std::to_string(i);
    }
    return {};
}

tenon_onnx::ModelProto sameDocument(const TfliteWriter& file, std::map<std::string, Tensor> inputs)
{
    const std::vector<std::byte> bytes = file.file();
    const auto document = compiler::readTfliteDocument(bytes, "m.tflite");
    if (!document) throw std::runtime_error(document.error().text());
    const auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "m.tflite", {});
    if (!loaded) throw std::runtime_error(loaded.error().text());
    uint64_t seed = 3;
    for (const auto& input : document->graph().input()) {
        std::vector<int64_t> shape;
        for (const auto& dim : input.type().tensor_type().shape().dim())
            shape.push_back(dim.dim_value());
        if (!inputs.contains(input.name())) inputs[input.name()] = randomTensor(shape, ++seed);
    }
    const auto wanted = compiler::evaluateGraph(loaded->module, inputs, JobContext());
    if (!wanted) throw std::runtime_error(wanted.error().text());
    const std::vector<Tensor> got = evaluated(*document, inputs);
    if (got.size() != wanted->size()) throw std::runtime_error("another number of results");
    for (size_t i = 0; i < got.size(); ++i)
        if (const std::string wrong = differenceOf(got[i], (*wanted)[i]); !wrong.empty())
            throw std::runtime_error("result " + std::to_string(i) + ": " + wrong);
    return *document;
}

std::string refusalOf(const TfliteWriter& file)
{
    const auto document = compiler::readTfliteDocument(file.file(), "m.tflite");
    return document ? "" : document.error().text();
}

int countOf(const tenon_onnx::ModelProto& model, const std::string& op)
{
    int count = 0;
    for (const auto& node : model.graph().node()) count += node.op_type() == op ? 1 : 0;
    return count;
}

} // namespace tenon::test
