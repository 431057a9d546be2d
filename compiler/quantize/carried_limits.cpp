// SPDX-License-Identifier: Apache-2.0
// Against the flow of the data, from functions to what makes their operands. Tensors that share a
// scale have one pair of limits, the widest that anybody who reads one of them allows.
#include "compiler/quantize/carried_limits.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tenon_onnx::NodeProto;

/// A range that is narrower by less stays what the data say.
constexpr double kLeastGain = 0.03;

bool isSum(const NodeProto& node) { return node.op_type() == "Add" || node.op_type() == "Sub"; }

/// The least and the greatest number of a constant, as far as its rounding may carry them.
std::pair<double, double> endsOf(const Tensor& constant)
{
    double least = 0, greatest = 0;
    for (const double value : constant.numbers()) {
        least = std::min(least, value);
        greatest = std::max(greatest, value);
    }
    const double step = static_cast<double>(linearRange(least, greatest, kInt8, false).scale);
    return {least - step, greatest + step};
}

void widen(std::optional<ValueLimits>& limits, const ValueLimits& more)
{
    if (!limits) limits = more;
    limits->least = std::min(limits->least, more.least);
    limits->greatest = std::max(limits->greatest, more.greatest);
}

} // namespace

CarriedLimits::CarriedLimits(const FlatEndsSite& site)
    : m_site(site)
{
    for (const PlannedTensor& tensor : site.plan.tensors) {
        m_planned[tensor.name] = &tensor;
        m_groups[rootOf(tensor)].push_back(&tensor);
    }
}

const PlannedTensor* CarriedLimits::planned(const std::string& name) const
{
    const auto found = m_planned.find(name);
    return found == m_planned.end() ? nullptr : found->second;
}

bool CarriedLimits::isFunctionOf(int reader, const std::string& tensor) const
{
    const NodeProto& node = m_site.graph.node(reader);
    if (node.output_size() == 0) return false;
    const auto of = m_site.plan.functions.find(node.output(0));
    return of != m_site.plan.functions.end() && of->second == tensor;
}

bool CarriedLimits::isMovedInGroup(int reader, const PlannedTensor& tensor) const
{
    if (m_site.plan.nodes[static_cast<size_t>(reader)].role != NodeRole::Moving) return false;
    const auto& outputs = m_site.graph.node(reader).output();
    return std::all_of(outputs.begin(), outputs.end(), [&](const std::string& output) {
        if (const PlannedTensor* part = planned(output)) return rootOf(*part) == rootOf(tensor);
        return m_site.graph.consumers(output).empty() && !m_site.graph.isResult(output);
    });
}

bool CarriedLimits::canHave(const std::string& root)
{
    if (const auto known = m_canHave.find(root); known != m_canHave.end()) return known->second;
    const auto& members = m_groups.at(root);
    const bool can = std::all_of(members.begin(), members.end(), [&](const PlannedTensor* member) {
        const std::string& name = member->name;
        const auto& readers = m_site.graph.consumers(name);
        return member->isForAll && !m_site.graph.isResult(name) && !m_site.graph.isCaptured(name) &&
               !m_site.plan.functions.contains(name) &&
               std::all_of(readers.begin(), readers.end(),
                           [&](int reader) { return canHave(*member, reader); });
    });
    return m_canHave[root] = can;
}

bool CarriedLimits::canHave(const PlannedTensor& member, int reader)
{
    if (isFunctionOf(reader, member.name) || isMovedInGroup(reader, member)) return true;
    const NodeProto& node = m_site.graph.node(reader);
    const NodeRole role = m_site.plan.nodes[static_cast<size_t>(reader)].role;
    if (role != NodeRole::Computing || !(isSum(node) || node.op_type() == "Concat")) return false;
    const auto& inputs = node.input();
    if (isSum(node) && !std::all_of(inputs.begin(), inputs.end(), [&](const std::string& each) {
            return boundsOf(each).has_value();
        }))
        return false;
    const PlannedTensor* result = planned(node.output(0));
    return result && canHave(rootOf(*result));
}

/// What an operand is once it is rounded, whatever its own limits become.
std::optional<CarriedLimits::Bounds> CarriedLimits::boundsOf(const std::string& operand) const
{
    if (const PlannedTensor* tensor = planned(operand)) {
        const LinearRange range = m_site.rangeOf(*tensor);
        const auto step = static_cast<double>(range.scale);
        return Bounds{range.least() - step, range.greatest() + step};
    }
    const Tensor* constant = m_site.graph.constant(operand);
    if (!constant || constant->dtype() != kFloat32) return std::nullopt;
    const auto [least, greatest] = endsOf(*constant);
    return Bounds{least, greatest};
}

/// An operand so far beyond the limits of a sum that no other operand brings it back is as good as
/// one that is just beyond them.
std::optional<ValueLimits> CarriedLimits::limitsBy(int reader, const PlannedTensor& member,
                                                   Known& known)
{
    const NodeProto& node = m_site.graph.node(reader);
    auto limits = limitsOf(rootOf(*planned(node.output(0))), known);
    if (!limits || !isSum(node)) return limits;
    const bool isSub = node.op_type() == "Sub";
    std::optional<ValueLimits> out;
    for (const int at : {0, 1}) {
        if (node.input(at) != member.name) continue;
        const Bounds other = *boundsOf(node.input(1 - at));
        if (!isSub)
            widen(out, {limits->least - other.greatest, limits->greatest - other.least});
        else if (at == 0)
            widen(out, {limits->least + other.least, limits->greatest + other.greatest});
        else
            widen(out, {other.least - limits->greatest, other.greatest - limits->least});
    }
    return out;
}

/// By those who read it themselves; nothing where one of them reads all of it, no limits where
/// there is only what moves it.
std::optional<ValueLimits> CarriedLimits::limitsOf(const PlannedTensor& member, Known& known)
{
    std::optional<ValueLimits> out;
    // Rounding the ends of the range takes half a step.
    const auto step = static_cast<double>(m_site.rangeOf(member).scale);
    for (const int reader : m_site.graph.consumers(member.name)) {
        if (isMovedInGroup(reader, member)) continue;
        if (isFunctionOf(reader, member.name)) {
            const auto found = known.functions.find(member.name);
            if (found == known.functions.end()) return ValueLimits{};
            widen(out, found->second);
        } else {
            const auto limits = limitsBy(reader, member, known);
            if (!limits) return ValueLimits{};
            widen(out, {limits->least - step, limits->greatest + step});
        }
    }
    return out;
}

std::optional<ValueLimits> CarriedLimits::limitsOf(const std::string& root, Known& known)
{
    if (const auto found = known.roots.find(root); found != known.roots.end()) return found->second;
    std::optional<ValueLimits> out;
    if (canHave(root))
        for (const PlannedTensor* member : m_groups.at(root))
            if (const auto limits = limitsOf(*member, known)) widen(out, *limits);
    return known.roots[root] = out;
}

bool CarriedLimits::isGain(const std::string& root, const ValueLimits& limits) const
{
    const LinearRange range = m_site.rangeOf(*m_groups.at(root).front());
    const double least = std::max(limits.least, range.least());
    const double greatest = std::min(limits.greatest, range.greatest());
    return greatest - least < (1 - kLeastGain) * (range.greatest() - range.least());
}

std::map<std::string, ValueLimits>
CarriedLimits::of(const std::map<std::string, ValueLimits>& functions)
{
    Known known{functions};
    std::map<std::string, ValueLimits> out;
    for (const auto& [root, members] : m_groups) {
        auto limits = limitsOf(root, known);
        if (!limits) continue;
        widen(limits, {0, 0}); // which is always an integer
        if (!isGain(root, *limits)) continue;
        for (const PlannedTensor* member : members) out[member->name] = *limits;
    }
    return out;
}

} // namespace tenon::compiler
