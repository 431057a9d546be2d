// SPDX-License-Identifier: Apache-2.0
// LayoutPlan: which block of channels each value of a function gets, chosen over the whole graph.
#pragma once

#include "compiler/passes/error/error_budget.h"
#include "compiler/passes/layout/choice_graph.h"
#include "compiler/passes/layout/layout_costs.h"
#include "compiler/passes/use_index.h"

#include <string>
#include <unordered_map>

namespace tenon::compiler {

/// Values that elementwise operators, pools and the like join have one layout; convolutions and
/// concatenations have a cost for each pair of layouts around them; a transformation is paid where
/// a plain value meets a blocked one.
class LayoutPlan
{
public:
    LayoutPlan(const Module& module, const GraphFunction& function, const LayoutMachine& machine,
               const ErrorBudget& budget);

    /// Channels per block; 0: plain, also where blocks are not possible.
    int64_t block(ValueRef value) const;
    /// `layouts`, and the cost of the value's layout beside others: "; 41 kcycles around it, 77 in
    /// NCHW8c, 130 in NCHW". Nothing is added where there was no choice.
    std::string weighed(std::string layouts, ValueRef value) const;

private:
    using Blocks = std::vector<int64_t>; ///< options of one class of values; 0 is plain

    void joinValues();
    void joinWithOperands(const NodeRecord& node);
    void addClasses();
    void addCosts();
    void addConvolution(const NodeRecord& node, const BlockableConvolution& conv);
    void addDequantization(const NodeRecord& node);
    void addConcatenation(const NodeRecord& node);
    void addChannelSlice(const NodeRecord& node);
    void addWindow(const NodeRecord& node);
    void payTransform(ValueRef value);
    void payPlainReaders(const NodeRecord& node);
    size_t rootOf(size_t value) const;
    void join(ValueRef a, ValueRef b);
    /// The class of a value, or nothing when it is never blocked.
    std::optional<size_t> classOf(ValueRef value) const;
    int64_t naturalBlock(ValueRef value) const;

    const Module& m_module;
    const GraphFunction& m_function;
    LayoutMachine m_machine;
    const ErrorBudget& m_budget;
    std::vector<ValueRef> m_values; ///< all of four dimensions, in order
    std::unordered_map<ValueRef, size_t> m_index;
    std::vector<size_t> m_parent;              ///< union-find over m_values
    std::unordered_map<size_t, size_t> m_node; ///< class of a root
    std::vector<Blocks> m_blocks;              ///< by class
    std::vector<bool> m_isPaid;                ///< by value: its transformation is counted
    std::vector<bool> m_hasConvolution;        ///< by class
    ChoiceGraph m_graph;
    std::vector<size_t> m_choice;
};

} // namespace tenon::compiler
