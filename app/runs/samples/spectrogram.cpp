// SPDX-License-Identifier: Apache-2.0
// A Fourier transform by its definition: windows are short, and any length will do.
#include "app/runs/samples/spectrogram.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon::runs {

namespace {

/// Triangles [bands][bins] with their tops evenly spaced in mels.
std::vector<std::vector<double>> melFilters(const MelShape& shape)
{
    const auto bins = static_cast<size_t>(shape.window / 2 + 1);
    const auto bands = static_cast<size_t>(shape.bands);
    const double most = 2595 * std::log10(1 + shape.rate / 2 / 700);
    std::vector<double> edges;
    for (size_t i = 0; i < bands + 2; ++i) {
        const double mels = most * static_cast<double>(i) / static_cast<double>(bands + 1);
        edges.push_back(700 * (std::pow(10, mels / 2595) - 1) * static_cast<double>(shape.window) /
                        shape.rate);
    }
    std::vector<std::vector<double>> filters(bands, std::vector<double>(bins));
    for (size_t b = 0; b < bands; ++b)
        for (size_t k = 0; k < bins; ++k) {
            const double bin = static_cast<double>(k);
            const double rise = (bin - edges[b]) / std::max(edges[b + 1] - edges[b], 1.0);
            const double fall = (edges[b + 2] - bin) / std::max(edges[b + 2] - edges[b + 1], 1.0);
            filters[b][k] = std::max(0.0, std::min(rise, fall));
        }
    return filters;
}

/// Squared magnitudes of half of the transform.
class Power
{
public:
    explicit Power(int64_t window)
        : m_size(static_cast<size_t>(window))
    {
        for (size_t i = 0; i < m_size; ++i) {
            const double turn = 2 * std::numbers::pi * static_cast<double>(i);
            m_cosine.push_back(std::cos(turn / static_cast<double>(m_size)));
            m_sine.push_back(std::sin(turn / static_cast<double>(m_size)));
            const double span = std::max(1.0, static_cast<double>(m_size) - 1);
            m_hann.push_back(m_size == 1 ? 1 : 0.5 - 0.5 * std::cos(turn / span));
        }
    }
    std::vector<double> of(const float* samples) const
    {
        std::vector<double> frame(m_size);
        for (size_t i = 0; i < m_size; ++i) frame[i] = static_cast<double>(samples[i]) * m_hann[i];
        std::vector<double> power;
        for (size_t k = 0; k <= m_size / 2; ++k) {
            double real = 0, imaginary = 0;
            for (size_t i = 0, at = 0; i < m_size; ++i, at = (at + k) % m_size) {
                real += frame[i] * m_cosine[at];
                imaginary -= frame[i] * m_sine[at];
            }
            power.push_back(real * real + imaginary * imaginary);
        }
        return power;
    }

private:
    size_t m_size;
    std::vector<double> m_cosine, m_sine, m_hann;
};

} // namespace

int64_t framesIn(int64_t samples, const MelShape& shape)
{
    return samples < shape.window ? 0 : (samples - shape.window) / shape.hop + 1;
}

std::vector<float> melSpectrogram(const std::vector<float>& samples, const MelShape& shape)
{
    const auto filters = melFilters(shape);
    const Power power(shape.window);
    const int64_t frames = framesIn(static_cast<int64_t>(samples.size()), shape);
    std::vector<float> out;
    out.reserve(static_cast<size_t>(frames * shape.bands));
    for (int64_t frame = 0; frame < frames; ++frame) {
        const std::vector<double> bins = power.of(&samples[static_cast<size_t>(frame * shape.hop)]);
        for (const std::vector<double>& filter : filters) {
            double sum = 0;
            for (size_t k = 0; k < bins.size(); ++k) sum += filter[k] * bins[k];
            out.push_back(static_cast<float>(std::log(sum + shape.floor)));
        }
    }
    return out;
}

} // namespace tenon::runs
