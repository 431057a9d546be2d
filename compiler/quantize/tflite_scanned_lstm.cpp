// SPDX-License-Identifier: Apache-2.0
// An LSTM whose cells are limited, projected or normalized, as a Scan: what the data add to the
// gates is one product for all steps, in front of it.
#include "compiler/quantize/tflite_recurrent.h"

#include <utility>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

constexpr size_t kBiases = 12, kProjection = 16, kProjectionBias = 17, kNorms = 20;

/// Rows as columns.
std::vector<float> turned(const std::vector<float>& values, int64_t rows)
{
    const auto height = static_cast<size_t>(rows), width = values.size() / height;
    std::vector<float> out;
    out.reserve(values.size());
    for (size_t column = 0; column < width; ++column)
        for (size_t row = 0; row < height; ++row) out.push_back(values[row * width + column]);
    return out;
}

void declareFloats(tenon_onnx::ValueInfoProto& info, const std::string& name,
                   const std::vector<int64_t>& shape)
{
    info.set_name(name);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(tenon_onnx::TensorProto::FLOAT);
    for (const int64_t size : shape) type.mutable_shape()->add_dim()->set_dim_value(size);
}

} // namespace

void TfliteRecurrent::scannedLstm(const Pass& pass)
{
    const size_t shift = pass.shift;
    const int64_t rows = 4 * pass.cells;
    const std::vector<float> weights =
        inputWeights(pass, gatesFrom(1 + shift), gatesFrom(pass.auxiliaryWeight));
    const int64_t columns = static_cast<int64_t>(weights.size()) / rows;
    std::string sums = value(
        pass, "MatMul",
        {sequence(pass), constant(pass, "weight", {columns, rows}, turned(weights, rows))}, "data");
    if (!isNormalized(pass))
        sums = value(
            pass, "Add",
            {sums, constant(pass, "bias", {rows},
                            numbersOf(gatesFrom(kBiases + shift), pass.cells, isCoupled(pass)))},
            "sums");
    constant(
        pass, "recurrent_weight", {pass.outputs, rows},
        turned(numbersOf(gatesFrom(5 + shift), pass.cells * pass.outputs, isCoupled(pass)), rows));
    const auto zeros = [&](const char* leaf, int64_t units) {
        const auto count = static_cast<size_t>(pass.batch * units);
        return constant(pass, leaf, {pass.batch, units}, std::vector<float>(count, 0));
    };
    const std::string hidden = zeros("first_hidden", pass.outputs),
                      cell = zeros("first_cell", pass.cells), steps = pass.name + "/steps";
    const tenon_onnx::GraphProto body = lstmStep(pass);
    NodeProto& made = node("Scan", {hidden, cell, sums}, pass.name + "/last_hidden", pass.name);
    made.add_output(pass.name + "/last_cell");
    made.add_output(steps);
    tenon_onnx::AttributeProto& attr = *made.add_attribute();
    attr.set_name("body");
    attr.set_type(tenon_onnx::AttributeProto::GRAPH);
    *attr.mutable_g() = body;
    setInteger(made, "num_scan_inputs", 1);
    setIntegers(made, "scan_input_directions", {pass.isReverse});
    setIntegers(made, "scan_output_directions", {pass.isReverse});
    finishPass(pass, steps);
}

tenon_onnx::GraphProto TfliteRecurrent::lstmStep(const Pass& pass)
{
    tenon_onnx::GraphProto body;
    body.set_name("step");
    tenon_onnx::GraphProto* const outer = std::exchange(m_into, &body);
    const std::string base = pass.name + "/", hidden = base + "hidden", cell = base + "cell",
                      data = base + "step_data";
    declareFloats(*body.add_input(), hidden, {pass.batch, pass.outputs});
    declareFloats(*body.add_input(), cell, {pass.batch, pass.cells});
    declareFloats(*body.add_input(), data, {pass.batch, 4 * pass.cells});
    const std::string product =
        value(pass, "MatMul", {hidden, base + "recurrent_weight"}, "recurrent");
    const std::string sum = value(pass, "Add", {data, product}, "gates");
    NodeProto& parts = node("Split", {sum}, base + "input_sum", base + "parts");
    for (const char* leaf : {"output_sum", "forget_sum", "candidate_sum"})
        parts.add_output(base + leaf);
    setInteger(parts, "axis", 1);
    const auto gate = [&](const std::string& name, size_t at, const std::string& state) {
        return value(pass, "Sigmoid", {gateSum(pass, name, at, state)}, name + "_gate");
    };
    const std::string in = gate("input", 0, cell), forget = gate("forget", 1, cell);
    const std::string candidate = base + "candidate";
    apply(gateSum(pass, "candidate", 2, ""), candidate, candidate, pass.activation);
    std::string next = value(pass, "Add",
                             {value(pass, "Mul", {forget, cell}, "kept"),
                              value(pass, "Mul", {in, candidate}, "entering")},
                             "next_sum");
    next = limited(pass, next, "next_cell", m_op->options.number<float>(1));
    const std::string out = gate("output", 3, next), bent = base + "bent";
    apply(next, bent, bent, pass.activation);
    const std::string result = projected(pass, value(pass, "Mul", {out, bent}, "result"));
    // A body hands on each of its results under a name of its own.
    declareFloats(*body.add_output(), result, {pass.batch, pass.outputs});
    declareFloats(*body.add_output(), next, {pass.batch, pass.cells});
    declareFloats(*body.add_output(), value(pass, "Identity", {result}, "step"),
                  {pass.batch, pass.outputs});
    m_into = outer;
    return body;
}

bool TfliteRecurrent::isNormalized(const Pass& pass) const
{
    bool isAny = false;
    for (size_t gate = 0; gate < 4; ++gate)
        isAny = isAny || (pass.canHaveNorms && input(kNorms + gate) >= 0);
    return isAny;
}

std::string TfliteRecurrent::limited(const Pass& pass, const std::string& from,
                                     const std::string& leaf, float limit)
{
    if (limit <= 0) return from;
    const std::string name = pass.name + "/" + leaf;
    clip(from, name, name, -limit, limit);
    return name;
}

std::string TfliteRecurrent::gateSum(const Pass& pass, const std::string& gate, size_t at,
                                     const std::string& cell)
{
    constexpr size_t kCandidate = 2;
    // Operands of the gates in the file's order; peepholes skip the candidate.
    const size_t order = at == 3 ? 2 : at, peephole = 9 + order + pass.shift,
                 forget = 10 + pass.shift;
    const bool isNegated = at == 0 && isCoupled(pass);
    std::string sum = pass.name + "/" + gate + "_sum";
    if (at != kCandidate && input(isNegated ? forget : peephole) >= 0) {
        std::vector<float> values = numbersOf({isNegated ? forget : peephole}, pass.cells);
        for (float& number : values) number = isNegated ? -number : number;
        const std::string weight = constant(pass, gate + "_peephole", {pass.cells}, values);
        const std::string seen = value(pass, "Mul", {cell, weight}, gate + "_seen");
        sum = value(pass, "Add", {sum, seen}, gate + "_with_cell");
    }
    return isNormalized(pass) ? normalized(pass, sum, gate, at) : sum;
}

std::string TfliteRecurrent::normalized(const Pass& pass, const std::string& sum,
                                        const std::string& gate, size_t at)
{
    const bool isNegated = at == 0 && isCoupled(pass);
    const size_t from = isNegated ? 1 : at;
    const auto mean = [&](const std::string& of, const std::string& leaf) {
        const std::string name = pass.name + "/" + leaf;
        setIntegers(node("ReduceMean", {of}, name, name), "axes", {1});
        return name;
    };
    std::string out = sum;
    if (input(kNorms + from) >= 0) {
        const std::string centred =
            value(pass, "Sub", {sum, mean(sum, gate + "_mean")}, gate + "_centred");
        const std::string squares = value(pass, "Mul", {centred, centred}, gate + "_squares");
        const std::string small = constant(pass, gate + "_least", {}, {1e-8F});
        const std::string spread = value(
            pass, "Sqrt",
            {value(pass, "Add", {mean(squares, gate + "_variance"), small}, gate + "_raised")},
            gate + "_spread");
        const std::string unit = value(pass, "Div", {centred, spread}, gate + "_unit");
        const std::string weight =
            constant(pass, gate + "_norm", {pass.cells}, numbersOf({kNorms + from}, pass.cells));
        out = value(pass, "Mul", {unit, weight}, gate + "_normalized");
    }
    std::vector<float> bias = numbersOf({kBiases + from + pass.shift}, pass.cells);
    for (float& number : bias) number = isNegated ? -number : number;
    return value(pass, "Add", {out, constant(pass, gate + "_bias", {pass.cells}, bias)},
                 gate + "_biased");
}

std::string TfliteRecurrent::projected(const Pass& pass, const std::string& hidden)
{
    const size_t weight = kProjection + pass.shift, bias = kProjectionBias + pass.shift;
    if (input(weight) < 0) return hidden;
    const std::vector<float> rows = numbersOf({weight}, pass.cells * pass.outputs);
    std::string out = value(pass, "MatMul",
                            {hidden, constant(pass, "projection", {pass.cells, pass.outputs},
                                              turned(rows, pass.outputs))},
                            "projected");
    if (input(bias) >= 0)
        out = value(pass, "Add",
                    {out, constant(pass, "projection_bias", {pass.outputs},
                                   numbersOf({bias}, pass.outputs))},
                    "projected_sum");
    return limited(pass, out, "projected_limited", m_op->options.number<float>(2));
}

} // namespace tenon::compiler
