// SPDX-License-Identifier: Apache-2.0
// loadOnnx: an ONNX file or its bytes -> graph IR with provenance and every problem found.
#pragma once

#include "compiler/frontend/loaded.h"
#include "core/base/file.h"
#include "core/base/result.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tenon::compiler {

/// Weights stay in the memory-mapped file. Fails only when the bytes are no ONNX model.
Result<Loaded> loadOnnx(const std::string& path, const ImportOptions& options);
/// The same for a file that is open.
Result<Loaded> loadOnnxFile(const std::string& path, std::shared_ptr<const MappedFile> file,
                            const ImportOptions& options);

/// The same for bytes that `owner` keeps alive; `folder` is where external data may lie (empty:
/// none is read) and `name` appears in diagnostics.
Result<Loaded> loadOnnxBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const std::string& folder, const std::string& name,
                             const ImportOptions& options);

/// Names of the tensors that every node gives, by SourceId.
Result<std::vector<std::vector<std::string>>> onnxOutputNames(const std::string& path,
                                                              const MappedFile& file);

/// Writes the model with those of its tensors as outputs, too, and says what its outputs are then,
/// in order.
Result<std::vector<std::string>> writeOnnxWithOutputs(const std::string& path,
                                                      const std::vector<std::string>& tensors,
                                                      const std::string& written);

} // namespace tenon::compiler
