// SPDX-License-Identifier: Apache-2.0
// RecordSharing: keeps a trace small by storing equal types and attributes of records once.
#pragma once

#include "core/ir/module.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {

using namespace core;

class RecordSharing
{
public:
    /// Takes the types and attributes of `module` as they are.
    void adopt(const Module& module);
    /// Rewrites records of `module` whose types or attributes equal ones that are known; others
    /// become known.
    void share(Module& module);

private:
    bool shareTypes(NodeRecord& record, const NodeRecord& old);
    bool shareAttrs(NodeRecord& record, const NodeRecord& old);

    std::unordered_set<const void*> m_known; ///< storage of types and attributes
    std::unordered_map<std::string, SharedTypes> m_types;
    std::unordered_map<std::string, Attrs> m_attrs;
};

} // namespace tenon::compiler
