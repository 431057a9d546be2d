// SPDX-License-Identifier: Apache-2.0
// The tables of a .tflite file by the numbers of their fields in its schema (version 3).
#include "compiler/frontend/tflite/file/tflite_model.h"

#include "compiler/frontend/tflite/file/element_types.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

constexpr std::string_view kBuiltins[] = {
#define BUILTIN(name) #name,
#include "compiler/frontend/tflite/file/builtin_operators.def"
#undef BUILTIN
};

TfliteQuantization quantizationOf(const FlatTable& table)
{
    TfliteQuantization out;
    out.scales = table.numbers<float, double>(2);
    out.zeros = table.numbers<int64_t, int64_t>(3);
    out.axis = table.number<int32_t>(6);
    if (out.zeros.size() < out.scales.size())
        out.zeros.resize(out.scales.size(), out.zeros.size() == 1 ? out.zeros[0] : 0);
    out.zeros.resize(out.scales.size());
    return out;
}

TfliteTensor tensorOf(const FlatTable& table)
{
    TfliteTensor out{.name = table.string(3),
                     .type = table.number<int8_t>(1),
                     .shape = table.integers(0),
                     .signature = table.integers(7),
                     .buffer = table.number<uint32_t>(2),
                     .isVariable = table.number<uint8_t>(5) != 0,
                     .sparsity = {},
                     .quantization = quantizationOf(table.table(4))};
    if (table.has(6)) out.sparsity = sparsityOf(table.table(6));
    out.hasRank = !out.shape.empty() || table.number<uint8_t>(8) != 0;
    return out;
}

/// "" where integers of its type hold the zero points of a tensor.
std::string wrongZeroPoint(const TfliteTensor& tensor)
{
    const auto dtype = tfliteDataType(tensor.type);
    if (!dtype || !dtype->isInt() || dtype->bits > 16) return {};
    const int64_t most = (int64_t{1} << (dtype->bits - (dtype->isSigned() ? 1 : 0))) - 1;
    const int64_t least = dtype->isSigned() ? -most - 1 : 0;
    for (const int64_t zero : tensor.quantization.zeros)
        if (zero < least || zero > most)
            return "tensor `" + tensor.name + "` has the zero point " + std::to_string(zero) +
                   ", which " + dtype->text() + " does not hold";
    return {};
}

class ModelReader
{
public:
    ModelReader(std::shared_ptr<const FlatBytes> file, std::shared_ptr<const void> owner)
        : m_root(file->root())
    {
        m_model.file = std::move(file);
        m_model.owner = std::move(owner);
    }

    Result<TfliteModel> read(const std::string& name)
    {
        m_model.version = m_root.number<uint32_t>(0);
        m_model.description = m_root.string(3);
        for (const FlatTable& code : m_root.tables(1)) readCode(code);
        for (const FlatTable& buffer : m_root.tables(4)) readBuffer(buffer);
        for (const FlatTable& graph : m_root.tables(2)) readSubgraph(graph);
        readMetadata();
        readSignatures();
        if (m_model.subgraphs.empty()) fail("it holds no graph");
        const FlatBytes& file = *m_model.file;
        if (file.isBroken())
            return makeError(DiagnosticCode::BadModel,
                             "the file is damaged or no TensorFlow Lite model: " + file.error(),
                             {.file = name});
        return std::move(m_model);
    }

private:
    void fail(const std::string& what) { m_model.file->fail(what); }

    void readCode(const FlatTable& table)
    {
        const int64_t code = std::max<int64_t>(table.number<int8_t>(0), table.number<int32_t>(3));
        const std::string custom = table.string(1);
        const bool isCustom = builtinName(code) == "CUSTOM";
        m_custom.push_back(isCustom);
        m_model.operatorVersions.emplace_back(isCustom ? custom : builtinName(code),
                                              table.number<int32_t>(2, 1));
    }

    /// Bytes behind the flatbuffer are named by offset and size from the file's start.
    std::span<const std::byte> outside(uint64_t offset, uint64_t size)
    {
        const FlatBytes& file = *m_model.file;
        return file.holds(offset, size) ? file.bytes().subspan(offset, size)
                                        : std::span<const std::byte>();
    }

    void readBuffer(const FlatTable& table)
    {
        const auto offset = table.number<uint64_t>(1);
        m_model.buffers.push_back(offset > 1 ? outside(offset, table.number<uint64_t>(2))
                                             : table.bytes(0));
    }

    std::vector<int64_t> tensorIds(const FlatTable& table, int field, size_t count, bool mayLack)
    {
        std::vector<int64_t> ids = table.integers(field);
        for (const int64_t id : ids)
            if (id < (mayLack ? -1 : 0) || id >= static_cast<int64_t>(count))
                fail("tensor " + std::to_string(id) + " is named but the graph has " +
                     std::to_string(count));
        return ids;
    }

    TfliteOperator operatorOf(const FlatTable& table, size_t tensors)
    {
        TfliteOperator out;
        const auto code = table.number<uint32_t>(0);
        if (code >= m_custom.size()) {
            fail("operator code " + std::to_string(code) + " is named but the file has " +
                 std::to_string(m_custom.size()));
            return out;
        }
        out.name = m_model.operatorVersions[code].first;
        out.version = m_model.operatorVersions[code].second;
        out.isCustom = m_custom[code];
        out.inputs = tensorIds(table, 1, tensors, true);
        out.outputs = tensorIds(table, 2, tensors, true);
        out.intermediates = tensorIds(table, 8, tensors, true);
        out.options = table.table(4);
        if (!out.options.isPresent()) out.options = table.table(12);
        const auto offset = table.number<uint64_t>(9);
        out.customOptions =
            offset > 1 ? outside(offset, table.number<uint64_t>(10)) : table.bytes(5);
        return out;
    }

    void readSubgraph(const FlatTable& table)
    {
        TfliteSubgraph out;
        out.name = table.string(4);
        std::set<std::string> names;
        for (const FlatTable& tensor : table.tables(0)) {
            out.tensors.push_back(tensorOf(tensor));
            TfliteTensor& read = out.tensors.back();
            const std::string number = std::to_string(out.tensors.size() - 1);
            if (read.name.empty()) read.name = "tensor_" + number;
            while (!names.insert(read.name).second) read.name += "_" + number;
            if (const std::string wrong = wrongZeroPoint(read); !wrong.empty()) fail(wrong);
            if (read.buffer >= m_model.buffers.size() && read.buffer != 0)
                fail("buffer " + std::to_string(read.buffer) + " is named but the file has " +
                     std::to_string(m_model.buffers.size()));
        }
        out.inputs = tensorIds(table, 1, out.tensors.size(), false);
        out.outputs = tensorIds(table, 2, out.tensors.size(), false);
        for (const FlatTable& op : table.tables(3))
            out.operators.push_back(operatorOf(op, out.tensors.size()));
        // What an operator writes is no state of another, even where it keeps it.
        for (const TfliteOperator& op : out.operators)
            for (const int64_t id : op.outputs)
                if (id >= 0 && id < static_cast<int64_t>(out.tensors.size()))
                    out.tensors[static_cast<size_t>(id)].isVariable = false;
        m_model.subgraphs.push_back(std::move(out));
    }

    void readMetadata()
    {
        for (const FlatTable& entry : m_root.tables(6)) {
            const auto buffer = entry.number<uint32_t>(1);
            if (buffer < m_model.buffers.size())
                m_model.metadata.emplace_back(entry.string(0), m_model.buffers[buffer]);
        }
    }

    void readSignatures()
    {
        const auto named = [](const FlatTable& table, int field) {
            std::vector<std::pair<std::string, int64_t>> out;
            for (const FlatTable& entry : table.tables(field))
                out.emplace_back(entry.string(0), entry.number<uint32_t>(1));
            return out;
        };
        for (const FlatTable& table : m_root.tables(7))
            m_model.signatures.push_back({.key = table.string(2),
                                          .subgraph = table.number<uint32_t>(4),
                                          .inputs = named(table, 0),
                                          .outputs = named(table, 1)});
    }

    FlatTable m_root;
    TfliteModel m_model;
    std::vector<bool> m_custom; ///< per operator code
};

} // namespace

std::string builtinName(int64_t code)
{
    if (code < 0 || code >= static_cast<int64_t>(std::size(kBuiltins)))
        return "operator " + std::to_string(code);
    return std::string(kBuiltins[code]);
}

Result<TfliteModel> readTfliteModel(std::span<const std::byte> bytes,
                                    std::shared_ptr<const void> owner, const std::string& name)
{
    const auto file = std::make_shared<const FlatBytes>(bytes);
    return ModelReader(file, std::move(owner)).read(name);
}

} // namespace tenon::compiler
