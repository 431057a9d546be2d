// SPDX-License-Identifier: Apache-2.0
// Calibration data in files: a folder with a folder, or a file, for every data set.
#pragma once

#include "compiler/driver/model_runner.h"

namespace tenon::compiler {

/// Data sets of a folder or a file, at most `mostSets`:
/// - a folder of folders: one set each (`test_data_set_0/input_0.pb`);
/// - .npz files: one set each, by name of the input;
/// - .npy and .pb files of a model with one input: one set each; of more inputs: one set together.
/// Tensors that hold several examples along their first axis are as many sets. Files named output*
/// are left out. An example has the sizes that are bound. Doubles are rounded where the model takes
/// floats. Errors name the file.
Result<CalibrationData> readCalibration(const std::string& modelPath, const std::string& dataPath,
                                        size_t mostSets, const ImportOptions& sizes = {});

} // namespace tenon::compiler
