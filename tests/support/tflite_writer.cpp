// SPDX-License-Identifier: Apache-2.0
// The tables of a .tflite file by the numbers of their fields.
#include "tests/support/tflite_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tenon::test {
namespace {

/// Codes are positions in the importer's list: the schema appends only.
const std::vector<std::string>& builtinNames()
{
    static const std::vector<std::string> kNames = {
#define BUILTIN(name) #name,
#include "compiler/frontend/tflite/file/builtin_operators.def"
#undef BUILTIN
    };
    return kNames;
}

/// The kind of the operator's table of options, as other readers ask for it; 0: it has none.
uint8_t optionsOf(std::string_view op)
{
    static constexpr std::pair<std::string_view, uint8_t> kOptions[] = {
#define OPTIONS(name, number) {#name, number},
#include "tests/support/tflite_options.def"
#undef OPTIONS
    };
    for (const auto& [name, number] : kOptions)
        if (name == op) return number;
    return 0;
}

} // namespace

TfliteWriter::TfliteWriter()
    : m_buffers(1) // buffer 0 is empty
    , m_graphs(1)
{
}

int TfliteWriter::add(const std::string& name, TfliteType type, std::vector<int32_t> shape,
                      const TfliteScale& scale, size_t buffer, bool isVariable)
{
    FlatOut out;
    out.numbers(0, shape)
        .number(1, static_cast<int8_t>(type))
        .number(2, static_cast<uint32_t>(buffer))
        .string(3, name)
        .number(8, uint8_t{1});
    if (isVariable) out.number(5, uint8_t{1});
    if (!scale.scales.empty())
        out.table(4,
                  FlatOut().numbers(2, scale.scales).numbers(3, scale.zeros).number(6, scale.axis));
    m_graphs.back().tensors.push_back(std::move(out));
    return static_cast<int>(m_graphs.back().tensors.size()) - 1;
}

int TfliteWriter::tensor(const std::string& name, TfliteType type, std::vector<int32_t> shape,
                         const TfliteScale& scale)
{
    return add(name, type, std::move(shape), scale, 0, false);
}

int TfliteWriter::input(const std::string& name, TfliteType type, std::vector<int32_t> shape,
                        const TfliteScale& scale)
{
    const int id = tensor(name, type, std::move(shape), scale);
    markInput(id);
    return id;
}

int TfliteWriter::output(const std::string& name, TfliteType type, std::vector<int32_t> shape,
                         const TfliteScale& scale)
{
    const int id = tensor(name, type, std::move(shape), scale);
    markOutput(id);
    return id;
}

int TfliteWriter::variable(const std::string& name, TfliteType type, std::vector<int32_t> shape,
                           const TfliteScale& scale)
{
    return add(name, type, std::move(shape), scale, 0, true);
}

void TfliteWriter::op(const std::string& name, std::vector<int32_t> inputs,
                      std::vector<int32_t> outputs, FlatOut options, std::vector<uint8_t> custom,
                      std::vector<int32_t> intermediates)
{
    const auto& names = builtinNames();
    const auto known = std::find(names.begin(), names.end(), name);
    const bool isCustom = known == names.end();
    const auto code = static_cast<int32_t>(
        (isCustom ? std::find(names.begin(), names.end(), "CUSTOM") : known) - names.begin());
    FlatOut entry;
    entry.number(0, static_cast<int8_t>(std::min(code, 127))).number(3, code);
    if (name == "BROADCAST_TO") entry.number(2, int32_t{2}); // its first one
    if (isCustom) entry.string(1, name);
    m_codes.push_back(std::move(entry));
    FlatOut out;
    out.number(0, static_cast<uint32_t>(m_codes.size() - 1))
        .numbers(1, inputs)
        .numbers(2, outputs)
        .number(3, optionsOf(name))
        .table(4, std::move(options));
    if (!custom.empty()) out.numbers(5, custom);
    if (!intermediates.empty()) out.numbers(8, intermediates);
    m_graphs.back().operators.push_back(std::move(out));
}

std::vector<std::byte> TfliteWriter::file() const
{
    std::vector<FlatOut> graphs;
    for (const Graph& graph : m_graphs)
        graphs.push_back(FlatOut()
                             .tables(0, graph.tensors)
                             .numbers(1, graph.inputs)
                             .numbers(2, graph.outputs)
                             .tables(3, graph.operators)
                             .string(4, "main"));
    return FlatOut()
        .number(0, uint32_t{3})
        .tables(1, m_codes)
        .tables(2, graphs)
        .string(3, "a test")
        .tables(4, m_buffers)
        .file("TFL3");
}

} // namespace tenon::test
