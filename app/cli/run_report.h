// SPDX-License-Identifier: Apache-2.0
// What an inference gave, for people, for programs and as files.
#pragma once

#include "app/cli/command.h"
#include "core/artifact/manifest.h"
#include "core/tensor/tensor.h"
#include "remote/session/local_board.h"

namespace tenon::cli {

struct OutputsReport
{
    std::string folder;              ///< for output_N.pb and output_N.npy; empty: none
    int64_t top = 0;                 ///< that many of the largest elements are listed
    bool ranks = false;              ///< outputs of classifiers as classes with probabilities
    std::vector<std::string> labels; ///< of the classes
    bool isJson = false;
    Json more = Json::object(); ///< members of the JSON besides
};

/// Where which artifact ran.
struct RunPlace
{
    std::string name;
    std::string sha256;
};

/// PREFIX0.pb and so on in a folder, which need not exist; each once per suffix.
Status writeTensors(const std::string& folder, const std::string& prefix,
                    const std::vector<std::string>& suffixes, const remote::NamedTensors& tensors);

/// Prints and writes; the exit code.
int tellOutputs(const Manifest& manifest, const std::vector<Tensor>& outputs, const RunPlace& place,
                const OutputsReport& options);

} // namespace tenon::cli
