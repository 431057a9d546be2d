// SPDX-License-Identifier: Apache-2.0
// SourceMacs: the multiply-accumulates of the model, given to the nodes that do its work now.
#pragma once

#include "core/ir/module.h"

#include <cstdint>
#include <unordered_map>

namespace tenon::compiler {

/// What passes fill up, fuse or compute twice counts what the model has: the nodes of any version
/// that was made of it add up to the model's own figure, but for what is computed beforehand.
class SourceMacs
{
public:
    explicit SourceMacs(const core::Module& imported);

    /// Of each node that has some, of all functions of a version. Nodes that share a source share
    /// its work as their own shapes tell; where none of them multiplies, as their operations do.
    std::unordered_map<core::NodeId, int64_t> in(const core::Module& version);

private:
    int64_t ownMacs(const core::Module& version, core::NodeId node);

    std::unordered_map<core::SourceId, int64_t> m_ofSource;
    std::unordered_map<core::NodeId, int64_t> m_own; ///< by shapes; ids are identities
};

} // namespace tenon::compiler
