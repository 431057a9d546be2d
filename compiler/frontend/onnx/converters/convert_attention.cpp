// SPDX-License-Identifier: Apache-2.0
// Attention, decomposed into products and a softmax over rows that may be masked.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"

#include <cmath>
#include <limits>

namespace tenon::compiler {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

class AttentionImport
{
public:
    explicit AttentionImport(OnnxNode& node)
        : m_node(node)
        , f(node)
    {
    }

    void run()
    {
        if (!readOperands()) return;
        ValueRef scores = f.matmul(f.multiply(m_query, m_factor),
                                   f.multiply(f.transpose(m_key, {0, 1, 3, 2}), m_factor));
        const int64_t mode = m_node.integer("qk_matmul_output_mode", 0);
        if (mode == 0) m_node.output(3, scores);
        if (const double cap = m_node.number("softcap", 0); cap > 0)
            scores = f.multiply(f.apply("tanh", f.divide(scores, cap)), cap);
        if (mode == 1) m_node.output(3, scores);
        const ValueRef bias = this->bias();
        if (m_hasBias) scores = f.add(scores, f.cast(bias, f.dtype(scores)));
        if (mode == 2) m_node.output(3, scores);
        const ValueRef weights = softmax(scores);
        if (mode == 3) m_node.output(3, weights);
        if (mode < 0 || mode > 3)
            m_node.fail(DiagnosticCode::BadAttribute,
                        "qk_matmul_output_mode is " + std::to_string(mode),
                        "qk_matmul_output_mode");
        ValueRef out = f.matmul(f.cast(weights, f.dtype(m_value)), m_value);
        out = f.cast(out, m_node.type(0).dtype);
        m_node.output(0, m_isFlat ? flattened(out) : out);
    }

private:
    /// [batch, heads, length, size] of an operand that may come as [batch, length, heads * size].
    ValueRef split(size_t input, std::string_view headsAttr)
    {
        const std::vector<int64_t> shape = m_node.batchShape(input);
        if (m_node.hasFailed()) return {};
        if (shape.size() == 4) return m_node.input(input);
        const int64_t heads = m_node.integer(headsAttr, 0);
        if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0) {
            m_node.fail(DiagnosticCode::ShapeMismatch,
                        "cannot split the shape " + shapeText(m_node.type(input).shape) + " into " +
                            std::to_string(heads) + " heads; check " + std::string(headsAttr),
                        std::string(headsAttr));
            return {};
        }
        m_isFlat = true;
        return f.transpose(
            f.reshape(m_node.input(input), {shape[0], shape[1], heads, shape[2] / heads}),
            {0, 2, 1, 3});
    }

    ValueRef flattened(ValueRef out)
    {
        const std::vector<int64_t> shape = m_node.batchShapeOf(out);
        if (m_node.hasFailed()) return {};
        return f.reshape(f.transpose(out, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
    }

    /// Every key and value head as often as query heads share it.
    ValueRef shared(ValueRef heads, int64_t times)
    {
        if (times == 1 || m_node.hasFailed()) return heads;
        if (!m_node.typeOf(heads).shape[0].isConst()) return sharedOfOpenBatch(heads, times);
        const std::vector<int64_t> shape = f.shape(heads);
        if (m_node.hasFailed()) return heads;
        const ValueRef wide =
            f.broadcast(f.expand(heads, 2), {shape[0], shape[1], times, shape[2], shape[3]});
        return f.reshape(wide, {shape[0], shape[1] * times, shape[2], shape[3]});
    }

    /// The same where there is no shape to broadcast to.
    ValueRef sharedOfOpenBatch(ValueRef heads, int64_t times)
    {
        std::vector<int64_t> sources;
        for (int64_t i = 0; i < times * m_node.batchShapeOf(heads)[1]; ++i)
            sources.push_back(i / times);
        return f.take(heads, f.integers(sources, {static_cast<int64_t>(sources.size())}), 1);
    }

    bool readOperands()
    {
        m_query = split(0, "q_num_heads");
        m_key = split(1, "kv_num_heads");
        m_value = split(2, "kv_num_heads");
        if (m_node.has(4) != m_node.has(5))
            m_node.fail(DiagnosticCode::BadOperandCount,
                        "past_key and past_value must be given together");
        if (m_node.has(4) && m_node.has(6))
            m_node.fail(DiagnosticCode::BadOperandCount,
                        "nonpad_kv_seqlen must not be given together with past_key");
        if (m_node.has(4)) {
            const std::vector<int64_t> past = m_node.batchShape(4);
            if (!m_node.hasFailed() && past.size() == 4) m_past = past[2];
            m_key = f.concat({m_node.input(4), m_key}, 2);
            m_value = f.concat({m_node.input(5), m_value}, 2);
        }
        m_node.output(1, m_key);
        m_node.output(2, m_value);
        const std::vector<int64_t> query = m_node.batchShapeOf(m_query);
        const std::vector<int64_t> key = m_node.batchShapeOf(m_key);
        if (m_node.hasFailed()) return false;
        if (query[3] < 1 || key[1] < 1 || query[1] % key[1] != 0) {
            m_node.fail(DiagnosticCode::ShapeMismatch, std::to_string(query[1]) +
                                                           " query heads cannot share " +
                                                           std::to_string(key[1]) + " key heads");
            return false;
        }
        m_key = shared(m_key, query[1] / key[1]);
        m_value = shared(m_value, query[1] / key[1]);
        const double scale = m_node.number("scale", 1 / std::sqrt(static_cast<double>(query[3])));
        m_factor = std::sqrt(scale);
        m_queries = query[2];
        m_keys = key[2];
        return !m_node.hasFailed();
    }

    ValueRef asBias(ValueRef isAllowed)
    {
        const ValueRef zero = m_node.scalar(0, f.dtype(m_query));
        return f.where(isAllowed, zero, m_node.scalar(kMinusInfinity, f.dtype(m_query)));
    }

    void addBias(ValueRef& sum, ValueRef bias)
    {
        sum = m_hasBias ? f.add(sum, bias) : bias;
        m_hasBias = true;
        m_mayMaskRows = true;
    }

    /// What the masks add to the scores; m_hasBias tells whether they add anything.
    ValueRef bias()
    {
        ValueRef sum;
        if (m_node.has(3)) addBias(sum, givenMask());
        const int64_t left = m_node.integer("left_window_size", -1);
        const int64_t right = m_node.integer("right_window_size", -1);
        const bool isCausal = m_node.integer("is_causal", 0) != 0;
        if (isCausal || left >= 0 || right >= 0) {
            const bool hadBias = m_hasBias;
            addBias(sum, asBias(band(left, isCausal ? 0 : right, isCausal ? right : -1)));
            if (!hadBias && !m_node.has(6) && left < 0) m_mayMaskRows = false;
        }
        if (m_node.has(6)) {
            const ValueRef counts = perBatch();
            addBias(sum, asBias(f.call("less", {f.iota(m_keys, 3, 4), counts})));
        }
        return sum;
    }

    ValueRef perBatch() { return f.reshape(f.cast(m_node.input(6), kInt64), {-1, 1, 1, 1}); }

    ValueRef givenMask()
    {
        const std::vector<int64_t> shape = m_node.batchShape(3);
        ValueRef mask = m_node.input(3);
        if (m_node.hasFailed()) return {};
        if (shape.empty()) return f.dtype(mask).isBool() ? asBias(mask) : mask;
        if (f.dtype(mask).isBool()) mask = asBias(mask);
        std::vector<int64_t> width(2 * shape.size(), 0);
        if (shape.back() != 1) width.back() = m_keys - shape.back();
        if (width.back() < 0) {
            m_node.fail(DiagnosticCode::ShapeMismatch,
                        "the mask has " + std::to_string(shape.back()) + " columns for " +
                            std::to_string(m_keys) + " keys");
            return {};
        }
        return f.pad(mask, width, kMinusInfinity);
    }

    /// Keys j with p - left <= j <= p + right and j <= p + alsoRight for the query at position p;
    /// negative: no bound.
    ValueRef band(int64_t left, int64_t right, int64_t alsoRight)
    {
        const ValueRef row = f.iota(m_queries, 2, 4), column = f.iota(m_keys, 3, 4);
        ValueRef position = f.add(row, static_cast<double>(m_past));
        if (m_node.has(6))
            position = f.add(row, f.subtract(perBatch(), static_cast<double>(m_queries)));
        ValueRef out;
        const auto require = [&](ValueRef condition) {
            out = out.node.isValid() ? f.both(out, condition) : condition;
        };
        for (const int64_t bound : {right, alsoRight})
            if (bound >= 0)
                require(
                    f.call("less_equal", {column, f.add(position, static_cast<double>(bound))}));
        if (left >= 0)
            require(
                f.call("greater_equal", {column, f.subtract(position, static_cast<double>(left))}));
        return out;
    }

    /// Rows without any key become zero.
    ValueRef softmax(ValueRef scores)
    {
        const DataType own = m_node.type(0).dtype;
        const auto asked =
            dataTypeOf(static_cast<int32_t>(m_node.integer("softmax_precision", onnxTypeOf(own))));
        if (!asked || !asked->isFloat()) {
            m_node.fail(DiagnosticCode::BadAttribute, "softmax_precision names no float type",
                        "softmax_precision");
            return {};
        }
        const ValueRef wide = f.cast(scores, *asked);
        if (!m_mayMaskRows)
            return f.cast(f.call("nn.softmax", {wide}, {{"axis", int64_t{3}}}), own);
        const ValueRef top = f.reduce("max", wide, {3}, Formula::Keep::Yes);
        const ValueRef isEmpty = f.compare("equal", top, kMinusInfinity);
        const ValueRef shift = f.where(isEmpty, f.number(0, top), top);
        const ValueRef powers = f.apply("exp", f.subtract(wide, shift));
        const ValueRef sum = f.reduce("sum", powers, {3}, Formula::Keep::Yes);
        return f.cast(f.divide(powers, f.where(isEmpty, f.number(1, sum), sum)), own);
    }

    OnnxNode& m_node;
    Formula f;
    ValueRef m_query;
    ValueRef m_key;
    ValueRef m_value;
    double m_factor = 1; ///< on the query and on the key
    int64_t m_past = 0;  ///< keys before the first query
    int64_t m_queries = 0;
    int64_t m_keys = 0;
    bool m_isFlat = false; ///< heads are packed into the last dimension
    bool m_hasBias = false;
    bool m_mayMaskRows = false;
};

} // namespace

void convertAttention(OnnxNode& node) { AttentionImport(node).run(); }

namespace {

struct Angles
{
    ValueRef cosine;
    ValueRef sine;
};

/// The pairs (a, b) of `x`, of `size` numbers, turned by their angles; they stand side by side or
/// in two halves.
ValueRef turned(Formula& f, ValueRef x, int64_t size, const Angles& by, bool isInterleaved)
{
    const ValueRef a = isInterleaved ? f.every(x, 3, 0, 2) : f.slice(x, 3, 0, size / 2);
    const ValueRef b = isInterleaved ? f.every(x, 3, 1, 2) : f.slice(x, 3, size / 2, size);
    const ValueRef real = f.subtract(f.multiply(by.cosine, a), f.multiply(by.sine, b));
    const ValueRef imaginary = f.add(f.multiply(by.sine, a), f.multiply(by.cosine, b));
    return isInterleaved ? f.reshape(f.concat({f.expand(real, 4), f.expand(imaginary, 4)}, 4),
                                     {0, 0, 0, size})
                         : f.concat({real, imaginary}, 3);
}

} // namespace

void convertRotaryEmbedding(OnnxNode& node)
{
    Formula f(node);
    const std::vector<int64_t> given = node.batchShape(0);
    const int64_t heads = node.integer("num_heads", 0);
    if (node.hasFailed()) return;
    const bool isFlat = given.size() == 3;
    if ((!isFlat && given.size() != 4) || (isFlat && (heads < 1 || given[2] % heads != 0))) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "cannot split the shape " + shapeText(node.type(0).shape) + " into " +
                      std::to_string(heads) + " heads",
                  "num_heads");
        return;
    }
    // [batch, length, heads, size]
    const ValueRef x = isFlat
                           ? f.reshape(node.input(0), {given[0], given[1], heads, given[2] / heads})
                           : f.transpose(node.input(0), {0, 2, 1, 3});
    const int64_t size = isFlat ? given[2] / heads : given[3];
    int64_t rotated = node.integer("rotary_embedding_dim", 0);
    if (rotated == 0) rotated = size;
    if (rotated < 2 || rotated > size || rotated % 2 != 0) {
        node.fail(DiagnosticCode::BadAttribute,
                  "rotary_embedding_dim is " + std::to_string(rotated) + " for heads of size " +
                      std::to_string(size),
                  "rotary_embedding_dim");
        return;
    }
    const auto cache = [&](size_t input) {
        const ValueRef table = node.input(input);
        const ValueRef rows = node.has(3) ? f.take(table, node.input(3), 0) : table;
        return f.expand(rows, 2);
    };
    const Angles angles{cache(1), cache(2)};
    const bool isInterleaved = node.integer("interleaved", 0) != 0;
    ValueRef out = turned(f, f.slice(x, 3, 0, rotated), rotated, angles, isInterleaved);
    if (rotated < size) out = f.concat({out, f.slice(x, 3, rotated, size)}, 3);
    node.output(0, isFlat ? f.reshape(out, given) : f.transpose(out, {0, 2, 1, 3}));
}

} // namespace tenon::compiler
