// SPDX-License-Identifier: Apache-2.0
// What run, bench and verify share: a loadable artifact from a model or file, and its inputs.
#pragma once

#include "app/cli/command.h"
#include "core/artifact/manifest.h"
#include "core/base/temporary_folder.h"
#include "remote/session/local_board.h"

#include <memory>

namespace tenon::cli {

/// A shared library ready to run, and what it says about itself.
struct Runnable
{
    std::string path;
    Manifest manifest;
    std::shared_ptr<const TemporaryFolder> folder; ///< holds a library compiled just now
    compiler::CompileResultPtr compiled;           ///< null for an artifact given as a file

    Result<std::string> sha256() const; ///< of the file
};

/// Compiles a loaded model into a temporary folder: the file that `compile` would write.
Result<Runnable> buildRunnable(std::shared_ptr<const compiler::Loaded> loaded,
                               const CommonOptions& options, JobContext& job);

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
                              InputSource inputs, JobContext& job);

/// With how many threads it runs: --threads, or as many as it was compiled for.
Result<ThreadChoice> threadsOf(const Manifest& manifest, const CommonOptions& options);
/// A request to run it on this computer; code for another processor is emulated.
Result<remote::RunRequest> runRequest(const Runnable& runnable, const CommonOptions& options,
                                      std::chrono::seconds timeout);
/// "this computer", or the emulator with its options.
std::string placeOf(const remote::RunRequest& request);

/// Tensors of files and folders (input_0.pb, input_1.pb, ... in numeric order), in order.
Result<std::vector<std::pair<std::string, Tensor>>>
readTensors(const std::vector<std::string>& paths);

/// The same bytes as another type of the same size.
Tensor sameBits(const Tensor& tensor, DataType dtype);

/// Gives each tensor to the input of its name, else to the next input without one. Errors when one
/// does not fit or an input has none.
Result<remote::NamedTensors> assignInputs(const std::vector<ManifestTensor>& inputs,
                                          const std::vector<std::pair<std::string, Tensor>>& given);

} // namespace tenon::cli
