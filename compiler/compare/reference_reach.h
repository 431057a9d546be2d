// SPDX-License-Identifier: Apache-2.0
// ReferenceReach: which of the tensors that a program holds a reference knows.
#pragma once

#include "compiler/compare/compare.h"

namespace tenon::compiler {

class ReferenceReach
{
public:
    ReferenceReach(const CompileResult& built, const ProgramValues& values,
                   const ReferenceValues& reference);

    /// Whether what the call reads is of the reference: false where none of it is and layers stand
    /// between the call and the inputs of the model, whose errors would be taken for its own.
    bool feeds(const KernelCall& call) const;
    /// What to say about tensors of the model that the reference does not know; empty: nothing.
    std::string text() const;

private:
    bool isKnown(ValueRef value) const;

    const Module& m_lowered;
    const ProgramValues& m_values;
    const ReferenceValues& m_reference;
    std::map<NodeId, int64_t> m_macsOf;
};

/// What has the name of a tensor but not its shape is another one and goes, unless axes of one
/// element are all that differs. Says so of each.
std::vector<std::string> dropUnfit(ReferenceValues& reference, const Module& imported,
                                   const ProgramValues& values);

} // namespace tenon::compiler
