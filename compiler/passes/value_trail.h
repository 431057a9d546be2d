// SPDX-License-Identifier: Apache-2.0
// ValueTrail: what became of every value of the model on its way through the passes: which value of
// the last module holds it, in which form, or which rule computed past it.
#pragma once

#include "compiler/passes/pass.h"
#include "core/compare/value_form.h"

#include <unordered_map>

namespace tenon::compiler {

/// Where a value of the module as imported is now.
struct TrailedValue
{
    ValueRef value;        ///< of the main function; invalid: nothing holds it any more
    ValueForm form = {};   ///< from what `value` holds to the model's
    NodeId kernel = {};    ///< the call that computes it on its way, where nothing holds it
    std::string rule = {}; ///< that computed past it; "" while it is there
    std::string reason = {};
};

/// Follows the values of main; those of bodies are not followed.
class ValueTrail
{
public:
    /// Starts with every value as it is.
    void start(const Module& imported);
    /// After `patches` made `after` of `before`; types are complete in both.
    void step(const Module& before, std::span<const Patch> patches, const AppliedPatches& applied,
              const Module& after);

    const std::unordered_map<ValueRef, TrailedValue>& values() const { return m_values; }

private:
    std::unordered_map<ValueRef, TrailedValue> m_values;
};

/// As runPasses(), filling in the trail.
Result<PassTrace> runPasses(const Module& imported, const PassContext& context,
                            const RunPassesOptions& options, ValueTrail* trail);

} // namespace tenon::compiler
