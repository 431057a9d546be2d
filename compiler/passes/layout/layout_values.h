// SPDX-License-Identifier: Apache-2.0
// LayoutValues: which values exist plain, blocked or both while layouts are altered.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"
#include "compiler/passes/rewrite.h"

#include <map>
#include <unordered_map>

namespace tenon::compiler {

class LayoutValues
{
public:
    LayoutValues(const Module& module, const UseIndex& uses)
        : m_module(module)
        , m_uses(uses)
    {
    }

    /// What follows is written into `patch`.
    void begin(PatchWriter& patch);
    /// Marks the patch as needed; the first explanation stays.
    void explain(std::string rule, std::string reason);
    bool isTouched() const { return m_isTouched; }
    const std::string& rule() const { return m_rule; }
    const std::string& reason() const { return m_reason; }

    /// Block of a value that exists blocked, else 0. NCHW1c does not count: it is an alias of
    /// plain, made for convolutions that read it, and nobody follows it.
    int64_t blockOf(ValueRef value) const;
    /// The form that exists already; only when blockOf() is not 0.
    ValueRef blockedForm(ValueRef value) const { return m_forms.at(value).blocked; }
    bool isOnlyBlocked(ValueRef value) const;

    /// The value in NCHW, or in blocks; transformed once for all readers.
    ValueRef plain(ValueRef value);
    ValueRef blocked(ValueRef value, int64_t block);
    /// The weight in another layout; readers of one weight share it.
    ValueRef packedWeight(ValueRef weight, const std::string& from, const std::string& to);
    /// The weight as a Winograd convolution of the form reads it.
    ValueRef winogradWeight(ValueRef weight, const WinogradForm& form,
                            const std::array<int64_t, 2>& strides, const std::string& layout);
    /// Factors of products of halves.
    ValueRef halvedWeight(ValueRef weight, const std::string& layout);
    ValueRef transform(ValueRef value, const std::string& from, const std::string& to);
    ValueRef reshaped(ValueRef value, std::vector<int64_t> shape);

    /// Stores `record` (given with the node's id) as producing a blocked value. A value that the
    /// function returns keeps its id for the plain form.
    void produce(const NodeRecord& node, NodeRecord record, int64_t block);

private:
    /// The plain form is the value itself unless `plain` says otherwise.
    struct Forms
    {
        ValueRef plain; ///< invalid: must be made first
        ValueRef blocked;
        int64_t block = 0;
    };

    const Module& m_module;
    const UseIndex& m_uses;
    std::unordered_map<ValueRef, Forms> m_forms;
    std::map<std::pair<ValueRef, std::string>, ValueRef> m_weights;
    PatchWriter* m_patch = nullptr;
    std::string m_rule;
    std::string m_reason;
    bool m_isTouched = false;
};

} // namespace tenon::compiler
