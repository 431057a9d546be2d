// SPDX-License-Identifier: Apache-2.0
// Symbols of ONNX, signatures of TensorFlow Lite.
#include "compiler/quantize/bind_sizes.h"

#include "compiler/frontend/import/fold_tensor.h"
#include "compiler/quantize/onnx_document.h"
#include "core/base/text.h"
#include "core/tensor/onnx_types.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

using Sizes = std::map<std::string, int64_t>;
using tenon_onnx::GraphProto;
using tenon_onnx::ValueInfoProto;

/// Sizes of one input, and of the symbols that stand there.
void bindInput(ValueInfoProto& input, const std::vector<int64_t>& sizes, Sizes& symbols)
{
    const bool hasShape = input.type().tensor_type().has_shape();
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    if (!hasShape)
        for (size_t i = 0; i < sizes.size(); ++i) shape.add_dim();
    if (static_cast<size_t>(shape.dim_size()) != sizes.size()) return;
    for (int i = 0; i < shape.dim_size(); ++i) {
        auto& dim = *shape.mutable_dim(i);
        if (isFixed(dim)) continue;
        const int64_t size = sizes[static_cast<size_t>(i)];
        if (!dim.dim_param().empty()) symbols.emplace(dim.dim_param(), size);
        dim.set_dim_value(size);
    }
}

template <class Values>
void bindSymbols(Values& values, const Sizes& symbols)
{
    for (ValueInfoProto& value : values) {
        if (!value.type().tensor_type().has_shape()) continue;
        for (auto& dim :
             *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
            if (const auto size = symbols.find(dim.dim_param()); size != symbols.end())
                dim.set_dim_value(size->second);
    }
}

/// The value in the type and shape that the input declares.
Result<Tensor> fixedValue(const ValueInfoProto& input, const Tensor& value)
{
    const auto& declared = input.type().tensor_type();
    const auto dtype = dataTypeOf(declared.elem_type());
    std::vector<int64_t> shape;
    for (const auto& dim : declared.shape().dim())
        if (isFixed(dim)) shape.push_back(dim.dim_value());
    const bool isKnown = shape.size() == static_cast<size_t>(declared.shape().dim_size());
    if (!declared.has_shape() || !isKnown) shape = value.shape();
    if (!dtype || elementCount(shape) != value.size())
        return makeError(DiagnosticCode::ShapeMismatch,
                         "input " + quoted(input.name()) + " of shape (" + join(shape, ", ") +
                             ") cannot be fixed to " + value.typeText(),
                         {.detail = input.name()});
    const Tensor typed = value.dtype() == *dtype ? value : foldedCast(value, *dtype);
    return typed.reshaped(shape);
}

/// The constant of that name, which older files have as the default of an input, or a new one.
tenon_onnx::TensorProto& initializerOf(GraphProto& graph, const std::string& name)
{
    for (tenon_onnx::TensorProto& constant : *graph.mutable_initializer())
        if (constant.name() == name) {
            constant.Clear();
            return constant;
        }
    return *graph.add_initializer();
}

/// The first size of an input; nothing where it stays what the file says.
Result<std::optional<int64_t>> firstSizeOf(const TfliteTensor& input, const ImportOptions& sizes)
{
    const auto bound = sizes.shapes.find(input.name);
    if (bound == sizes.shapes.end() || bound->second == input.shape)
        return std::optional<int64_t>();
    const std::vector<int64_t>& shape = bound->second;
    const auto misfit = [&](const std::string& why) {
        return makeError(DiagnosticCode::ShapeMismatch,
                         "input " + quoted(input.name) + " has the shape (" +
                             join(input.shape, ", ") + ") and cannot be bound to (" +
                             join(shape, ", ") + ")" + why);
    };
    if (shape.size() != input.shape.size() || input.signature.size() != shape.size())
        return misfit("");
    if (input.signature[0] >= 0 || input.shape[0] != 1 ||
        !std::equal(shape.begin() + 1, shape.end(), input.shape.begin() + 1))
        return misfit("; quantizing a TensorFlow Lite model takes another first size only, where "
                      "it is open");
    return std::optional<int64_t>(shape[0]);
}

} // namespace

void bindSizes(tenon_onnx::GraphProto& graph, const ImportOptions& sizes)
{
    Sizes symbols = sizes.dims;
    std::set<std::string> inputs;
    for (ValueInfoProto& input : *graph.mutable_input()) {
        inputs.insert(input.name());
        if (const auto bound = sizes.shapes.find(input.name()); bound != sizes.shapes.end())
            bindInput(input, bound->second, symbols);
    }
    for (const auto& [name, shape] : sizes.shapes)
        if (shape.size() == 1 && !inputs.contains(name)) symbols.emplace(name, shape[0]);
    symbols.erase("");
    if (symbols.empty()) return;
    bindSymbols(*graph.mutable_input(), symbols);
    bindSymbols(*graph.mutable_output(), symbols);
    bindSymbols(*graph.mutable_value_info(), symbols);
}

Status bindValues(GraphProto& graph, const ImportOptions& options)
{
    auto& inputs = *graph.mutable_input();
    for (int i = 0; i < inputs.size();) {
        const auto given = options.values.find(inputs[i].name());
        if (given == options.values.end()) {
            ++i;
            continue;
        }
        const auto value = fixedValue(inputs[i], given->second);
        if (!value) return value.error();
        storeTensor(*value, given->first, initializerOf(graph, given->first));
        inputs.erase(inputs.begin() + i);
    }
    return kDone;
}

Status bindSizes(TfliteModel& model, const ImportOptions& sizes)
{
    TfliteSubgraph& graph = model.subgraphs.front();
    std::optional<int64_t> first;
    for (const int64_t id : graph.inputs) {
        const TfliteTensor& input = graph.tensors.at(static_cast<size_t>(id));
        const auto size = firstSizeOf(input, sizes);
        if (!size) return size.error();
        if (*size && first && *first != **size)
            return makeError(DiagnosticCode::ShapeMismatch,
                             "input " + quoted(input.name) +
                                 " is bound to another first size than "
                                 "the input before it");
        if (*size) first = *size;
    }
    if (!first) return kDone;
    for (TfliteTensor& tensor : graph.tensors)
        if (!tensor.shape.empty() && tensor.signature.size() == tensor.shape.size() &&
            tensor.signature[0] < 0)
            tensor.shape[0] *= *first;
    return kDone;
}

} // namespace tenon::compiler
