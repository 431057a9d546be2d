// SPDX-License-Identifier: Apache-2.0
// LinearAttention and CausalConvWithState: layers that carry a state from call to call.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"

#include <cmath>

namespace tenon::compiler {
namespace {

class LinearAttentionImport
{
public:
    explicit LinearAttentionImport(OnnxNode& node)
        : m_node(node)
        , f(node)
        , m_query(node.shape(0))
        , m_key(node.shape(1))
        , m_value(node.shape(2))
        , m_queryHeads(node.integer("q_num_heads", 0))
        , m_heads(node.integer("kv_num_heads", 0))
    {
    }

    void run()
    {
        const std::string rule = m_node.string("update_rule", "gated_delta");
        const bool isGated = rule == "gated" || rule == "gated_delta";
        const bool isDelta = rule == "delta" || rule == "gated_delta";
        if (!isPlausible() || m_node.hasFailed()) return;
        if (!isGated && !isDelta && rule != "linear") {
            m_node.fail(DiagnosticCode::BadAttribute, "update_rule is " + quoted(rule),
                        "update_rule");
            return;
        }
        const int64_t size = m_query[2] / m_queryHeads, width = m_value[2] / m_heads;
        double scale = m_node.number("scale", 0);
        if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(size));
        const int64_t batch = m_query[0], steps = m_query[1];
        const ValueRef state = m_node.has(3) ? f.cast(m_node.input(3), kFloat32)
                                             : zeros({batch, m_heads, size, width});
        const ValueRef decay =
            isGated ? f.broadcast(split(4, decayHeadSize(size)), {batch, m_heads, steps, size})
                    : zeros({batch, m_heads, steps, size});
        const ValueRef beta = isDelta ? rates() : zeros({batch, m_heads, steps, 1});
        const ValueRef out = f.call("nn.linear_attention",
                                    {f.multiply(split(0, size), scale), split(1, size),
                                     split(2, width), state, decay, beta},
                                    {{"delta", int64_t{isDelta}}});
        const DataType own = m_node.type(0).dtype;
        m_node.output(0, f.cast(f.reshape(f.transpose(out, {0, 2, 1, 3}),
                                          {batch, steps, m_queryHeads * width}),
                                own));
        m_node.output(1, f.cast({out.node, 1}, m_node.has(3) ? m_node.type(3).dtype : own));
    }

private:
    bool isPlausible()
    {
        const bool fits = m_query.size() == 3 && m_key.size() == 3 && m_value.size() == 3 &&
                          m_queryHeads >= 1 && m_heads >= 1 && m_queryHeads % m_heads == 0 &&
                          m_query[2] % m_queryHeads == 0 && m_value[2] % m_heads == 0;
        if (!fits && !m_node.hasFailed())
            m_node.fail(DiagnosticCode::ShapeMismatch,
                        "query (" + join(m_query, ", ") + "), key (" + join(m_key, ", ") +
                            ") and value (" + join(m_value, ", ") + ") cannot be split into " +
                            std::to_string(m_queryHeads) + " and " + std::to_string(m_heads) +
                            " heads",
                        "q_num_heads");
        return fits;
    }

    ValueRef zeros(const std::vector<int64_t>& shape)
    {
        return f.broadcast(m_node.scalar(0, kFloat32), shape);
    }

    /// [batch, steps, heads * size] as float32 [batch, heads, steps, size].
    ValueRef split(size_t input, int64_t size)
    {
        const std::vector<int64_t> shape = m_node.shape(input);
        if (m_node.hasFailed()) return {};
        if (shape.size() != 3 || shape[2] % size != 0) {
            m_node.fail(DiagnosticCode::ShapeMismatch,
                        "input " + std::to_string(input) + " has the shape (" + join(shape, ", ") +
                            "), which holds no heads of size " + std::to_string(size));
            return {};
        }
        return f.transpose(f.reshape(f.cast(m_node.input(input), kFloat32),
                                     {shape[0], shape[1], shape[2] / size, size}),
                           {0, 2, 1, 3});
    }

    /// One decay per head, or one per element of the key.
    int64_t decayHeadSize(int64_t size)
    {
        const std::vector<int64_t> shape = m_node.shape(4);
        return !m_node.hasFailed() && shape.size() == 3 && shape[2] == m_heads ? 1 : size;
    }

    ValueRef rates() { return f.broadcast(split(5, 1), {m_query[0], m_heads, m_query[1], 1}); }

    OnnxNode& m_node;
    Formula f;
    std::vector<int64_t> m_query;
    std::vector<int64_t> m_key;
    std::vector<int64_t> m_value;
    int64_t m_queryHeads;
    int64_t m_heads;
};

} // namespace

void convertLinearAttention(OnnxNode& node) { LinearAttentionImport(node).run(); }

void convertCausalConvWithState(OnnxNode& node)
{
    const std::vector<int64_t> shape = node.shape(0), weight = node.shape(1);
    const std::string activation = node.string("activation", "none");
    if (node.hasFailed()) return;
    const bool isSwish = activation == "silu" || activation == "swish";
    if (shape.size() != 3 || weight.size() != 3 || weight[0] != shape[1] || weight[1] != 1 ||
        weight[2] < 1 || (!isSwish && activation != "none")) {
        node.fail(DiagnosticCode::BadAttribute,
                  "activation " + quoted(activation) + " and weight (" + join(weight, ", ") +
                      ") do not fit the input (" + join(shape, ", ") + ")",
                  "activation");
        return;
    }
    Formula f(node);
    const int64_t carried = weight[2] - 1;
    const ValueRef x = node.input(0);
    const ValueRef all =
        node.has(3) ? f.concat({node.input(3), x}, 2) : f.pad(x, {0, 0, 0, 0, carried, 0}, 0);
    ValueRef out =
        f.call("nn.conv2d", {f.expand(all, 2), f.expand(node.input(1), 2)}, {{"groups", shape[1]}});
    if (node.has(2)) out = f.call("nn.bias_add", {out, node.input(2)}, {{"axis", int64_t{1}}});
    out = f.squeeze(out, {2});
    if (isSwish) {
        const ValueRef wide = f.cast(out, kFloat32);
        out = f.cast(f.multiply(wide, f.apply("sigmoid", wide)), f.dtype(out));
    }
    node.output(0, out);
    node.output(1, f.slice(all, 2, shape[2], shape[2] + carried));
}

} // namespace tenon::compiler
