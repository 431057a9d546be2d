// SPDX-License-Identifier: Apache-2.0
// Spectrograms: the power of a sound in mel bands, frame by frame.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::runs {

struct MelShape
{
    double rate = 16000;
    int64_t window = 512;
    int64_t hop = 256;
    int64_t bands = 40;
    double floor = 1e-3;
};

/// As many frames as fit into the sound.
int64_t framesIn(int64_t samples, const MelShape& shape);

/// Natural logarithms, [frames, bands]: frames under a Hann window, the squared magnitude of their
/// Fourier transform, summed under triangles that are evenly spaced from 0 to half of the rate in
/// mels (2595 log10(1 + f / 700)), plus the floor.
std::vector<float> melSpectrogram(const std::vector<float>& samples, const MelShape& shape);

} // namespace tenon::runs
