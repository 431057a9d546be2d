// SPDX-License-Identifier: Apache-2.0
// Input by input, by name.
#include "compiler/compare/real_inputs.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The input of that name; invalid: there is none.
ValueRef inputOf(const Module& module, const std::string& name)
{
    for (const NodeId id : module.main().params)
        if (module.node(id).name == name) return {id, 0};
    return {};
}

Tensor asFloats(const Tensor& integers, const QuantizedUnits& units, DataType dtype)
{
    const std::vector<double> real = units.realValues(integers);
    return Tensor::make(dtype, integers.shape(), [&](std::span<std::byte> out) {
        for (size_t i = 0; i < real.size(); ++i)
            storeNumber(dtype, out, static_cast<int64_t>(i), real[i]);
    });
}

Result<Tensor> fitted(const Module& own, const Module& other, const std::string& name,
                      const Tensor& given)
{
    const ValueRef theirs = inputOf(other, name);
    if (!theirs.node.isValid() || other.type(theirs).dtype == given.dtype()) return given;
    const DataType dtype = other.type(theirs).dtype;
    const ValueRef ours = inputOf(own, name);
    if (dtype.isFloat() && ours.node.isValid())
        if (const QuantizedUnits units = unitsOf(own, ours); units.isQuantized())
            return asFloats(given, units, dtype);
    return makeError(DiagnosticCode::ShapeMismatch,
                     "input " + core::quoted(name) + " is " + given.dtype().text() +
                         " of the model but " + dtype.text() +
                         " of the reference, and the model's file does not say what its values "
                         "stand for in those; take a reference whose inputs have the same types, "
                         "or --reference opt0");
}

} // namespace

ReferenceSource onInputsOf(std::shared_ptr<const Loaded> own, std::shared_ptr<const Loaded> other,
                           ReferenceSource source)
{
    return [own = std::move(own), other = std::move(other), source = std::move(source)](
               const std::vector<ValueRef>& wanted, const NamedValues& inputs,
               JobContext& job) -> Result<ReferenceValues> {
        NamedValues fit;
        for (const auto& [name, tensor] : inputs) {
            auto value = fitted(own->module, other->module, name, tensor);
            if (!value) return value.error();
            fit.emplace_back(name, std::move(*value));
        }
        return source(wanted, fit, job);
    };
}

} // namespace tenon::compiler
