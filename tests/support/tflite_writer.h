// SPDX-License-Identifier: Apache-2.0
// TfliteWriter: small .tflite models for tests.
#pragma once

#include "tests/support/flat_writer.h"

namespace tenon::test {

/// The schema's TensorType.
enum class TfliteType : int8_t
{
    Float32 = 0,
    Float16 = 1,
    Int32 = 2,
    UInt8 = 3,
    Int64 = 4,
    String = 5,
    Bool = 6,
    Int16 = 7,
    Complex64 = 8,
    Int8 = 9,
    UInt64 = 12,
    Resource = 13,
    UInt32 = 15,
    Int4 = 17
};

struct TfliteScale
{
    std::vector<float> scales;
    std::vector<int64_t> zeros;
    int32_t axis = 0;
};

class TfliteWriter
{
public:
    TfliteWriter();

    // Of the graph that was begun last; all return the tensor's number.
    int tensor(const std::string& name, TfliteType type, std::vector<int32_t> shape,
               const TfliteScale& scale = {});
    int input(const std::string& name, TfliteType type, std::vector<int32_t> shape,
              const TfliteScale& scale = {});
    int output(const std::string& name, TfliteType type, std::vector<int32_t> shape,
               const TfliteScale& scale = {});
    template <class T>
    int constant(const std::string& name, TfliteType type, std::vector<int32_t> shape,
                 const std::vector<T>& values, const TfliteScale& scale = {})
    {
        FlatOut buffer;
        const auto raw = std::as_bytes(std::span(values));
        std::vector<uint8_t> bytes(raw.size());
        std::memcpy(bytes.data(), raw.data(), raw.size());
        m_buffers.push_back(FlatOut().numbers(0, bytes));
        return add(name, type, std::move(shape), scale, m_buffers.size() - 1, false);
    }
    int variable(const std::string& name, TfliteType type, std::vector<int32_t> shape,
                 const TfliteScale& scale = {});
    /// Its constant lists only what is not zero; `sparsity` is the schema's SparsityParameters.
    void makeSparse(int tensor, FlatOut sparsity)
    {
        m_graphs.back().tensors[static_cast<size_t>(tensor)].table(6, std::move(sparsity));
    }
    /// Sizes that are open are -1 in the signature.
    void sign(int tensor, const std::vector<int32_t>& signature)
    {
        m_graphs.back().tensors[static_cast<size_t>(tensor)].numbers(7, signature);
    }
    void markInput(int tensor) { m_graphs.back().inputs.push_back(tensor); }
    void markOutput(int tensor) { m_graphs.back().outputs.push_back(tensor); }

    /// An operator by its name in the schema; any other name is a custom one.
    void op(const std::string& name, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
            FlatOut options = {}, std::vector<uint8_t> custom = {},
            std::vector<int32_t> intermediates = {});
    /// Begins the next graph of the file.
    void graph() { m_graphs.emplace_back(); }

    // Spoiling the first graph, for tests of what does not fit.
    size_t tensorCount() const { return m_graphs[0].tensors.size(); }
    void retype(size_t tensor, TfliteType type)
    {
        m_graphs[0].tensors[tensor].number(1, static_cast<int8_t>(type));
    }
    void reshape(size_t tensor, const std::vector<int32_t>& shape)
    {
        m_graphs[0].tensors[tensor].numbers(0, shape);
    }
    void setInputs(size_t op, const std::vector<int32_t>& inputs)
    {
        m_graphs[0].operators[op].numbers(1, inputs);
    }

    std::vector<std::byte> file() const;

private:
    struct Graph
    {
        std::vector<FlatOut> tensors, operators;
        std::vector<int32_t> inputs, outputs;
    };

    int add(const std::string& name, TfliteType type, std::vector<int32_t> shape,
            const TfliteScale& scale, size_t buffer, bool isVariable);

    std::vector<FlatOut> m_codes, m_buffers;
    std::vector<Graph> m_graphs;
};

} // namespace tenon::test
