// SPDX-License-Identifier: Apache-2.0
// ProgramValues: which tensor of the model each kernel call of a compiled program gives, in which
// form, and what its integers stand for.
#pragma once

#include "compiler/driver/compile_stages.h"
#include "core/compare/comparison.h"
#include "core/compare/whole_steps.h"

#include <map>
#include <unordered_map>

namespace tenon::compiler {

/// What a value of the lowered module is in the model.
struct Counterpart
{
    ValueRef model; ///< of the module as imported
    ValueForm form; ///< from what the program holds to the model's
};

class ProgramValues
{
public:
    ProgramValues(const CompileResult& built, const ValueTrail& trail);

    /// Kernel calls of the main function that the program makes, in order of execution.
    const std::vector<const KernelCall*>& calls() const { return m_calls; }
    /// Of a call's result; null: the model has no such tensor.
    const Counterpart* counterpart(ValueRef value) const;
    /// Of a call's result: each of its words holds four integers of 8 bits.
    bool holdsBytes(ValueRef value) const;
    /// Values of the model that some call gives, in the model's order.
    std::vector<ValueRef> modelValues() const;
    /// Values of the model that nothing holds.
    const std::vector<AbsorbedValue>& absorbed() const { return m_absorbed; }
    /// The name of the model's value for people.
    std::string nameOf(ValueRef model) const;
    /// Kernel calls inside of control flow, which nobody can tap.
    size_t hiddenCalls() const { return m_hidden; }

private:
    void addCounterpart(ValueRef model, const TrailedValue& trailed);
    void addAbsorbed(ValueRef model, const TrailedValue& trailed);

    const CompileResult& m_built;
    std::vector<const KernelCall*> m_calls;
    std::unordered_map<ValueRef, Counterpart> m_counterparts;
    std::unordered_map<NodeId, const KernelCall*> m_callOf;
    std::vector<AbsorbedValue> m_absorbed;
    std::map<ValueRef, std::string> m_outputNames;
    size_t m_hidden = 0;
};

/// What the integers of a value of the module as imported stand for, as the nodes around it say.
QuantizedUnits unitsOf(const Module& imported, ValueRef value);
/// What floats were that a dequantization makes, and that have moved at most; nothing of others.
std::optional<core::IntegersBehind> integersBehind(const Module& imported, ValueRef value);

} // namespace tenon::compiler
