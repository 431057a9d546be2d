// SPDX-License-Identifier: Apache-2.0
// SinglePatches: the patches of one batch applied one after the other, for who looks at every
// rewrite.
#pragma once

#include "core/ir/change_set.h"

#include <unordered_map>

namespace tenon::compiler {

using namespace core;

/// Patches of a batch were all made for the module as it was before: what a later one reads may
/// have been replaced by an earlier one. Those that the batch would drop are not among them.
class SinglePatches
{
public:
    SinglePatches(const Module& before, std::span<const Patch> patches);

    size_t count() const { return m_accepted.size(); }
    size_t dropped() const { return m_dropped; }
    const Patch& patch(size_t index) const { return *m_accepted.at(index); }
    /// In order, each once: `module` is the one before with the patches in front of `index`.
    Change apply(Module& module, size_t index);
    /// Behind the last one: nodes that could run in any order run in the batch's.
    void takeOrder(Module& module) const;

private:
    ValueRef now(ValueRef value) const;

    Module m_together; ///< the batch's result
    std::vector<const Patch*> m_accepted;
    size_t m_dropped = 0;
    std::unordered_map<ValueRef, ValueRef> m_replaced;
};

} // namespace tenon::compiler
