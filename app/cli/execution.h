// SPDX-License-Identifier: Apache-2.0
// What run, bench and verify share: a loadable artifact from a model or file, and its inputs.
#pragma once

#include "app/cli/command.h"
#include "app/runs/local_run.h"
#include "app/runs/samples/sample_tensors.h"
#include "core/artifact/manifest.h"
#include "core/base/temporary_folder.h"
#include "remote/session/local_board.h"

#include <memory>

namespace tenon::cli {

using runs::assignInputs;
using runs::GivenTensors;
using runs::placeOf;
using runs::readTensors;
using runs::requestHere;
using runs::sameBits;

/// A shared library ready to run, and what it says about itself.
struct Runnable
{
    std::string path;
    Manifest manifest;
    std::shared_ptr<const TemporaryFolder> folder; ///< holds a library compiled just now
    compiler::CompileResultPtr compiled;           ///< null for an artifact given as a file

    Result<std::string> sha256() const; ///< of the file
};

/// Compiles a loaded model into a temporary folder: the file that `compile` would write, or with
/// the project of a serial board the image for it.
Result<Runnable> buildRunnable(std::shared_ptr<const compiler::Loaded> loaded,
                               const CommonOptions& options, JobContext& job,
                               const std::string& boardProject = {});

/// Its file, in a temporary folder; see compiler::writeForBoard().
Result<Runnable> writeRunnable(compiler::CompileResultPtr compiled,
                               const std::string& boardProject = {});

enum class InputSource : uint8_t
{
    Given, ///< the data say what the model leaves open
    MadeUp ///< needs sizes: a batch that nobody bound becomes 1
};
inline InputSource sourceOf(const std::vector<std::string>& files)
{
    return files.empty() ? InputSource::MadeUp : InputSource::Given;
}

/// A model is compiled; anything `compile` wrote as .so, .wasm or .elf is taken as it is.
Result<Runnable> openRunnable(const std::string& path, const CommonOptions& options,
                              InputSource inputs, JobContext& job,
                              const std::string& boardProject = {});

/// A request to run it on this computer; code for another processor is emulated.
Result<remote::RunRequest> runRequest(const Runnable& runnable, const CommonOptions& options,
                                      std::chrono::seconds timeout);

} // namespace tenon::cli
