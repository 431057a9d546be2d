// SPDX-License-Identifier: Apache-2.0
// Pictures and sounds as tensors for a model's inputs.
#pragma once

#include "app/runs/given_tensors.h"
#include "app/runs/samples/picture.h"
#include "app/runs/samples/preprocessing.h"
#include "app/runs/samples/sound.h"

namespace tenon::runs {

struct SampleFiles
{
    std::vector<std::string> pictures; ///< PNG, JPEG
    std::vector<std::string> sounds;   ///< WAV
    std::string preprocessing;         ///< a line for both

    bool isEmpty() const { return pictures.empty() && sounds.empty(); }
};

/// What was made, and how: lines for whoever ran it.
struct SampleTensors
{
    GivenTensors tensors;
    std::vector<std::string> made;  ///< "`image` from cat.png: size=224x224 ..."
    std::vector<std::string> shown; ///< the effective line of each tensor, without names
};

/// One picture as values in the layout of the plan, without a batch.
std::vector<double> pictureValues(const Picture& picture, const PicturePlan& plan);

/// The inputs that take pictures get them, several for a batch; sounds go to the first other one.
/// Errors: IoFailure, BadArgument, ShapeMismatch, each naming the file or the input.
Result<SampleTensors> sampleTensors(const std::vector<ManifestTensor>& inputs,
                                    const SampleFiles& files);

} // namespace tenon::runs
