// SPDX-License-Identifier: Apache-2.0
// Recurrent operators against plain loops written out here, for groups of sequences of every size.
#include "tests/compiler/ops/naive_sample.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::compiler {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Gates of a sequence at one step: what the input adds, and columns of the states' product.
std::vector<double> gatesOf(const Sample& r, int64_t step, int64_t sequence,
                            const std::vector<double>& state, int64_t parts)
{
    const int64_t sequences = r.inputs[0].shape()[1], columns = r.inputs[0].shape()[2];
    std::vector<double> gates;
    for (int64_t c = 0; c < columns; ++c) {
        double sum = r.inputs[0].number((step * sequences + sequence) * columns + c);
        const auto hidden = static_cast<int64_t>(state.size());
        for (int64_t k = 0; k < hidden && c < parts * hidden; ++k)
            sum += state[static_cast<size_t>(k)] * r.inputs[1].number(k * columns + c);
        gates.push_back(sum);
    }
    return gates;
}

/// Numbers of sequences that groups of four, three, two and one divide, and of units: fewer than a
/// vector's lanes, whole vectors, vectors and a rest.
constexpr std::pair<int64_t, int64_t> kSizes[] = {{1, 6},  {2, 6},  {3, 6},  {4, 6},
                                                  {5, 6},  {6, 6},  {8, 6},  {1, 16},
                                                  {1, 17}, {2, 19}, {3, 35}, {4, 77}};

/// What enters the candidate of unit `u`; `input`: what it adds where the product alone is gated.
double candidateOf(const Sample& r, const std::vector<double>& gates,
                   const std::vector<double>& state, size_t u, const double* input)
{
    const size_t hidden = state.size();
    double sum = gates[2 * hidden + u];
    if (input) return *input + sigmoid(gates[hidden + u]) * (sum - *input);
    for (size_t k = 0; k < hidden; ++k)
        sum += sigmoid(gates[hidden + k]) * state[k] *
               r.inputs[1].number(static_cast<int64_t>(3 * hidden * k + 2 * hidden + u));
    return sum;
}

TEST(Recurrent, ComputesGatedUnitsOfAnyNumberOfSequences)
{
    constexpr int64_t kSteps = 3;
    for (const auto& [sequences, hidden] : kSizes)
        for (const int after : {0, 1}) {
            const Sample r = run("%x: " + typeOf({kSteps, sequences, 3 * hidden}) +
                                 ", %w: " + typeOf({hidden, 3 * hidden}) +
                                 ", %h: " + typeOf({sequences, hidden}) +
                                 " => nn.gru(%x, %w, %h, activations=s[\"sigmoid\", \"tanh\"], "
                                 "linear_before_reset=" +
                                 std::to_string(after) + ")");
            for (int64_t b = 0; b < sequences; ++b) {
                std::vector<double> state;
                for (int64_t k = 0; k < hidden; ++k)
                    state.push_back(r.inputs[2].number(b * hidden + k));
                for (int64_t s = 0; s < kSteps; ++s) {
                    const std::vector<double> gates = gatesOf(r, s, b, state, after ? 3 : 2);
                    std::vector<double> next;
                    for (size_t u = 0; u < static_cast<size_t>(hidden); ++u) {
                        const double in = r.inputs[0].number((s * sequences + b) * 3 * hidden +
                                                             2 * hidden + static_cast<int64_t>(u));
                        const double sum = candidateOf(r, gates, state, u, after ? &in : nullptr);
                        const double update = sigmoid(gates[u]);
                        next.push_back((1 - update) * std::tanh(sum) + update * state[u]);
                    }
                    state = next;
                    for (int64_t u = 0; u < hidden; ++u)
                        ASSERT_NEAR(r.output.number((s * sequences + b) * hidden + u),
                                    state[static_cast<size_t>(u)], 1e-5)
                            << sequences << " sequences of " << hidden << " units, " << b
                            << " at step " << s;
                }
            }
        }
}

TEST(Recurrent, ComputesLongShortTermMemoryOfAnyNumberOfSequences)
{
    constexpr int64_t kSteps = 3;
    for (const auto& [sequences, hidden] : kSizes) {
        const Sample r = run("%x: " + typeOf({kSteps, sequences, 4 * hidden}) + ", %w: " +
                             typeOf({hidden, 4 * hidden}) + ", %h: " + typeOf({sequences, hidden}) +
                             ", %c: " + typeOf({sequences, hidden}) +
                             " => nn.lstm(%x, %w, %h, %c, activations=s[\"sigmoid\", \"tanh\", "
                             "\"tanh\"])");
        for (int64_t b = 0; b < sequences; ++b) {
            std::vector<double> state, cell;
            for (int64_t k = 0; k < hidden; ++k) {
                state.push_back(r.inputs[2].number(b * hidden + k));
                cell.push_back(r.inputs[3].number(b * hidden + k));
            }
            for (int64_t s = 0; s < kSteps; ++s) {
                const std::vector<double> gates = gatesOf(r, s, b, state, 4);
                for (size_t u = 0; u < static_cast<size_t>(hidden); ++u) { // i, o, f, c
                    cell[u] = sigmoid(gates[2 * hidden + u]) * cell[u] +
                              sigmoid(gates[u]) * std::tanh(gates[3 * hidden + u]);
                    state[u] = sigmoid(gates[hidden + u]) * std::tanh(cell[u]);
                    ASSERT_NEAR(
                        r.output.number((s * sequences + b) * hidden + static_cast<int64_t>(u)),
                        state[u], 1e-5)
                        << sequences << " sequences of " << hidden << " units, " << b << " at step "
                        << s;
                }
            }
        }
    }
}

} // namespace
} // namespace tenon::compiler
