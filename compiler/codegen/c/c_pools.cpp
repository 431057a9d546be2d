// SPDX-License-Identifier: Apache-2.0
// Every memory is an array or a pointer with a place; offsets are the planner's.
#include "compiler/codegen/c/c_pools.h"

#include "compiler/codegen/c/c_text.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstring>

namespace tenon::compiler {
namespace {

size_t at(int index) { return static_cast<size_t>(index); }

std::string plus(const std::string& base, int64_t offset)
{
    return base + (offset ? " + " + std::to_string(offset) : "");
}

std::string memberOf(int tensor) { return "constant_" + std::to_string(tensor); }

} // namespace

std::string cPoolLocal(const Pool& pool) { return "pool_" + cIdentifier(pool.name); }

std::string cConstantPoolData(const ExecutorProgram& program, const Pool& pool)
{
    return cMacro("tvmgen_" + cName(program.moduleName) + "_" + cName(pool.name)) +
           "_CONSTANT_POOL_DATA";
}

CPools::CPools(const CProgram& source)
    : m_source(source)
    , m_prefix("tvmgen_" + cName(source.program.moduleName))
{
}

std::vector<std::string> CPools::callers() const
{
    std::vector<std::string> out;
    for (const auto* pools : {&m_source.memory.problem.pools, &m_source.memory.constants.pools})
        for (const Pool& pool : *pools)
            if (pool.isCallers) out.push_back(cIdentifier(pool.name));
    return out;
}

bool CPools::hasStaticWorkspace() const
{
    const std::vector<Pool>& pools = m_source.memory.problem.pools;
    return std::any_of(pools.begin(), pools.end(),
                       [](const Pool& pool) { return !pool.isCallers; });
}

std::string CPools::workspaceSymbol(const Pool& pool) const
{
    return pool.section.empty() ? cWorkspaceSymbol(m_source.program)
                                : m_prefix + "_" + cName(pool.name);
}

std::string CPools::macros() const
{
    const ProgramMemory& memory = m_source.memory;
    std::string out = "/* Memory for the values between kernels. */\n#define " + cMacro(m_prefix) +
                      "_WORKSPACE_SIZE " + std::to_string(memory.workspaceBytes()) + "\n";
    for (size_t p = 0; p < memory.problem.pools.size(); ++p) {
        const Pool& pool = memory.problem.pools[p];
        if (!pool.isCallers && pool.section.empty()) continue;
        out += "#define " + cMacro(m_prefix + "_" + cName(pool.name)) + "_WORKSPACE_POOL_SIZE " +
               std::to_string(memory.plan.peakBytes[p]) + "\n";
    }
    for (size_t p = 0; p < memory.constants.pools.size(); ++p) {
        const std::string name = cMacro(m_prefix + "_" + cName(memory.constants.pools[p].name));
        out += "#define " + name + "_CONSTANT_POOL_SIZE " +
               std::to_string(memory.constants.bytes[p]) + "\n";
        if (memory.constants.pools[p].isCallers)
            out += "#define " + cConstantPoolData(m_source.program, memory.constants.pools[p]) +
                   " " + bytesOf(p) + "\n";
    }
    return out + "\n";
}

std::string CPools::arrays() const
{
    const ProgramMemory& memory = m_source.memory;
    std::string out;
    for (size_t p = 0; p < memory.problem.pools.size(); ++p) {
        const Pool& pool = memory.problem.pools[p];
        const std::string section = pool.section.empty() ? ".bss.noinit.tvm" : pool.section;
        if (!pool.isCallers && memory.plan.peakBytes[p] > 0)
            out += "\nstatic uint8_t " + workspaceSymbol(pool) + "[" +
                   std::to_string(memory.plan.peakBytes[p]) + "] TVMGEN_PLACED(" +
                   cString(section) + ", " + std::to_string(m_source.alignment) + ");\n";
    }
    for (size_t p = 0; p < memory.constants.pools.size(); ++p)
        if (!memory.constants.pools[p].isCallers && memory.constants.bytes[p] > 0)
            out += "\n" + structText(p);
    return out;
}

std::vector<int> CPools::tensorsOf(size_t pool) const
{
    std::vector<int> out;
    const std::vector<Placement>& placements = m_source.memory.constants.placements;
    for (size_t t = 0; t < placements.size(); ++t)
        if (placements[t].pool == static_cast<int>(pool) && m_source.program.tensors[t].bytes() > 0)
            out.push_back(static_cast<int>(t));
    std::sort(out.begin(), out.end(), [&](int a, int b) {
        return std::pair(placements[at(a)].offset, a) < std::pair(placements[at(b)].offset, b);
    });
    return out;
}

/// Gaps are members of their own, so that every compiler puts what follows where it was planned.
std::string CPools::structText(size_t pool) const
{
    const std::string name = m_prefix + "_" + cName(m_source.memory.constants.pools[pool].name);
    std::string out = "struct " + name + "_constants\n{\n";
    int64_t end = 0;
    for (const int tensor : tensorsOf(pool)) {
        const ProgramTensor& constant = m_source.program.tensors[at(tensor)];
        const int64_t offset = m_source.memory.constants.placements[at(tensor)].offset;
        if (offset > end)
            out += "    uint8_t gap_" + std::to_string(tensor) + "[" +
                   std::to_string(offset - end) + "];\n";
        out += "    " + cType(constant.dtype) + " " + memberOf(tensor) + "[" +
               std::to_string(core::elementCount(constant.shape)) + "];\n";
        end = offset + constant.bytes();
    }
    return out + "};\nextern const struct " + name + "_constants " + name + ";\n";
}

std::string CPools::constants() const
{
    const ConstantPlan& plan = m_source.memory.constants;
    std::string out;
    for (size_t p = 0; p < plan.pools.size(); ++p) {
        if (plan.pools[p].isCallers || plan.bytes[p] == 0) continue;
        const std::string name = m_prefix + "_" + cName(plan.pools[p].name);
        out += structText(p) + "const struct " + name + "_constants " + name + " TVMGEN_PLACED(" +
               cString(plan.pools[p].section) + ", " + std::to_string(m_source.constantsAlignment) +
               ") = {\n";
        int64_t end = 0;
        for (const int tensor : tensorsOf(p)) {
            const ProgramTensor& constant = m_source.program.tensors[at(tensor)];
            if (plan.placements[at(tensor)].offset > end) out += "    {0},\n";
            end = plan.placements[at(tensor)].offset + constant.bytes();
            out += "    /* " + core::replaced(constant.name, "*/", "* /") + ": " +
                   cType(constant.dtype) + " (" + core::join(constant.shape, ", ") + ") */\n    " +
                   cInitializer(constant.constant) + ",\n";
        }
        out += "};\n\n";
    }
    return out;
}

/// Rows of numbers, each but the last with a backslash behind it.
std::string CPools::bytesOf(size_t pool) const
{
    const ConstantPlan& plan = m_source.memory.constants;
    const auto text = [](std::span<const std::byte> bytes) {
        const auto count = static_cast<int64_t>(bytes.size());
        return cInitializer(
            core::Tensor::make(core::kUInt8, {count}, [&](std::span<std::byte> out) {
                std::memcpy(out.data(), bytes.data(), bytes.size());
            }));
    };
    std::vector<std::byte> bytes(static_cast<size_t>(plan.bytes[pool]));
    for (const int tensor : tensorsOf(pool)) {
        const auto values = m_source.program.tensors[at(tensor)].constant.bytes();
        if (!values.empty())
            std::memcpy(bytes.data() + plan.placements[at(tensor)].offset, values.data(),
                        values.size());
    }
    if (bytes.empty()) return "{0}";
    return core::replaced(text(bytes), "\n", " \\\n");
}

std::string CPools::place(const std::string& type, int buffer, int64_t offset) const
{
    const Pool& pool = m_source.memory.poolOf(buffer);
    const std::string place = plus(pool.isCallers ? cPoolLocal(pool) : workspaceSymbol(pool),
                                   offset + m_source.memory.plan.placements[at(buffer)].offset);
    return type == "uint8_t" ? place : "(" + type + "*)(void*)(" + place + ")";
}

std::string CPools::constantAt(int tensor, const std::string& type, int64_t offset) const
{
    if (m_source.program.tensors[at(tensor)].bytes() == 0) return "NULL";
    const ConstantPlan& plan = m_source.memory.constants;
    const Placement& placement = plan.placements[at(tensor)];
    const Pool& pool = plan.pools[at(placement.pool)];
    if (pool.isCallers)
        return "(const " + type + "*)(const void*)(" +
               plus(cPoolLocal(pool), placement.offset + offset) + ")";
    const std::string member = m_prefix + "_" + cName(pool.name) + "." + memberOf(tensor);
    if (offset == 0 && cType(m_source.program.tensors[at(tensor)].dtype) == type) return member;
    return "(const " + type + "*)(const void*)(" + plus("(const uint8_t*)" + member, offset) + ")";
}

} // namespace tenon::compiler
