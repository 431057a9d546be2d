// SPDX-License-Identifier: Apache-2.0
// Inner tensors as further results of the model.
#include "compiler/quantize/observe.h"

#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/quantize/float_graph.h"
#include "core/base/text.h"
#include "core/tensor/onnx_types.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::compiler {
namespace {

using tenon_onnx::ModelProto;
using tenon_onnx::TensorProto;

bool holdsNan(const Tensor& tensor)
{
    if (!tensor.dtype().isFloat()) return false;
    for (int64_t i = 0; i < tensor.size(); ++i)
        if (!std::isfinite(tensor.number(i))) return true;
    return false;
}

const Tensor* tensorOf(const DataSet& set, const std::string& input)
{
    for (const auto& [name, tensor] : set.inputs)
        if (name == input) return &tensor;
    return nullptr;
}

/// "float32 (1, 3, ?)" as the model declares it.
std::string declaredText(const tenon_onnx::ValueInfoProto& input)
{
    const auto& type = input.type().tensor_type();
    std::string out = onnxTypeName(type.elem_type()) + " (";
    for (int i = 0; i < type.shape().dim_size(); ++i) {
        const auto& dim = type.shape().dim(i);
        out += i > 0 ? ", " : "";
        if (isFixed(dim))
            out += std::to_string(dim.dim_value());
        else
            out += dim.dim_param().empty() ? "?" : dim.dim_param();
    }
    return out + ")";
}

bool fitsShape(const tenon_onnx::ValueInfoProto& input, const std::vector<int64_t>& shape)
{
    const auto& type = input.type().tensor_type();
    if (!type.has_shape()) return true;
    const auto& dims = type.shape().dim();
    if (static_cast<size_t>(dims.size()) != shape.size()) return false;
    for (int i = 0; i < dims.size(); ++i)
        if (isFixed(dims[i]) && dims[i].dim_value() != shape[static_cast<size_t>(i)]) return false;
    return true;
}

bool fits(const tenon_onnx::ValueInfoProto& input, const Tensor& tensor)
{
    return dataTypeOf(input.type().tensor_type().elem_type()) == tensor.dtype() &&
           fitsShape(input, tensor.shape());
}

/// What makes data fit that do not: "; transpose them with axes (0, 3, 1, 2)" where channels are at
/// the other end, a type; empty where nobody can say.
std::string adviceFor(const tenon_onnx::ValueInfoProto& input, const Tensor& tensor)
{
    constexpr size_t kMostAxes = 5;
    const int32_t wanted = input.type().tensor_type().elem_type();
    if (fitsShape(input, tensor.shape()))
        return "; save them as " + onnxTypeName(wanted) +
               (tensor.dtype().isFloat() ? "" : ", scaled as those that the model was trained on");
    std::vector<size_t> axes(tensor.shape().size());
    if (axes.size() > kMostAxes) return {};
    std::iota(axes.begin(), axes.end(), 0);
    while (std::next_permutation(axes.begin(), axes.end())) {
        std::vector<int64_t> shape;
        for (const size_t axis : axes) shape.push_back(tensor.shape()[axis]);
        if (!fitsShape(input, shape)) continue;
        std::string list;
        for (const size_t axis : axes) list += (list.empty() ? "" : ", ") + std::to_string(axis);
        return "; transpose them with axes (" + list + ")";
    }
    return {};
}

Status checkSet(const tenon_onnx::ValueInfoProto& input, const DataSet& set, const Tensor* first)
{
    const Tensor* tensor = tensorOf(set, input.name());
    const Location where{.file = set.source};
    if (!tensor)
        return makeError(DiagnosticCode::BadArgument,
                         "the data have nothing for input " + quoted(input.name()) + ", which is " +
                             declaredText(input),
                         where);
    if (!fits(input, *tensor))
        return makeError(DiagnosticCode::ShapeMismatch,
                         "input " + quoted(input.name()) + " is " + declaredText(input) +
                             " but the data have " + tensor->typeText() + adviceFor(input, *tensor),
                         where);
    if (first && first->shape() != tensor->shape())
        return makeError(DiagnosticCode::ShapeMismatch,
                         "the data of input " + quoted(input.name()) + " have " +
                             tensor->typeText() + " but those before have " + first->typeText() +
                             "; give data of one shape",
                         where);
    if (holdsNan(*tensor))
        return makeError(DiagnosticCode::NumericMismatch,
                         "the data of input " + quoted(input.name()) +
                             " hold NaN or infinity; leave this data set out",
                         where);
    return kDone;
}

bool isConstant(const CalibrationData& data, const std::string& input)
{
    const Tensor* first = tensorOf(data.front(), input);
    if (first->size() == 0) return true;
    const double value = first->number(0);
    for (const DataSet& set : data) {
        const Tensor& tensor = *tensorOf(set, input);
        for (int64_t i = 0; i < tensor.size(); ++i)
            if (tensor.number(i) != value) return false;
    }
    return true;
}

/// States of zeros and masks of ones are as they are; nothing at all that differs is a mistake.
Status checkVaries(const CalibrationData& data, const std::vector<std::string>& inputs)
{
    std::string constant;
    for (const std::string& input : inputs) {
        if (!isConstant(data, input)) return kDone;
        const Tensor* first = tensorOf(data.front(), input);
        if (constant.empty() && first->dtype().isFloat() && first->size() > 1) constant = input;
    }
    if (constant.empty()) return kDone;
    return makeError(DiagnosticCode::BadArgument,
                     "all data of input " + quoted(constant) + " are the number " +
                         exact(tensorOf(data.front(), constant)->number(0)) +
                         ", which says nothing about ranges; give data like those that "
                         "the model will see");
}

Diagnostic notFinite(const ModelProto& model, const std::string& name, const DataSet& set)
{
    const FloatGraph graph(model.graph());
    const int producer = graph.producer(name);
    Location where{.file = set.source};
    if (producer >= 0) {
        where.node = graph.node(producer).name();
        where.op = graph.node(producer).op_type();
    }
    return makeError(DiagnosticCode::NumericMismatch,
                     quoted(name) + " holds NaN or infinity in the float model; leave this data "
                                    "set out, or correct the model",
                     where);
}

} // namespace

ImportOptions sizesOf(const ModelProto& model, const CalibrationData& data)
{
    ImportOptions out;
    for (const auto& input : model.graph().input()) {
        const auto& type = input.type().tensor_type();
        const bool hasSizes =
            type.has_shape() && std::all_of(type.shape().dim().begin(), type.shape().dim().end(),
                                            [](const auto& dim) { return isFixed(dim); });
        for (const auto& [name, tensor] : data.front().inputs)
            if (name == input.name() && !hasSizes) out.shapes[name] = tensor.shape();
    }
    return out;
}

std::vector<std::string> inputsOf(const ModelProto& model)
{
    const FloatGraph graph(model.graph());
    std::vector<std::string> out;
    for (const auto& input : model.graph().input())
        if (graph.isInput(input.name())) out.push_back(input.name());
    return out;
}

Status checkData(const ModelProto& model, const CalibrationData& data)
{
    if (data.empty())
        return makeError(DiagnosticCode::BadArgument, "there are no data to calibrate with");
    const FloatGraph graph(model.graph());
    std::vector<std::string> inputs;
    for (const auto& input : model.graph().input()) {
        if (!graph.isInput(input.name())) continue;
        const Tensor* first = nullptr;
        for (const DataSet& set : data) {
            if (Status done = checkSet(input, set, first); !done) return done;
            if (!first) first = tensorOf(set, input.name());
        }
        inputs.push_back(input.name());
    }
    return checkVaries(data, inputs);
}

Result<Observed> Observed::open(const ModelProto& model, const std::vector<std::string>& names,
                                const CalibrationData& data, const OpenRunner& open,
                                JobContext& job)
{
    ModelProto more = model;
    Observed out;
    std::set<std::string> known;
    for (const auto& output : more.graph().output()) {
        out.m_results.push_back(output.name());
        known.insert(output.name());
    }
    for (const std::string& input : inputsOf(model)) out.m_inputs.insert(input);
    for (const std::string& name : names) {
        if (out.m_inputs.contains(name) || !known.insert(name).second) continue;
        auto& output = *more.mutable_graph()->add_output();
        output.set_name(name);
        output.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
        out.m_results.push_back(name);
    }
    const auto bytes = std::make_shared<const std::string>(more.SerializeAsString());
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, {}, "model.onnx",
                                sizesOf(model, data));
    if (!loaded) return loaded.error();
    for (const Diagnostic& problem : loaded->diagnostics)
        if (problem.severity == Severity::Error) return problem;
    auto runner = open(std::make_shared<const Loaded>(*std::move(loaded)), job);
    if (!runner) return runner.error();
    out.m_runner = *std::move(runner);
    return out;
}

Result<std::map<std::string, Tensor>> Observed::run(const DataSet& data)
{
    auto outputs = m_runner->run(data);
    if (!outputs) return outputs.error();
    CHECK(outputs->size() == m_results.size()) << "a result is missing";
    std::map<std::string, Tensor> out;
    for (const auto& [name, tensor] : data.inputs)
        if (m_inputs.contains(name)) out[name] = tensor;
    for (size_t i = 0; i < m_results.size(); ++i) out[m_results[i]] = std::move((*outputs)[i]);
    return out;
}

namespace {

/// Adds the mean of every channel, where all data weigh the same, and keeps the peaks.
void addChannels(const Tensor& tensor, size_t sets, SeenTensor& seen)
{
    const std::vector<int64_t>& shape = tensor.shape();
    if (shape.size() < 2 || tensor.size() == 0) return;
    const auto channels = static_cast<size_t>(shape[1]);
    const auto outer = static_cast<size_t>(shape[0]);
    const size_t inner = static_cast<size_t>(tensor.size()) / (outer * channels);
    seen.channelMeans.resize(channels, 0.0);
    seen.channelPeaks.resize(channels, 0.0);
    const std::span<const float> values = tensor.as<float>();
    const double share = 1 / static_cast<double>(outer * inner * sets);
    for (size_t row = 0; row < outer * channels; ++row) {
        double sum = 0;
        float peak = 0;
        for (size_t i = 0; i < inner; ++i) {
            const float value = values[row * inner + i];
            sum += static_cast<double>(value);
            peak = std::max(peak, std::abs(value));
        }
        double& known = seen.channelPeaks[row % channels];
        known = std::max(known, static_cast<double>(peak));
        seen.channelMeans[row % channels] += sum * share;
    }
}

/// One data set into all tensors; the index of the first that is not finite, -1: none.
Result<int64_t> addValues(const std::vector<std::string>& names,
                          const std::map<std::string, Tensor>& values, size_t sets,
                          std::vector<SeenTensor>& seen, const JobContext& job)
{
    std::vector<char> isBad(names.size(), 0);
    const Status added = job.parallelFor(names.size(), [&](size_t i) -> Status {
        const Tensor& tensor = values.at(names[i]);
        if (tensor.dtype() != kFloat32)
            return makeError(DiagnosticCode::UnsupportedDtype,
                             quoted(names[i]) + " is " + tensor.typeText() +
                                 " where 32-bit floats were expected");
        isBad[i] = seen[i].values.add(tensor.as<float>()) >= 0;
        addChannels(tensor, sets, seen[i]);
        return kDone;
    });
    if (!added) return added.error();
    // The first in order of computation is where it began.
    const auto bad = std::find(isBad.begin(), isBad.end(), 1);
    return bad == isBad.end() ? int64_t{-1} : static_cast<int64_t>(bad - isBad.begin());
}

} // namespace

Result<std::map<std::string, SeenTensor>> observeValues(const ModelProto& model,
                                                        const std::vector<std::string>& names,
                                                        const CalibrationData& data,
                                                        const OpenRunner& open, JobContext& job)
{
    auto observed = Observed::open(model, names, data, open, job);
    if (!observed) return observed.error();
    std::vector<SeenTensor> seen(names.size());
    for (size_t set = 0; set < data.size(); ++set) {
        job.progress(static_cast<double>(set) / static_cast<double>(data.size()),
                     "calibrating: " + data[set].source);
        const auto values = observed->run(data[set]);
        if (!values) return values.error();
        const auto bad = addValues(names, *values, data.size(), seen, job);
        if (!bad) return bad.error();
        if (*bad >= 0) return notFinite(model, names[static_cast<size_t>(*bad)], data[set]);
    }
    std::map<std::string, SeenTensor> out;
    for (size_t i = 0; i < names.size(); ++i) out[names[i]] = std::move(seen[i]);
    return out;
}

} // namespace tenon::compiler
