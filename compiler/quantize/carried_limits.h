// SPDX-License-Identifier: Apache-2.0
// CarriedLimits: limits of tensors that functions read behind nodes which move, join or add values:
// what lies beyond those of a part of a tensor need not be told apart in the whole, either.
#pragma once

#include "compiler/quantize/quantize_plan.h"
#include "compiler/quantize/tensor_range.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

/// What the rule looks at.
struct FlatEndsSite
{
    const tenon_onnx::ModelProto& model;
    const FloatGraph& graph;
    const QuantizePlan& plan;
    std::function<LinearRange(const PlannedTensor&)> rangeOf; ///< before it is narrowed
};

class CarriedLimits
{
public:
    explicit CarriedLimits(const FlatEndsSite& site);

    /// Everybody who reads it, or a tensor that shares its scale, may limit it.
    bool canHave(const PlannedTensor& tensor) { return canHave(rootOf(tensor)); }
    /// By tensor, of all that have some, from those that their functions set alone.
    std::map<std::string, ValueLimits> of(const std::map<std::string, ValueLimits>& functions);

private:
    struct Bounds
    {
        double least = 0, greatest = 0;
    };
    struct Known
    {
        const std::map<std::string, ValueLimits>& functions;          ///< by tensor
        std::map<std::string, std::optional<ValueLimits>> roots = {}; ///< nothing: unlimited
    };

    static const std::string& rootOf(const PlannedTensor& tensor)
    {
        return tensor.sameAs.empty() ? tensor.name : tensor.sameAs;
    }
    const PlannedTensor* planned(const std::string& name) const;
    bool isFunctionOf(int reader, const std::string& tensor) const;
    bool isMovedInGroup(int reader, const PlannedTensor& tensor) const;
    bool canHave(const std::string& root);
    bool canHave(const PlannedTensor& member, int reader);
    std::optional<Bounds> boundsOf(const std::string& operand) const;
    bool isGain(const std::string& root, const ValueLimits& limits) const;
    std::optional<ValueLimits> limitsOf(const std::string& root, Known& known);
    std::optional<ValueLimits> limitsOf(const PlannedTensor& member, Known& known);
    std::optional<ValueLimits> limitsBy(int reader, const PlannedTensor& member, Known& known);

    const FlatEndsSite& m_site;
    std::map<std::string, const PlannedTensor*> m_planned;
    std::map<std::string, std::vector<const PlannedTensor*>> m_groups; ///< by root
    std::map<std::string, bool> m_canHave;                             ///< by root
};

} // namespace tenon::compiler
