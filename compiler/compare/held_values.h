// SPDX-License-Identifier: Apache-2.0
// HeldValues: the reference's values as the compiled program holds them, so that its kernels can be
// fed with them.
#pragma once

#include "compiler/compare/compare.h"

namespace tenon::compiler {

class HeldValues
{
public:
    HeldValues(const CompileResult& built, const ProgramValues& values, ReferenceValues reference,
               const NamedValues& inputs);

    /// A value of the lowered main function. What the model has no tensor for is computed from what
    /// it has, by the definition of its kernel. Errors: DynamicShape, UnsupportedOperator for what
    /// control flow gives.
    Result<Tensor> of(ValueRef value, const JobContext& job);
    /// Takes the device's word for integers that its call makes of what is no number: no processor
    /// has to give a certain one. Does nothing for what the model has a tensor for.
    Status takeUndefined(ValueRef value, const Tensor& device, const JobContext& job);

private:
    Result<std::vector<Tensor>> operandsOf(const NodeRecord& node, const JobContext& job);
    /// What the call gives if all numbers of its operands that are none were `number`.
    Result<Tensor> computedWith(double number, ValueRef value, std::vector<Tensor> operands,
                                const JobContext& job);
    /// Bytes of what is one integer of a value.
    size_t integerBytes(ValueRef value) const;
    Result<Tensor> computed(const NodeRecord& node, uint32_t index, const JobContext& job);
    /// What the reference has for a value of the model, in the model's type; null: nothing.
    Tensor referenceOf(ValueRef model) const;
    /// The integer that stands for zero in a value of the model.
    int64_t zeroOf(ValueRef model) const;

    const Module& m_imported;
    const Module& m_lowered;
    const ProgramValues& m_values;
    ReferenceValues m_reference;
    std::map<std::string, Tensor> m_inputs;
    std::map<ValueRef, Tensor> m_held;
};

} // namespace tenon::compiler
