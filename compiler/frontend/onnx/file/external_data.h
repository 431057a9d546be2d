// SPDX-License-Identifier: Apache-2.0
// External data: tensor bytes in files beside the model, opened so that nothing outside the
// model's folder can be reached.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/base/file.h"
#include "core/base/result.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Maps each external file once. Every path component is opened without following links, and what
/// is mapped is the very file that was checked.
class ExternalFiles
{
public:
    /// `folder` is the model's; empty means that external data cannot be read.
    explicit ExternalFiles(std::string folder)
        : m_folder(std::move(folder))
    {
    }

    struct Piece
    {
        std::shared_ptr<const MappedFile> file;
        std::span<const std::byte> bytes;
    };
    /// The bytes that `tensor.external_data` describes; `expectedBytes` is what its type needs.
    /// Unknown keys are added to `notes`.
    Result<Piece> read(const tenon_onnx::TensorProto& tensor, uint64_t expectedBytes,
                       std::vector<Diagnostic>& notes);

private:
    Result<std::shared_ptr<const MappedFile>> open(const std::string& location);
    std::string m_folder;
    std::map<std::string, std::shared_ptr<const MappedFile>> m_files;
};

/// Why `location` may not be used, or "" when it stays inside the folder by its text alone.
std::string unsafeLocation(std::string_view location);

} // namespace tenon::compiler
