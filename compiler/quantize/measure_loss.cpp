// SPDX-License-Identifier: Apache-2.0
// Comparing tensors of two models, data set by data set.
#include "compiler/quantize/measure_loss.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {

void TensorLoss::add(const Tensor& expected, const Tensor& actual, const ValueLimits& limits)
{
    CHECK(expected.size() == actual.size()) << "the quantized model has another shape";
    for (int64_t i = 0; i < expected.size(); ++i) {
        const double x = std::clamp(expected.number(i), limits.least, limits.greatest);
        const double y = std::clamp(actual.number(i), limits.least, limits.greatest);
        const double error = y - x;
        signal += x * x;
        noise += error * error;
        product += x * y;
        power += y * y;
        largest = std::max(largest, std::abs(error));
    }
}

double TensorLoss::sqnrDb() const { return compiler::sqnrDb(signal, noise); }

double TensorLoss::share() const
{
    if (noise == 0) return 0;
    return signal == 0 ? HUGE_VAL : std::sqrt(noise / signal);
}

double TensorLoss::cosine() const
{
    if (signal == 0 || power == 0) return signal == power ? 1 : 0;
    return product / std::sqrt(signal * power);
}

Result<FloatValues> floatValues(const tenon_onnx::ModelProto& model,
                                const std::vector<std::string>& names, const CalibrationData& data,
                                const OpenRunner& open, JobContext& job)
{
    auto observed = Observed::open(model, names, data, open, job);
    if (!observed) return observed.error();
    FloatValues out;
    for (const auto& output : model.graph().output()) out.results.push_back(output.name());
    for (const DataSet& set : data) {
        if (const Status go = job.checkStop(); !go) return go.error();
        auto values = observed->run(set);
        if (!values) return values.error();
        out.sets.push_back(*std::move(values));
    }
    return out;
}

Result<std::map<std::string, TensorLoss>>
measureLoss(const tenon_onnx::ModelProto& quantized,
            const std::map<std::string, std::string>& names, const FloatValues& expected,
            const CalibrationData& data, const OpenRunner& open, JobContext& job)
{
    std::vector<std::string> fetched;
    std::map<std::string, std::string> pairs = names;
    for (const auto& [name, rounded] : names) fetched.push_back(rounded);
    for (const std::string& result : expected.results) pairs.emplace(result, result);
    auto observed = Observed::open(quantized, fetched, data, open, job);
    if (!observed) return observed.error();
    std::map<std::string, TensorLoss> out;
    for (size_t set = 0; set < expected.sets.size(); ++set) {
        if (const Status go = job.checkStop(); !go) return go.error();
        job.progress(static_cast<double>(set) / static_cast<double>(expected.sets.size()),
                     "comparing: " + data[set].source);
        const auto values = observed->run(data[set]);
        if (!values) return values.error();
        for (const auto& [name, rounded] : pairs) {
            const auto limits = expected.limits.find(name);
            out[name].add(expected.sets[set].at(name), values->at(rounded),
                          limits == expected.limits.end() ? ValueLimits{} : limits->second);
        }
    }
    return out;
}

} // namespace tenon::compiler
