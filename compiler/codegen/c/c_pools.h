// SPDX-License-Identifier: Apache-2.0
// The memories of a program in C: static arrays, pools that the caller gives, constants in pools.
#pragma once

#include "compiler/codegen/c/c_sources.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// How a program's memories are spelled. Unless pools were named, that is one static array, and
/// every constant on its own.
class CPools
{
public:
    explicit CPools(const CProgram& source);

    /// Members of the struct, and parameters, in their order: workspaces, then constants.
    std::vector<std::string> callers() const;
    /// True when a call changes static memory.
    bool hasStaticWorkspace() const;

    /// Of the header: sizes, and for the caller's constant pools what they hold.
    std::string macros() const;
    /// Of lib0.c: the static workspaces, and constant pools as they are known elsewhere.
    std::string arrays() const;
    /// Of lib1.c: constant pools with their values; empty where constants are not pooled.
    std::string constants() const;

    /// "pool + 64" with the type; `offset` is of the place inside the buffer.
    std::string place(const std::string& type, int buffer, int64_t offset) const;
    /// A pooled constant: "tvmgen_default_FLASH.constant_3".
    std::string constantAt(int tensor, const std::string& type, int64_t offset) const;
    bool poolsConstants() const { return !m_source.memory.constants.pools.empty(); }

private:
    /// Tensors of a constant pool by their offset, without empty ones.
    std::vector<int> tensorsOf(size_t pool) const;
    std::string workspaceSymbol(const Pool& pool) const;
    std::string structText(size_t pool) const;
    std::string bytesOf(size_t pool) const;

    const CProgram& m_source;
    std::string m_prefix;
};

/// Name of what a pool is bound to: "pool_DTCM".
std::string cPoolLocal(const Pool& pool);

/// The header's macro of what a caller's constant pool holds.
std::string cConstantPoolData(const ExecutorProgram& program, const Pool& pool);

} // namespace tenon::compiler
