// SPDX-License-Identifier: Apache-2.0
// Sound: the samples of a WAV file as one channel, at any rate.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::runs {

using namespace core;

/// -1 to 1; several channels are their mean.
struct Sound
{
    double rate = 0; ///< samples in a second
    std::vector<float> samples;
};

/// Errors: IoFailure, BadArgument for what is no WAV file or in a form that is not read.
Result<Sound> readSound(const std::string& path);
Result<Sound> decodeWav(std::string_view bytes);

/// The same sound at another rate, without what that rate cannot hold.
Sound resampled(const Sound& sound, double rate);

} // namespace tenon::runs
