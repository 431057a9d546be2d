// SPDX-License-Identifier: Apache-2.0
// Recurrent cells of one step, and sequences walked in both directions, from a state of zeros.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

constexpr int32_t kBatch = 2, kSteps = 4, kInputs = 5, kCells = 6, kOther = 3;

struct Walk
{
    const char* what;
    TfliteType weight = TfliteType::Float32;
    bool isTimeFirst = false, isMerged = false;
    int32_t auxiliary = 0; ///< its features; 0: none
    bool isCross = true;   ///< the auxiliary data have weights
    bool isRich = false;   ///< peepholes and a projection

    const char* type() const { return weight == TfliteType::Float32 ? "float32" : "hybrid"; }
    Shape32 shape(int32_t features) const
    {
        return isTimeFirst ? Shape32{kSteps, kBatch, features} : Shape32{kBatch, kSteps, features};
    }
    int32_t backwardInputs() const { return auxiliary > 0 && !isCross ? auxiliary : kInputs; }
};

int weight(CaseBuilder& c, const Walk& k, const Shape32& shape)
{
    return c.weight(k.weight, shape, -1, 0.6);
}

/// A weight, a recurrent one, a bias and a state at `first` and behind it.
void addRnnInputs(CaseBuilder& c, const Walk& k, Shape32& in, size_t first, int32_t features)
{
    in[first] = weight(c, k, {kCells, features});
    in[first + 1] = weight(c, k, {kCells, kCells});
    in[first + 2] = c.constant(kFloats.within(-0.5, 0.5), {kCells});
    in[first + 3] = c.variable(kFloats, {kBatch, kCells});
}

void addRnn(TfliteCases& all, const Walk& k, const Activation& activation)
{
    {
        CaseBuilder c(all, "RNN", k.type(), std::string(k.what) + activation.name);
        Shape32 in(5, -1);
        in[0] = c.input(kFloats, {kBatch, kInputs});
        addRnnInputs(c, k, in, 1, kInputs);
        c.op(in, {c.output(kFloats, {kBatch, kCells})}, FlatOut().number(0, activation.code));
    }
    CaseBuilder c(all, "UNIDIRECTIONAL_SEQUENCE_RNN", k.type(),
                  std::string(k.what) + activation.name);
    Shape32 in(5, -1);
    in[0] = c.input(kFloats, k.shape(kInputs));
    addRnnInputs(c, k, in, 1, kInputs);
    c.op(in, {c.output(kFloats, k.shape(kCells))},
         FlatOut().number(0, static_cast<uint8_t>(k.isTimeFirst)).number(1, activation.code));
}

Shape32 bothOutputs(CaseBuilder& c, const Walk& k, int32_t features)
{
    if (k.isMerged) return {c.output(kFloats, k.shape(2 * features))};
    const int forward = c.output(kFloats, k.shape(features));
    return {forward, c.output(kFloats, k.shape(features))};
}

void addRnnOfBoth(TfliteCases& all, const Walk& k)
{
    CaseBuilder c(all, "BIDIRECTIONAL_SEQUENCE_RNN", k.type(), k.what);
    if (k.isTimeFirst) c.mistrust("it gives the result a shape with the batch first");
    if (k.auxiliary > 0 && !k.isCross)
        c.mistrust("backward it reads the first input, whatever the auxiliary one holds");
    Shape32 in(12, -1);
    in[0] = c.input(kFloats, k.shape(kInputs));
    addRnnInputs(c, k, in, 1, kInputs);
    addRnnInputs(c, k, in, 5, k.backwardInputs());
    if (k.auxiliary > 0) in[9] = c.input(kFloats, k.shape(k.auxiliary));
    for (const size_t at : {size_t{10}, size_t{11}})
        if (k.auxiliary > 0 && k.isCross) in[at] = weight(c, k, {kCells, k.auxiliary});
    c.op(in, bothOutputs(c, k, kCells),
         FlatOut()
             .number(0, static_cast<uint8_t>(k.isTimeFirst))
             .number(1, kTanh.code)
             .number(2, static_cast<uint8_t>(k.isMerged)));
}

/// The gates of an LSTM from input `shift` + 1 on.
void addGates(CaseBuilder& c, const Walk& k, Shape32& in, size_t shift, int32_t features)
{
    const int32_t outputs = k.isRich ? kOther : kCells;
    for (size_t gate = 0; gate < 4; ++gate) {
        in[shift + 1 + gate] = weight(c, k, {kCells, features});
        in[shift + 5 + gate] = weight(c, k, {kCells, outputs});
        in[shift + 12 + gate] = c.constant(kFloats.within(-0.5, 0.5), {kCells});
        if (k.isRich && gate != 2) in[shift + (gate == 3 ? 11 : 9 + gate)] = weight(c, k, {kCells});
    }
    if (!k.isRich) return;
    in[shift + 16] = weight(c, k, {outputs, kCells});
    in[shift + 17] = c.constant(kFloats.within(-0.5, 0.5), {outputs});
}

void addLstmOfBoth(TfliteCases& all, const Walk& k)
{
    CaseBuilder c(all, "BIDIRECTIONAL_SEQUENCE_LSTM", k.type(), k.what);
    if (k.isMerged && !k.isTimeFirst)
        c.mistrust("it strides over the states of a batch as over the merged results");
    const int32_t outputs = k.isRich ? kOther : kCells;
    Shape32 in(48, -1);
    in[0] = c.input(kFloats, k.shape(kInputs));
    addGates(c, k, in, 0, kInputs);
    addGates(c, k, in, 17, k.backwardInputs());
    for (const size_t state : {size_t{35}, size_t{37}}) {
        in[state] = c.variable(kFloats, {kBatch, outputs});
        in[state + 1] = c.variable(kFloats, {kBatch, kCells});
    }
    if (k.auxiliary > 0) in[39] = c.input(kFloats, k.shape(k.auxiliary));
    for (size_t at = 40; k.auxiliary > 0 && k.isCross && at < 48; ++at)
        in[at] = weight(c, k, {kCells, k.auxiliary});
    c.op(in, bothOutputs(c, k, outputs),
         FlatOut()
             .number(0, kTanh.code)
             .number(3, static_cast<uint8_t>(k.isMerged))
             .number(4, static_cast<uint8_t>(k.isTimeFirst)));
}

void addCells(TfliteCases& all, const Walk& k)
{
    CaseBuilder c(all, "LSTM", k.type(), k.what);
    const int32_t outputs = k.isRich ? kOther : kCells;
    Shape32 in(20, -1);
    in[0] = c.input(kFloats, {kBatch, kInputs});
    addGates(c, k, in, 0, kInputs);
    in[18] = c.variable(kFloats, {kBatch, outputs});
    in[19] = c.variable(kFloats, {kBatch, kCells});
    c.op(in, {c.output(kFloats, {kBatch, outputs})}, FlatOut().number(0, kTanh.code));
}

void addBasicCell(TfliteCases& all)
{
    CaseBuilder c(all, "LSTM", "float32", "basic: all gates in one weight");
    const Shape32 state{kBatch, kCells};
    const Shape32 in{c.input(kFloats, {kBatch, kInputs}), c.input(kFloats.within(-1, 1), state),
                     c.constant(kFloats.within(-0.6, 0.6), {4 * kCells, kInputs + kCells}),
                     c.constant(kFloats.within(-0.5, 0.5), {4 * kCells}), c.input(kFloats, state)};
    const Shape32 out{c.output(kFloats, state), c.output(kFloats, state),
                      c.output(kFloats, {kBatch, kInputs + kCells}),
                      c.output(kFloats, {kBatch, 4 * kCells})};
    c.op(in, out, FlatOut().number(0, kTanh.code).number(3, int8_t{1}));
}

} // namespace

void addCellCases(TfliteCases& all)
{
    Walk plain{"plain"}, timeFirst{"time first"}, bytes{"bytes"}, merged{"merged"},
        cross{"auxiliary data"}, stacked{"auxiliary data backward"}, rich{"peepholes, projection"};
    timeFirst.isTimeFirst = true;
    bytes.weight = TfliteType::Int8;
    merged.isMerged = true;
    cross.auxiliary = kInputs;
    stacked.auxiliary = kInputs;
    stacked.isCross = false;
    rich.isRich = true;
    for (const Activation& activation : {kNoActivation, kRelu, kTanh})
        addRnn(all, plain, activation);
    for (const Walk& k : {timeFirst, bytes}) addRnn(all, k, kTanh);
    for (const Walk& k : {plain, timeFirst, bytes, merged, cross, stacked}) {
        addRnnOfBoth(all, k);
        addLstmOfBoth(all, k);
    }
    Walk both = timeFirst;
    both.what = "merged, time first";
    both.isMerged = true;
    for (const Walk& k : {rich, both}) addLstmOfBoth(all, k);
    for (const Walk& k : {plain, bytes, rich}) addCells(all, k);
    addBasicCell(all);
}

} // namespace tenon::test
