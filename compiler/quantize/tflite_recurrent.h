// SPDX-License-Identifier: Apache-2.0
// TfliteRecurrent: sequences of recurrent cells as LSTM and RNN of ONNX; cells that those cannot
// say, as the steps of a Scan.
#pragma once

#include "compiler/quantize/tflite_tensors.h"

namespace tenon::compiler {

class TfliteRecurrent : protected TfliteTensors
{
public:
    using TfliteTensors::TfliteTensors;

protected:
    void lstm();
    void lstmBoth();
    void rnn();
    void rnnBoth();

private:
    /// One direction of an operator, whose state starts at zero.
    struct Pass
    {
        std::string name, result; ///< of its nodes, and of what they make
        size_t data = 0;
        size_t auxiliary = 0;       ///< data that its cells read, too; 0: none
        size_t auxiliaryWeight = 0; ///< the first of the weights for them
        size_t shift = 0;           ///< from the operands of the first direction to its own
        bool isTimeFirst = false, isReverse = false, canHaveNorms = false;
        int activation = 0;
        // Of the tensors.
        int64_t steps = 1, batch = 0, inputs = 0, cells = 0, outputs = 0;
        bool hasTime = true;
    };
    /// Where operators of two directions have what both, or the second one alone, read.
    struct Both
    {
        size_t auxiliary, forwardWeight, backwardWeight, shift;
        int merge, timeFirst, activation;
        void (TfliteRecurrent::*make)(Pass&);
    };
    /// The numbers of a gate's operands: of the input, the output, the forgetting and the cell
    /// gate.
    using Gates = std::vector<size_t>;
    /// Behind the input gate's, as ONNX orders them.
    static Gates gatesFrom(size_t first) { return {first, first + 3, first + 1, first + 2}; }

    void both(const Both& where, bool isTimeFirst);
    /// Reads the sizes; fails where tensors do not fit.
    bool measure(Pass& pass, size_t weight, size_t recurrent);
    void lstmPass(Pass& pass);
    void rnnPass(Pass& pass);
    /// Whether ONNX's LSTM computes the same.
    bool isPlain(const Pass& pass) const;
    void plainLstm(const Pass& pass);
    void scannedLstm(const Pass& pass);
    tenon_onnx::GraphProto lstmStep(const Pass& pass);
    bool isNormalized(const Pass& pass) const;
    /// The sum of the gate of this name, the file's number `at`, with what else enters it.
    std::string gateSum(const Pass& pass, const std::string& gate, size_t at,
                        const std::string& cell);
    std::string normalized(const Pass& pass, const std::string& sum, const std::string& gate,
                           size_t at);
    std::string projected(const Pass& pass, const std::string& hidden);
    std::string limited(const Pass& pass, const std::string& from, const std::string& leaf,
                        float limit);

    /// Data as [time, batch, features].
    std::string sequence(const Pass& pass);
    /// `from`, which is by time, as the result.
    void finishPass(const Pass& pass, const std::string& from);
    /// `each` numbers of every gate: zeros where they are absent. An input gate that is coupled to
    /// the forgetting one, 1 - sigmoid(x), is sigmoid(-x).
    std::vector<float> numbersOf(const Gates& at, int64_t each, bool isCoupled = false);
    std::vector<float> inputWeights(const Pass& pass, const Gates& at, const Gates& auxiliary);
    bool isCoupled(const Pass& pass) const { return input(1 + pass.shift) < 0; }
    std::string value(const Pass& pass, const std::string& op,
                      const std::vector<std::string>& inputs, const std::string& leaf);
    std::string constant(const Pass& pass, const std::string& leaf,
                         const std::vector<int64_t>& shape, const std::vector<float>& values);
    void describe(tenon_onnx::NodeProto& made, const Pass& pass, size_t functions);
};

} // namespace tenon::compiler
