// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: the input's share of all steps as one product, then one loop over time for
// each direction.
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

/// What tells the three operators apart.
struct RecurrentKind
{
    const char* op;
    int64_t parts;
    std::vector<std::string> defaults; ///< activations of one direction
};

/// Activations that read alpha, and alpha and beta, as the standard counts them out.
bool takesAlpha(const std::string& name)
{
    return name == "affine" || name == "elu" || name == "hardsigmoid" || name == "leakyrelu" ||
           name == "scaledtanh" || name == "thresholdedrelu";
}
bool takesBeta(const std::string& name)
{
    return name == "affine" || name == "hardsigmoid" || name == "scaledtanh";
}
double defaultAlpha(const std::string& name)
{
    return name == "hardsigmoid" ? 0.2 : name == "leakyrelu" ? 0.01 : 1.0;
}
double defaultBeta(const std::string& name)
{
    return name == "hardsigmoid" ? 0.5 : name == "scaledtanh" ? 1.0 : 0.0;
}

class RecurrentImport
{
public:
    RecurrentImport(OnnxNode& node, RecurrentKind kind)
        : m_node(node)
        , m_kind(std::move(kind))
    {
    }

    void run()
    {
        readAttributes();
        if (m_node.rank(0) != 3 || m_node.rank(1) != 3 || m_node.rank(2) != 3)
            m_node.fail(DiagnosticCode::ShapeMismatch, "X, W and R must have three dimensions");
        if (m_node.hasFailed()) return;
        m_hidden = m_node.shape(2).at(2);
        const int64_t declared = m_node.integer("hidden_size", m_hidden);
        if (declared != m_hidden)
            m_node.fail(DiagnosticCode::BadAttribute,
                        "hidden_size is " + std::to_string(declared) + " but R has " +
                            std::to_string(m_hidden),
                        "hidden_size");
        readInput();
        if (m_node.hasFailed()) return;
        std::vector<std::vector<ValueRef>> results(1 + states());
        for (int64_t d = 0; d < m_directions; ++d) {
            const ValueRef y = direction(d);
            if (m_node.hasFailed()) return;
            for (uint32_t i = 0; i < results.size(); ++i) results[i].push_back({y.node, i});
        }
        writeOutputs(results);
    }

private:
    size_t states() const { return m_kind.parts == 4 ? 2 : 1; }
    bool isLstm() const { return m_kind.parts == 4; }
    bool isGru() const { return m_kind.parts == 3; }

    void readAttributes()
    {
        const std::string direction = m_node.string("direction", "forward");
        m_directions = direction == "bidirectional" ? 2 : 1;
        m_isReverse = direction == "reverse";
        if (m_directions == 1 && !m_isReverse && direction != "forward")
            m_node.fail(DiagnosticCode::BadAttribute,
                        "direction is " + quoted(direction) +
                            "; it must be forward, reverse or bidirectional",
                        "direction");
        m_isBatchFirst = m_node.integer("layout", 0) != 0;
        m_clip = m_node.number("clip", 0);
        if (isLstm()) m_inputForget = m_node.integer("input_forget", 0);
        if (isGru()) m_linearBeforeReset = m_node.integer("linear_before_reset", 0);
        readActivations();
    }

    void readActivations()
    {
        const size_t count = m_kind.defaults.size() * static_cast<size_t>(m_directions);
        m_activations = m_node.strings("activations", {});
        if (m_activations.empty())
            for (int64_t d = 0; d < m_directions; ++d)
                m_activations.insert(m_activations.end(), m_kind.defaults.begin(),
                                     m_kind.defaults.end());
        if (m_activations.size() != count)
            m_node.fail(DiagnosticCode::BadAttribute,
                        "activations has " + std::to_string(m_activations.size()) +
                            " functions; it must have " + std::to_string(count),
                        "activations");
        const std::vector<double> alphas = m_node.numbers("activation_alpha", {});
        const std::vector<double> betas = m_node.numbers("activation_beta", {});
        size_t nextAlpha = 0, nextBeta = 0;
        for (std::string& name : m_activations) {
            std::transform(name.begin(), name.end(), name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            const auto next = [&](bool takes, const std::vector<double>& given, size_t& at,
                                  double fallback) {
                return takes && at < given.size() ? given[at++] : fallback;
            };
            m_alphas.push_back(next(takesAlpha(name), alphas, nextAlpha, defaultAlpha(name)));
            m_betas.push_back(next(takesBeta(name), betas, nextBeta, defaultBeta(name)));
        }
    }

    void readInput()
    {
        m_input = computed(m_node.input(0));
        if (m_isBatchFirst) m_input = transposed(m_input, {1, 0, 2});
        if (m_node.hasFailed()) return;
        m_steps = m_node.typeOf(m_input).shape[0];
        m_sequences = m_node.typeOf(m_input).shape[1];
        if (m_node.has(4)) {
            m_lengths = m_node.input(4);
            if (m_node.typeOf(m_lengths).dtype != kInt32)
                m_lengths = m_node.emit("cast", {m_lengths}, {{"dtype", kInt32}});
        }
        for (size_t i = 0; i < states(); ++i) {
            ValueRef state;
            if (m_node.has(5 + i)) {
                state = computed(m_node.input(5 + i));
                if (m_isBatchFirst) state = transposed(state, {1, 0, 2});
            }
            m_states.push_back(state);
        }
    }

    /// Halves compute in binary32.
    ValueRef computed(ValueRef value)
    {
        const DataType dtype = m_node.typeOf(value).dtype;
        if (m_node.hasFailed() || !dtype.isFloat() || dtype.bits > 16) return value;
        m_narrow = dtype;
        return m_node.emit("cast", {value}, {{"dtype", kFloat32}});
    }

    ValueRef transposed(ValueRef value, std::vector<int64_t> axes)
    {
        return m_node.emit("transpose", {value}, {{"axes", std::move(axes)}});
    }

    /// Slice `d` of the first dimension, which goes away, and [from, to) of the second.
    ValueRef slice(ValueRef value, int64_t d, int64_t from, int64_t to)
    {
        if (m_node.hasFailed()) return {};
        const bool isWhole = from < 0;
        std::vector<int64_t> begin{d}, end{d + 1}, axes{0}, strides{1};
        if (!isWhole) {
            begin.push_back(from);
            end.push_back(to);
            axes.push_back(1);
            strides.push_back(1);
        }
        const ValueRef part =
            m_node.typeOf(value).shape[0] == Dim(1) && isWhole
                ? value
                : m_node.emit(
                      "strided_slice", {value},
                      {{"begin", begin}, {"end", end}, {"axes", axes}, {"strides", strides}});
        return m_node.emit("squeeze", {part}, {{"axis", std::vector<int64_t>{0}}});
    }

    /// [S, B, I] times the transpose of [parts * H, I].
    ValueRef inputProduct(ValueRef weight)
    {
        const auto shape = constantShape(m_node.typeOf(m_input).shape);
        if (!shape)
            return m_node.emit("nn.matmul", {m_input, transposed(weight, {1, 0})},
                               {{"transpose_a", int64_t{0}}, {"transpose_b", int64_t{0}}});
        const std::vector<int64_t>& s = *shape;
        const ValueRef rows = m_node.emit("reshape", {m_input},
                                          {{"newshape", std::vector<int64_t>{s[0] * s[1], s[2]}}});
        return m_node.emit(
            "reshape", {m_node.emit("nn.dense", {rows, weight})},
            {{"newshape", std::vector<int64_t>{s[0], s[1], m_kind.parts * m_hidden}}});
    }

    /// Biases of input and state join what the input adds; a GRU that resets behind the product
    /// keeps the state's bias of the candidate.
    ValueRef withBias(ValueRef product, int64_t d, ValueRef& hiddenBias)
    {
        if (!m_node.has(3)) return product;
        const ValueRef bias = computed(m_node.input(3));
        const int64_t width = m_kind.parts * m_hidden;
        const bool isApart = isGru() && m_linearBeforeReset != 0;
        ValueRef state = slice(bias, d, width, 2 * width);
        if (isApart) {
            hiddenBias = slice(bias, d, width + 2 * m_hidden, 2 * width);
            const ValueRef zeros = m_node.constantNode(
                Tensor::make(m_node.typeOf(bias).dtype, {m_hidden}, [](std::span<std::byte>) {}));
            state = m_node.emit("concatenate", {slice(bias, d, width, width + 2 * m_hidden), zeros},
                                {{"axis", int64_t{0}}});
        }
        const ValueRef sum = m_node.emit("add", {slice(bias, d, 0, width), state});
        return m_node.emit("add", {product, sum});
    }

    ValueRef initialState(size_t which, int64_t d, DataType dtype)
    {
        if (m_states[which].node.isValid()) return slice(m_states[which], d, -1, -1);
        if (!m_sequences.isConst())
            return emitSized(m_node, "full", {m_node.scalar(0, dtype)},
                             {m_sequences, Dim(m_hidden)}, {{"shape", std::vector<int64_t>{}}});
        return m_node.constantNode(
            Tensor::make(dtype, {m_sequences.value(), m_hidden}, [](std::span<std::byte>) {}));
    }

    Attrs attrsOf(int64_t d) const
    {
        const size_t count = m_kind.defaults.size(), first = static_cast<size_t>(d) * count;
        const auto part = [&](const auto& all) {
            using List = std::decay_t<decltype(all)>;
            return List(all.begin() + static_cast<std::ptrdiff_t>(first),
                        all.begin() + static_cast<std::ptrdiff_t>(first + count));
        };
        Attrs attrs{{"activations", part(m_activations)},
                    {"alphas", part(m_alphas)},
                    {"betas", part(m_betas)},
                    {"clip", m_clip},
                    {"reverse", int64_t{m_isReverse || d == 1}}};
        if (isLstm()) attrs.set("input_forget", m_inputForget);
        if (isGru()) attrs.set("linear_before_reset", m_linearBeforeReset);
        return attrs;
    }

    ValueRef direction(int64_t d)
    {
        ValueRef hiddenBias;
        const ValueRef gates =
            withBias(inputProduct(slice(computed(m_node.input(1)), d, -1, -1)), d, hiddenBias);
        const ValueRef weight = transposed(slice(computed(m_node.input(2)), d, -1, -1), {1, 0});
        std::vector<ValueRef> operands{gates, weight};
        for (size_t i = 0; i < states(); ++i)
            operands.push_back(initialState(i, d, m_node.typeOf(m_input).dtype));
        operands.push_back(m_lengths);
        if (isGru()) operands.push_back(hiddenBias);
        if (isLstm() && m_node.has(7))
            operands.push_back(m_node.emit("reshape", {slice(computed(m_node.input(7)), d, -1, -1)},
                                           {{"newshape", std::vector<int64_t>{3, m_hidden}}}));
        return m_node.emit(m_kind.op, std::move(operands), attrsOf(d));
    }

    /// Results of all directions with a dimension of their own at `axis`.
    ValueRef stacked(const std::vector<ValueRef>& parts, int64_t axis)
    {
        std::vector<ValueRef> wide;
        for (const ValueRef& part : parts)
            wide.push_back(
                m_node.emit("expand_dims", {part}, {{"axis", axis}, {"num_newaxis", int64_t{1}}}));
        const ValueRef out =
            wide.size() == 1 ? wide[0] : m_node.emit("concatenate", wide, {{"axis", axis}});
        return m_narrow ? m_node.emit("cast", {out}, {{"dtype", *m_narrow}}) : out;
    }

    void writeOutputs(const std::vector<std::vector<ValueRef>>& results)
    {
        for (size_t i = 0; i < results.size() && !m_node.hasFailed(); ++i) {
            if (!m_node.usesOutput(i)) continue;
            ValueRef out = stacked(results[i], i == 0 ? 1 : 0);
            if (m_isBatchFirst)
                out = i == 0 ? transposed(out, {2, 0, 1, 3}) : transposed(out, {1, 0, 2});
            m_node.output(i, out);
        }
    }

    OnnxNode& m_node;
    RecurrentKind m_kind;
    int64_t m_directions = 1;
    bool m_isReverse = false;
    bool m_isBatchFirst = false;
    double m_clip = 0;
    int64_t m_inputForget = 0;
    int64_t m_linearBeforeReset = 0;
    int64_t m_hidden = 0;
    std::vector<std::string> m_activations;
    std::vector<double> m_alphas, m_betas;
    ValueRef m_input, m_lengths;
    std::vector<ValueRef> m_states;
    Dim m_steps, m_sequences;
    std::optional<DataType> m_narrow; ///< type of the outputs where it is not computed in
};

} // namespace

void convertRnn(OnnxNode& node) { RecurrentImport(node, {"nn.rnn", 1, {"tanh"}}).run(); }

void convertGru(OnnxNode& node) { RecurrentImport(node, {"nn.gru", 3, {"sigmoid", "tanh"}}).run(); }

void convertLstm(OnnxNode& node)
{
    RecurrentImport(node, {"nn.lstm", 4, {"sigmoid", "tanh", "tanh"}}).run();
}

} // namespace tenon::compiler
