// SPDX-License-Identifier: Apache-2.0
// Brings reference values into the program's form; evaluates kernels for what has no counterpart.
#include "compiler/compare/held_values.h"

#include "compiler/evaluate/evaluate.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Real values as the integers of `units` that stand for them.
Tensor quantized(const Tensor& real, const QuantizedUnits& units, DataType dtype)
{
    const int bits = dtype.bits - (dtype.isSigned() ? 1 : 0);
    const double most = std::ldexp(1.0, bits) - 1, least = dtype.isSigned() ? -most - 1 : 0;
    int64_t inner = 1;
    for (size_t i = static_cast<size_t>(units.axis) + 1; i < real.shape().size(); ++i)
        inner *= real.shape()[i];
    return Tensor::make(dtype, real.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < real.size(); ++i) {
            const size_t k =
                units.scales.size() == 1 ? 0 : static_cast<size_t>(i / inner) % units.scales.size();
            const double whole = std::nearbyint(real.number(i) / units.scales[k]) +
                                 static_cast<double>(units.zeros[k]);
            const double held = std::isnan(whole) ? 0 : std::clamp(whole, least, most);
            storeInteger(dtype, out, i, static_cast<int64_t>(held));
        }
    });
}

bool holdsNaN(const Tensor& tensor)
{
    if (!tensor.dtype().isFloat()) return false;
    const std::vector<double> numbers = tensor.numbers();
    return std::any_of(numbers.begin(), numbers.end(), [](double n) { return std::isnan(n); });
}

Tensor withoutNaN(const Tensor& tensor, double number)
{
    if (!holdsNaN(tensor)) return tensor;
    return Tensor::make(tensor.dtype(), tensor.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < tensor.size(); ++i) {
            const double n = tensor.number(i);
            storeNumber(tensor.dtype(), out, i, std::isnan(n) ? number : n);
        }
    });
}

} // namespace

HeldValues::HeldValues(const CompileResult& built, const ProgramValues& values,
                       ReferenceValues reference, const NamedValues& inputs)
    : m_imported(built.passes.imported)
    , m_lowered(built.passes.last())
    , m_values(values)
    , m_reference(std::move(reference))
    , m_inputs(inputs.begin(), inputs.end())
{
}

Result<Tensor> HeldValues::of(ValueRef value, const JobContext& job)
{
    if (const auto known = m_held.find(value); known != m_held.end()) return known->second;
    if (const Status go = job.checkStop(); !go) return go.error();
    const NodeRecord& node = m_lowered.node(value.node);
    if (node.kind == NodeKind::Constant) return *node.constant;
    if (node.kind == NodeKind::Parameter) {
        const auto input = m_inputs.find(node.name);
        if (input == m_inputs.end())
            return makeError(DiagnosticCode::BadArgument,
                             "input " + core::quoted(node.name) + " was not given");
        return input->second;
    }
    if (const Counterpart* known = m_values.counterpart(value))
        if (const Tensor reference = referenceOf(known->model); !reference.isNull())
            return m_held[value] = toProgram(known->form, reference, zeroOf(known->model));
    auto out = computed(node, value.index, job);
    if (out) m_held[value] = *out;
    return out;
}

Result<std::vector<Tensor>> HeldValues::operandsOf(const NodeRecord& node, const JobContext& job)
{
    std::vector<Tensor> out;
    for (const ValueRef& operand : node.operands) {
        if (!operand.node.isValid()) continue;
        auto tensor = of(operand, job);
        if (!tensor) return tensor.error();
        out.push_back(std::move(*tensor));
    }
    return out;
}

Result<Tensor> HeldValues::computedWith(double number, ValueRef value, std::vector<Tensor> operands,
                                        const JobContext& job)
{
    for (Tensor& operand : operands) operand = withoutNaN(operand, number);
    auto results =
        evaluate(*m_lowered.kernels().at(m_lowered.node(value.node).kernel), operands, job);
    if (!results) return results.error();
    return (*results)[value.index];
}

size_t HeldValues::integerBytes(ValueRef value) const
{
    return m_values.holdsBytes(value) ? 1
                                      : static_cast<size_t>(m_lowered.type(value).dtype.bytes());
}

Status HeldValues::takeUndefined(ValueRef value, const Tensor& device, const JobContext& job)
{
    const NodeRecord& node = m_lowered.node(value.node);
    if (node.kind != NodeKind::CallTir || node.kernel == kNopKernel || device.dtype().isFloat())
        return kDone;
    const auto operands = operandsOf(node, job);
    if (!operands || std::ranges::none_of(*operands, holdsNaN)) return kDone;
    const auto held = of(value, job);
    if (!held) return kDone; // which who asks for it is told
    const auto low = computedWith(-HUGE_VAL, value, *operands, job);
    const auto high = computedWith(HUGE_VAL, value, *operands, job);
    if (!low) return low.error();
    if (!high) return high.error();
    const size_t unit = integerBytes(value);
    m_held[value] = Tensor::make(held->dtype(), held->shape(), [&](std::span<std::byte> out) {
        for (size_t at = 0; at + unit <= out.size(); at += unit) {
            const auto part = [&](const Tensor& tensor) {
                return tensor.bytes().subspan(at, unit);
            };
            const bool isDefined = std::ranges::equal(part(*low), part(*high));
            std::ranges::copy(part(isDefined ? *held : device), out.begin() + std::ptrdiff_t(at));
        }
    });
    return kDone;
}

int64_t HeldValues::zeroOf(ValueRef model) const
{
    if (m_imported.type(model).dtype.isFloat()) return 0;
    const QuantizedUnits units = unitsOf(m_imported, model);
    return units.zeros.size() == 1 ? units.zeros.front() : 0;
}

Tensor HeldValues::referenceOf(ValueRef model) const
{
    const auto found = m_reference.find(model);
    if (found == m_reference.end()) return {};
    const DataType dtype = m_imported.type(model).dtype;
    const Tensor& reference = found->second;
    if (reference.dtype() == dtype) return reference;
    if (!reference.dtype().isFloat()) return {};
    if (dtype.isFloat())
        return toModel({{.kind = FormStep::Kind::Cast, .dtype = dtype}}, reference);
    const QuantizedUnits units = unitsOf(m_imported, model);
    return units.isQuantized() ? quantized(reference, units, dtype) : Tensor();
}

Result<Tensor> HeldValues::computed(const NodeRecord& node, uint32_t index, const JobContext& job)
{
    if (node.kind != NodeKind::CallTir)
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "what control flow gives has no value outside of a run",
                         {.node = node.name, .op = node.op});
    for (const TensorType& type : node.types)
        if (!constantShape(type.shape))
            return makeError(DiagnosticCode::DynamicShape,
                             "the shape " + shapeText(type.shape) + " is known at run time only",
                             {.node = node.name});
    const auto operands = operandsOf(node, job);
    if (!operands) return operands.error();
    if (node.kernel == kNopKernel)
        return operands->at(0).reshaped(*constantShape(node.types.at(0).shape));
    auto results = evaluate(*m_lowered.kernels().at(node.kernel), *operands, job);
    if (!results) return results.error();
    for (uint32_t i = 0; i < results->size(); ++i)
        if (i != index) m_held.try_emplace({node.id, i}, (*results)[i]);
    return (*results)[index];
}

} // namespace tenon::compiler
