// SPDX-License-Identifier: Apache-2.0
// Reads and writes planning problems as CSV.
#include "compiler/memory/plan_csv.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>

namespace tenon::compiler {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 50; // sums of a million such buffers stay in 64 bits

struct Columns
{
    int id = -1;
    int lower = -1;
    int upper = -1;
    int size = -1;
    int alignment = -1;
    int offset = -1;
    size_t count = 0;
};

core::Diagnostic csvError(size_t line, const std::string& what)
{
    return core::makeError(core::DiagnosticCode::BadText,
                           "line " + std::to_string(line) + ": " + what,
                           {.detail = std::to_string(line)});
}

core::Result<Columns> readHeader(std::string_view text)
{
    Columns columns;
    const std::vector<std::string> names = core::split(text, ',');
    columns.count = names.size();
    for (size_t i = 0; i < names.size(); ++i) {
        const std::string_view name = core::trimmed(names[i]);
        const int at = static_cast<int>(i);
        if (name == "id" || name == "buffer") columns.id = at;
        if (name == "lower" || name == "start") columns.lower = at;
        if (name == "upper" || name == "end") columns.upper = at;
        if (name == "size") columns.size = at;
        if (name == "alignment") columns.alignment = at;
        if (name == "offset") columns.offset = at;
    }
    if (columns.id < 0 || columns.lower < 0 || columns.upper < 0 || columns.size < 0)
        return csvError(1, "the header must name the columns id, lower, upper and size");
    return columns;
}

core::Result<int64_t> readNumber(const std::vector<std::string>& cells, int column, size_t line)
{
    const std::string_view text = core::trimmed(cells[static_cast<size_t>(column)]);
    int64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size())
        return csvError(line, core::quoted(text) + " is not a number");
    if (number < 0 || number > kMaxBytes)
        return csvError(line, std::to_string(number) + " is out of range");
    return number;
}

core::Result<BufferInfo> readBuffer(const std::vector<std::string>& cells, const Columns& columns,
                                    size_t line)
{
    BufferInfo buffer{.alignment = 1};
    buffer.name = core::trimmed(cells[static_cast<size_t>(columns.id)]);
    const core::Result<int64_t> lower = readNumber(cells, columns.lower, line);
    if (!lower) return lower.error();
    const core::Result<int64_t> upper = readNumber(cells, columns.upper, line);
    if (!upper) return upper.error();
    const core::Result<int64_t> size = readNumber(cells, columns.size, line);
    if (!size) return size.error();
    if (*upper <= *lower || *upper > INT32_MAX)
        return csvError(line, "the lifetime of " + core::quoted(buffer.name) +
                                  " must end behind its start and below 2^31");
    buffer.first = static_cast<int>(*lower);
    buffer.last = static_cast<int>(*upper - 1);
    buffer.sizeBytes = *size;
    if (columns.alignment >= 0) {
        const core::Result<int64_t> alignment = readNumber(cells, columns.alignment, line);
        if (!alignment) return alignment.error();
        buffer.alignment = std::max<int64_t>(*alignment, 1);
    }
    return buffer;
}

} // namespace

core::Result<PlanCsv> readPlanCsv(std::string_view text)
{
    const std::vector<std::string> lines = core::split(text, '\n');
    const core::Result<Columns> columns = readHeader(lines.front());
    if (!columns) return columns.error();
    std::vector<BufferInfo> buffers;
    std::vector<int64_t> offsets;
    for (size_t i = 1; i < lines.size(); ++i) {
        if (core::trimmed(lines[i]).empty()) continue;
        const std::vector<std::string> cells = core::split(lines[i], ',');
        if (cells.size() != columns->count)
            return csvError(i + 1, "expected " + std::to_string(columns->count) +
                                       " cells but found " + std::to_string(cells.size()));
        core::Result<BufferInfo> buffer = readBuffer(cells, *columns, i + 1);
        if (!buffer) return buffer.error();
        buffers.push_back(std::move(*buffer));
        if (columns->offset < 0) continue;
        const core::Result<int64_t> offset = readNumber(cells, columns->offset, i + 1);
        if (!offset) return offset.error();
        offsets.push_back(*offset);
    }
    PlanCsv csv{makeProblem(std::move(buffers)), std::nullopt};
    if (columns->offset >= 0) csv.offsets = std::move(offsets);
    return csv;
}

std::string writePlanCsv(const PlanningProblem& problem, const MemoryPlan& plan)
{
    const bool hasPools = problem.pools.size() > 1;
    std::string out = std::string(hasPools ? "pool," : "") + "id,lower,upper,size,offset\n";
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
        const BufferInfo& buffer = problem.buffers[i];
        const Placement placement = plan.placements[i];
        if (hasPools) out += problem.pools[static_cast<size_t>(placement.pool)].name + ",";
        out += buffer.name + "," + std::to_string(buffer.first) + "," +
               std::to_string(int64_t{buffer.last} + 1) + "," + std::to_string(buffer.sizeBytes) +
               "," + std::to_string(placement.offset) + "\n";
    }
    return out;
}

} // namespace tenon::compiler
