// SPDX-License-Identifier: Apache-2.0
// ByteCount: what module versions take in memory together, shared parts once, tensor data apart.
#pragma once

#include "core/ir/change_set.h"

#include <functional>
#include <unordered_set>

namespace tenon::core {

/// Counts objects with their heap blocks as the allocator rounds them (16 bytes each).
class ByteCount
{
public:
    void add(const Module& module);
    void add(const std::vector<Change>& changes);
    size_t bytes() const { return m_bytes; }

private:
    bool first(const void* address, size_t bytes); ///< false when it was counted before
    void addRecord(const NodeRecord& record);
    void addAttrs(const Attrs& attrs);
    void addKernel(const tir::PrimFunc& kernel);
    void addFunctions(const std::map<FunctionId, FunctionPtr>& functions);
    void addKernels(const std::map<std::string, PrimFuncPtr>& kernels);

    std::unordered_set<const void*> m_seen;
    size_t m_bytes = 0;
};

} // namespace tenon::core
