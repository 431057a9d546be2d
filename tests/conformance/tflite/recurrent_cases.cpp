// SPDX-License-Identifier: Apache-2.0
// SVDF and sequences of LSTM, from a state of zeros.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

struct Svdf
{
    int32_t batch, inputs, units, rank, memory;
    bool hasBias;
};

const Svdf kSvdf[] = {{1, 12, 5, 1, 8, true}, {2, 9, 4, 2, 6, false}};

std::string textOf(const Svdf& k)
{
    return std::to_string(k.units) + " units of rank " + std::to_string(k.rank) +
           (k.hasBias ? "" : " without bias");
}

void addFloatSvdf(TfliteCases& all, const Svdf& k, TfliteType weight, const Activation& activation)
{
    CaseBuilder c(all, "SVDF", weight == TfliteType::Float32 ? "float32" : "hybrid",
                  textOf(k) + activation.name);
    const int32_t filters = k.units * k.rank;
    const int x = c.input(kFloats, {k.batch, k.inputs});
    const int features = c.weight(weight, {filters, k.inputs}, -1),
              time = c.weight(weight, {filters, k.memory}, -1);
    const int bias = k.hasBias ? c.constant(kFloats, {k.units}) : -1;
    const int state = c.variable(kFloats, {k.batch, k.memory * filters});
    c.op({x, features, time, bias, state}, {c.output(kFloats, {k.batch, k.units})},
         FlatOut().number(0, k.rank).number(1, activation.code));
}

/// `state`: int16 with 16-bit weights over time, or int8 with bytes.
void addIntegerSvdf(TfliteCases& all, const Svdf& k, TfliteType state)
{
    const bool isWide = state == TfliteType::Int16;
    CaseBuilder c(all, "SVDF", "int8", textOf(k) + (isWide ? ", 16-bit state" : ", 8-bit state"));
    if (!isWide) c.mistrust("it reads a memory of bytes as one of 16 bits");
    const int32_t filters = k.units * k.rank;
    const Numbers held = isWide ? kWide.within(-20, 20) : kBytes.within(-20, 20);
    const Numbers memory = isWide ? kWide.within(-1, 1) : kBytes.within(-1.0, 127.0 / 128);
    const int x = c.input(kBytes, {k.batch, k.inputs});
    const int features = c.weight(TfliteType::Int8, {filters, k.inputs}, -1);
    const int time = c.constant(memory, {filters, k.memory});
    int bias = -1;
    if (k.hasBias) {
        const float step = scaleOf(held).scales[0] * scaleOf(memory).scales[0];
        std::vector<int32_t> values;
        for (int32_t i = 0; i < k.units; ++i)
            values.push_back(static_cast<int32_t>(c.draw(-1, 1) / static_cast<double>(step)));
        bias = c.model().constant("bias", TfliteType::Int32, {k.units}, values, {{step}, {0}});
    }
    const int variable = c.variable(held, {k.batch, k.memory * filters});
    c.op({x, features, time, bias, variable},
         {c.output(kBytes.within(-16, 12), {k.batch, k.units})},
         FlatOut().number(0, k.rank).number(1, kRelu.code));
}

struct Lstm
{
    const char* what;
    bool isTimeFirst = false, isCoupled = false, hasPeepholes = false, hasProjection = false,
         isNormalized = false;
    float cellClip = 0;
};

constexpr int32_t kBatch = 2, kSteps = 4, kInputs = 5, kCells = 6;

int32_t outputsOf(const Lstm& k) { return k.hasProjection ? 3 : kCells; }

/// The operator's 24 inputs in floats, or with weights of bytes.
Shape32 floatInputs(CaseBuilder& c, const Lstm& k, TfliteType weight, int x)
{
    Shape32 in(24, -1);
    in[0] = x;
    for (size_t gate = 0; gate < 4; ++gate) {
        if (k.isCoupled && gate == 0) continue;
        in[1 + gate] = c.weight(weight, {kCells, kInputs}, -1, 0.6);
        in[5 + gate] = c.weight(weight, {kCells, outputsOf(k)}, -1, 0.6);
        in[12 + gate] = c.constant(kFloats.within(-0.5, 0.5), {kCells});
        if (k.isNormalized) in[20 + gate] = c.constant(kFloats.within(0.5, 1.5), {kCells});
        if (k.hasPeepholes && gate != 2)
            in[gate == 3 ? 11 : 9 + gate] = c.weight(weight, {kCells}, -1, 0.6);
    }
    if (k.hasProjection) {
        in[16] = c.weight(weight, {outputsOf(k), kCells}, -1, 0.6);
        in[17] = c.constant(kFloats.within(-0.5, 0.5), {outputsOf(k)});
    }
    in[18] = c.variable(kFloats, {kBatch, outputsOf(k)});
    in[19] = c.variable(kFloats, {kBatch, kCells});
    if (!k.isNormalized) in.resize(20);
    return in;
}

FlatOut lstmOptions(const Lstm& k)
{
    return FlatOut()
        .number(0, kTanh.code)
        .number(1, k.cellClip)
        .number(3, static_cast<uint8_t>(k.isTimeFirst));
}

void addFloatLstm(TfliteCases& all, const Lstm& k, TfliteType weight)
{
    CaseBuilder c(all, "UNIDIRECTIONAL_SEQUENCE_LSTM",
                  weight == TfliteType::Float32 ? "float32" : "hybrid", k.what);
    const Shape32 data =
        k.isTimeFirst ? Shape32{kSteps, kBatch, kInputs} : Shape32{kBatch, kSteps, kInputs};
    Shape32 result = data;
    result[2] = outputsOf(k);
    const int x = c.input(kFloats, data);
    const Shape32 in = floatInputs(c, k, weight, x);
    c.op(in, {c.output(kFloats, result)}, lstmOptions(k));
}

/// Data of `kind` with weights of bytes, a 16-bit cell of a power of two.
void addIntegerLstm(TfliteCases& all, const Lstm& k, const Numbers& kind, const char* name)
{
    CaseBuilder c(all, "UNIDIRECTIONAL_SEQUENCE_LSTM", name, k.what);
    const Numbers hidden = kind.type == TfliteType::Int16 ? kind.within(-32767.0 / 32768, 0)
                                                          : kind.within(-1, 127.0 / 128);
    const Numbers cell = kWide.within(-16 * 32767.0 / 32768, 0);
    const Shape32 data =
        k.isTimeFirst ? Shape32{kSteps, kBatch, kInputs} : Shape32{kBatch, kSteps, kInputs};
    Shape32 result = data;
    result[2] = kCells;
    Shape32 in(20, -1);
    in[0] = c.input(kind, data);
    for (size_t gate = 0; gate < 4; ++gate) {
        if (k.isCoupled && gate == 0) continue;
        in[1 + gate] = c.weight(TfliteType::Int8, {kCells, kInputs}, -1, 0.6);
        in[5 + gate] = c.weight(TfliteType::Int8, {kCells, kCells}, -1, 0.6);
        Numbers bytes = kind; // 32-bit biases, whatever the data is
        bytes.type = TfliteType::Int8;
        in[12 + gate] = kind.type == TfliteType::Int16 ? -1 : c.bias(bytes, in[1 + gate], kCells);
        if (in[12 + gate] < 0) {
            const std::vector<int32_t> values{900, -700, 0, 1300, -2000, 50};
            in[12 + gate] = c.integers(values);
        }
    }
    in[18] = c.variable(hidden, {kBatch, kCells});
    in[19] = c.variable(cell, {kBatch, kCells});
    Shape32 between;
    for (int i = 0; i < 4; ++i) between.push_back(c.between(kWide.within(-8, 8), {kCells}));
    between.push_back(c.between(hidden, {kCells}));
    c.model().op("UNIDIRECTIONAL_SEQUENCE_LSTM", in, {c.output(hidden, result)}, lstmOptions(k), {},
                 between);
}

} // namespace

void addRecurrentCases(TfliteCases& all)
{
    for (const Svdf& k : kSvdf) {
        for (const Activation& activation : {kNoActivation, kRelu})
            addFloatSvdf(all, k, TfliteType::Float32, activation);
        addFloatSvdf(all, k, TfliteType::Int8, kRelu);
        addIntegerSvdf(all, k, TfliteType::Int16);
        addIntegerSvdf(all, k, TfliteType::Int8);
    }
    Lstm plain{"batch first"}, timeFirst{"time first", true}, coupled{"coupled gates", false, true};
    Lstm peepholes{"peepholes"}, projection{"projection"}, normalized{"normalized"},
        clipped{"clipped cell"};
    peepholes.hasPeepholes = true;
    projection.hasProjection = true;
    normalized.isNormalized = true;
    clipped.cellClip = 0.4F;
    for (const Lstm& k : {plain, timeFirst, coupled, peepholes, projection, normalized, clipped})
        addFloatLstm(all, k, TfliteType::Float32);
    for (const Lstm& k : {plain, timeFirst, coupled, clipped}) {
        addFloatLstm(all, k, TfliteType::Int8);
        addIntegerLstm(all, k, kBytes, "int8");
        addIntegerLstm(all, k, kWide, "int16x8");
    }
}

} // namespace tenon::test
