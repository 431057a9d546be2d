// SPDX-License-Identifier: Apache-2.0
// Operands, directions and layouts of recurrent operators, and those that ONNX has, too.
#include "compiler/quantize/tflite_recurrent.h"

#include "compiler/frontend/import/formula.h"

#include <algorithm>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

/// The schema's fused activations that cells of ONNX have.
enum CellActivation : int
{
    kNone = 0,
    kRelu = 1,
    kTanh = 4
};

const char* functionOf(int activation)
{
    return activation == kTanh ? "Tanh" : activation == kRelu ? "Relu" : "Affine";
}

/// A state of all that is filled with zeros, and must not fill the memory.
bool isUsable(const std::vector<int64_t>& sizes)
{
    const int64_t count = limitedCount(sizes);
    return count > 0 && count <= kMaxMadeUp;
}

bool hasFunction(int activation)
{
    return activation == kNone || activation == kRelu || activation == kTanh;
}

} // namespace

std::string TfliteRecurrent::value(const Pass& pass, const std::string& op,
                                   const std::vector<std::string>& inputs, const std::string& leaf)
{
    const std::string name = pass.name + "/" + leaf;
    node(op, inputs, name, name);
    return name;
}

std::string TfliteRecurrent::constant(const Pass& pass, const std::string& leaf,
                                      const std::vector<int64_t>& shape,
                                      const std::vector<float>& values)
{
    if (static_cast<int64_t>(values.size()) != elementCount(shape)) {
        fail("its operands do not fit");
        return leaf;
    }
    return add(Tensor::of<float>(kFloat32, shape, values), pass.name + "/" + leaf);
}

bool TfliteRecurrent::measure(Pass& pass, size_t weight, size_t recurrent)
{
    const bool isThere = input(pass.data) >= 0 && input(weight) >= 0 && input(recurrent) >= 0;
    if (isThere && rankOf(input(weight)) == 2 && rankOf(input(recurrent)) == 2) {
        const std::vector<int64_t>&data = tensor(input(pass.data)).shape,
              &in = tensor(input(weight)).shape;
        pass.hasTime = data.size() == 3;
        pass.inputs = in[1];
        pass.cells = in[0];
        pass.outputs = tensor(input(recurrent)).shape[1];
        if (pass.hasTime) pass.steps = data[pass.isTimeFirst ? 0 : 1];
        if (pass.hasTime || data.size() == 2)
            pass.batch = pass.hasTime ? data[pass.isTimeFirst ? 1 : 0] : data[0];
        if (pass.steps > 0 && pass.inputs > 0 && isUsable({pass.batch, pass.cells}) &&
            isUsable({pass.batch, pass.outputs}))
            return true;
    }
    fail("its weights do not fit its data");
    return false;
}

std::string TfliteRecurrent::sequence(const Pass& pass)
{
    std::string data = asGiven(input(pass.data));
    int64_t features = pass.inputs;
    if (pass.auxiliary != 0) {
        const std::string more = asGiven(input(pass.auxiliary));
        features += tensor(input(pass.auxiliary)).shape.back();
        const std::string all = pass.name + "/all_data";
        setInteger(node("Concat", {data, more}, all, all), "axis", -1);
        data = all;
    }
    if (!pass.hasTime)
        return value(pass, "Reshape", {data, integers("step_shape", {1, pass.batch, features})},
                     "sequence");
    if (pass.isTimeFirst) return data;
    const std::string turned = pass.name + "/sequence";
    setIntegers(node("Transpose", {data}, turned, turned), "perm", {1, 0, 2});
    return turned;
}

void TfliteRecurrent::finishPass(const Pass& pass, const std::string& from)
{
    const bool isTurned = pass.hasTime && !pass.isTimeFirst;
    const std::string inner = pass.name + "/by_time", shape = pass.name + "_shape";
    std::vector<int64_t> sizes{pass.steps, pass.batch, pass.outputs};
    if (!pass.hasTime) sizes.erase(sizes.begin());
    node("Reshape", {from, integers(shape, sizes)}, isTurned ? inner : pass.result, inner);
    if (isTurned)
        setIntegers(node("Transpose", {inner}, pass.result, pass.name + "/turned"), "perm",
                    {1, 0, 2});
}

std::vector<float> TfliteRecurrent::numbersOf(const Gates& at, int64_t each, bool isCoupled)
{
    std::vector<float> out;
    for (size_t gate = 0; gate < at.size(); ++gate) {
        const bool isNegated = isCoupled && gate == 0;
        const int64_t from = input(isNegated ? at.at(2) : at[gate]);
        std::vector<double> values(static_cast<size_t>(each), 0);
        if (from >= 0) values = constantOf(from).numbers();
        if (static_cast<int64_t>(values.size()) != each) fail("its weights do not fit each other");
        for (const double number : values)
            out.push_back(static_cast<float>(isNegated ? -number : number));
    }
    return out;
}

std::vector<float> TfliteRecurrent::inputWeights(const Pass& pass, const Gates& at,
                                                 const Gates& auxiliary)
{
    const bool isCoupledGate = at.size() > 1 && isCoupled(pass);
    const std::vector<float> own = numbersOf(at, pass.cells * pass.inputs, isCoupledGate);
    if (pass.auxiliary == 0 || m_problem) return own;
    const int64_t features = tensor(input(pass.auxiliary)).shape.back();
    const std::vector<float> more = numbersOf(auxiliary, pass.cells * features, isCoupledGate);
    std::vector<float> out;
    const auto append = [&](const std::vector<float>& from, int64_t row, int64_t width) {
        if (static_cast<int64_t>(from.size()) < (row + 1) * width) return;
        out.insert(out.end(), from.begin() + static_cast<ptrdiff_t>(row * width),
                   from.begin() + static_cast<ptrdiff_t>((row + 1) * width));
    };
    for (int64_t row = 0; row < static_cast<int64_t>(at.size()) * pass.cells; ++row) {
        append(own, row, pass.inputs);
        append(more, row, features);
    }
    return out;
}

void TfliteRecurrent::describe(NodeProto& made, const Pass& pass, size_t functions)
{
    setInteger(made, "hidden_size", pass.cells);
    setString(made, "direction", pass.isReverse ? "reverse" : "forward");
    const char* const function = functionOf(pass.activation);
    std::vector<std::string> names(functions, function);
    if (functions > 1) names[0] = "Sigmoid";
    setStrings(made, "activations", names);
    if (pass.activation != kNone) return;
    const size_t affine = functions > 1 ? functions - 1 : 1;
    setFloats(made, "activation_alpha", std::vector<float>(affine, 1));
    setFloats(made, "activation_beta", std::vector<float>(affine, 0));
}

bool TfliteRecurrent::isPlain(const Pass& pass) const
{
    constexpr size_t kProjection = 16;
    // A cell grows by less than one a step, where what enters it is a tangent.
    const auto limit = static_cast<double>(m_op->options.number<float>(1));
    const bool isLimited =
        limit > 0 && (pass.activation != kTanh || static_cast<double>(pass.steps) > limit);
    return !isNormalized(pass) && !isLimited && hasFunction(pass.activation) &&
           input(kProjection + pass.shift) < 0;
}

void TfliteRecurrent::plainLstm(const Pass& pass)
{
    const size_t shift = pass.shift;
    const Gates peepholes{9 + shift, 11 + shift, 10 + shift};
    const bool hasPeepholes =
        std::any_of(peepholes.begin(), peepholes.end(), [&](size_t at) { return input(at) >= 0; });
    const std::vector<float> weights =
        inputWeights(pass, gatesFrom(1 + shift), gatesFrom(pass.auxiliaryWeight));
    const int64_t rows = 4 * pass.cells, columns = static_cast<int64_t>(weights.size()) / rows;
    const bool isOneLess = isCoupled(pass);
    std::vector<float> biases = numbersOf(gatesFrom(12 + shift), pass.cells, isOneLess);
    biases.resize(static_cast<size_t>(2 * rows), 0);
    std::vector<std::string> inputs{
        sequence(pass), constant(pass, "weight", {1, rows, columns}, weights),
        constant(pass, "recurrent_weight", {1, rows, pass.outputs},
                 numbersOf(gatesFrom(5 + shift), pass.cells * pass.outputs, isOneLess)),
        constant(pass, "bias", {1, 2 * rows}, biases)};
    if (hasPeepholes) {
        inputs.insert(inputs.end(), 3, "");
        inputs.push_back(constant(pass, "peepholes", {1, 3 * pass.cells},
                                  numbersOf(peepholes, pass.cells, isOneLess)));
    }
    const std::string steps = pass.name + "/steps";
    describe(node("LSTM", inputs, steps, pass.name), pass, 3);
    finishPass(pass, steps);
}

void TfliteRecurrent::lstmPass(Pass& pass)
{
    if (!measure(pass, 4 + pass.shift, 8 + pass.shift)) return;
    if (isPlain(pass)) return plainLstm(pass);
    scannedLstm(pass);
}

void TfliteRecurrent::rnnPass(Pass& pass)
{
    const size_t weight = 1 + pass.shift, recurrent = 2 + pass.shift, bias = 3 + pass.shift;
    if (!measure(pass, weight, recurrent)) return;
    if (!hasFunction(pass.activation))
        return fail("its fused activation " + std::to_string(pass.activation) +
                    " is none that ONNX's RNN has");
    const std::vector<float> weights = inputWeights(pass, {weight}, {pass.auxiliaryWeight});
    const int64_t columns = static_cast<int64_t>(weights.size()) / std::max<int64_t>(pass.cells, 1);
    std::vector<float> biases = numbersOf({bias}, pass.cells);
    biases.resize(static_cast<size_t>(2 * pass.cells), 0);
    const std::string steps = pass.name + "/steps";
    NodeProto& made =
        node("RNN",
             {sequence(pass), constant(pass, "weight", {1, pass.cells, columns}, weights),
              constant(pass, "recurrent_weight", {1, pass.cells, pass.outputs},
                       numbersOf({recurrent}, pass.cells * pass.outputs)),
              constant(pass, "bias", {1, 2 * pass.cells}, biases)},
             steps, pass.name);
    describe(made, pass, 1);
    finishPass(pass, steps);
}

void TfliteRecurrent::lstm()
{
    constexpr int kKernel = 3;
    const bool isOneStep = m_op->name == "LSTM";
    if (isOneStep && option(kKernel) == 1)
        return fail("an LSTM with all gates in one weight is not written as ONNX here");
    Pass pass{.name = nameOf(output()) + "/cells", .result = given(output()), .canHaveNorms = true};
    pass.isTimeFirst = !isOneStep && option(3) != 0;
    pass.activation = option(0);
    lstmPass(pass);
}

void TfliteRecurrent::rnn()
{
    const bool isOneStep = m_op->name == "RNN";
    Pass pass{.name = nameOf(output()) + "/cells", .result = given(output())};
    pass.isTimeFirst = !isOneStep && option(0) != 0;
    pass.activation = option(isOneStep ? 0 : 1);
    rnnPass(pass);
}

void TfliteRecurrent::both(const Both& where, bool isTimeFirst)
{
    const bool isMerged = option(where.merge) != 0, hasMore = input(where.auxiliary) >= 0;
    // Data without weights for the forward direction are what the backward one reads.
    const bool isForBackward =
        hasMore && input(where.forwardWeight) < 0 && input(where.forwardWeight + 1) < 0;
    const std::string base = nameOf(output());
    std::vector<std::string> results;
    for (const bool isReverse : {false, true}) {
        Pass pass{.name = base + (isReverse ? "/backward" : "/forward"),
                  .isTimeFirst = isTimeFirst,
                  .isReverse = isReverse,
                  .activation = option(where.activation)};
        if (isReverse) pass.shift = where.shift;
        if (isReverse && isForBackward) pass.data = where.auxiliary;
        if (hasMore && !isForBackward) pass.auxiliary = where.auxiliary;
        pass.auxiliaryWeight = isReverse ? where.backwardWeight : where.forwardWeight;
        const bool isResult = !isMerged && m_op->outputs.size() > (isReverse ? 1U : 0U);
        pass.result = isResult ? given(m_op->outputs[isReverse ? 1 : 0]) : pass.name + "/all_steps";
        (this->*where.make)(pass);
        if (m_problem) return;
        results.push_back(pass.result);
    }
    if (isMerged) setInteger(node("Concat", results, given(output()), base), "axis", -1);
}

void TfliteRecurrent::lstmBoth()
{
    const bool isTimeFirst = m_op->options.number<int8_t>(4, 1) != 0;
    both({39, 40, 44, 17, 3, 4, 0, &TfliteRecurrent::lstmPass}, isTimeFirst);
}

void TfliteRecurrent::rnnBoth()
{
    both({9, 10, 11, 4, 2, 0, 1, &TfliteRecurrent::rnnPass}, option(0) != 0);
}

} // namespace tenon::compiler
