// SPDX-License-Identifier: Apache-2.0
// The program around ONNX Runtime: one command per line in, one line of JSON out.
#pragma once

#include <string>
#include <vector>

namespace tenon::remote {

/// Arguments: LIBRARY [MODEL DATA_SET_DIR THREADS [as-written]], the
/// last word for no optimisations. Commands, read from `input` and answered on
/// `output` after a first line that introduces the library:
///   run K                 K runs: their number, shortest, median and longest
///   sample K N MS         K samples, each the mean of at least N runs and MS milliseconds
///   check DIR SHARE       compares the outputs with output_0.pb and so on there: how many elements
///                         are farther apart than addDifference() allows, and how far
///   write DIR             writes them there
///   open MODEL DATA_SET   takes another model; the paths hold no spaces
/// Returns the exit code; 2: the arguments are none of these.
int runPeerProgram(const std::vector<std::string>& arguments, int input, int output);

/// Each operator as the file has it, without optimisations.
constexpr const char* kAsWritten = "as-written";

/// What runs it as a child: `PROGRAM onnxruntime-peer LIBRARY ...`, talking on descriptor 3.
constexpr const char* kPeerCommand = "onnxruntime-peer";

} // namespace tenon::remote
