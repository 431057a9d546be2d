// SPDX-License-Identifier: GPL-3.0-or-later
// Two raw files for each tensor.
#include "app/engine/kept_tensors.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <cstdio>
#include <fstream>

namespace tenon::app {

using core::Result;
using core::Status;
using core::Tensor;

namespace {

Status writeValues(const std::string& path, const Tensor& tensor)
{
    std::remove(path.c_str()); // somebody may look at what it held
    const auto bytes = tensor.bytes();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (file) return core::kDone;
    return core::makeError(core::DiagnosticCode::IoFailure,
                           "the values of a tensor could not be kept; check the free space of the "
                           "temporary file system",
                           {.file = path});
}

Result<Tensor> readValues(const std::string& path, core::DataType type,
                          const std::vector<int64_t>& shape)
{
    if (core::elementCount(shape) == 0)
        return Tensor::make(type, shape, [](std::span<std::byte>) {});
    const auto file = core::MappedFile::open(path);
    if (!file) return file.error();
    const auto size =
        static_cast<size_t>(core::elementCount(shape)) * static_cast<size_t>(type.bytes());
    if ((*file)->bytes().size() != size)
        return core::makeError(core::DiagnosticCode::IoFailure,
                               "the kept values are no longer what they were", {.file = path});
    return Tensor(type, shape, *file, (*file)->bytes());
}

} // namespace

KeptTensors::KeptTensors(core::TemporaryFolder folder, int64_t mostBytes)
    : m_folder(std::move(folder))
    , m_mostBytes(mostBytes)
{
}

Result<std::shared_ptr<KeptTensors>> KeptTensors::make(int64_t mostBytes)
{
    auto folder = core::TemporaryFolder::make("tenon-compare-");
    if (!folder) return folder.error();
    return std::shared_ptr<KeptTensors>(new KeptTensors(std::move(*folder), mostBytes));
}

std::string KeptTensors::fileOf(size_t tensor, const char* side) const
{
    return m_folder.file(std::to_string(tensor) + "." + side);
}

Status KeptTensors::keep(size_t tensor, const Tensor& reference, const Tensor& device)
{
    const auto bytes = static_cast<int64_t>(reference.bytes().size() + device.bytes().size());
    const auto known = m_kept.find(tensor);
    const int64_t others = m_bytes - (known == m_kept.end() ? 0 : known->second.bytes);
    if (others + bytes > m_mostBytes) {
        m_refused[tensor] = bytes;
        return core::kDone;
    }
    if (Status done = writeValues(fileOf(tensor, "reference"), reference); !done) return done;
    if (Status done = writeValues(fileOf(tensor, "device"), device); !done) return done;
    m_kept[tensor] = {reference.dtype(), device.dtype(), reference.shape(), bytes};
    m_bytes = others + bytes;
    return core::kDone;
}

Result<views::TensorValues> KeptTensors::values(size_t tensor) const
{
    const auto known = m_kept.find(tensor);
    if (known == m_kept.end()) {
        const auto refused = m_refused.find(tensor);
        return core::makeError(core::DiagnosticCode::BadArgument,
                               refused == m_refused.end()
                                   ? "the comparison has no values of this tensor"
                                   : "the values of this tensor, " +
                                         core::bytesText(static_cast<uint64_t>(refused->second)) +
                                         ", were not kept: those of all tensors may take " +
                                         core::bytesText(static_cast<uint64_t>(m_mostBytes)));
    }
    const Kept& kept = known->second;
    auto reference = readValues(fileOf(tensor, "reference"), kept.referenceType, kept.shape);
    if (!reference) return reference.error();
    auto device = readValues(fileOf(tensor, "device"), kept.deviceType, kept.shape);
    if (!device) return device.error();
    return views::TensorValues{*std::move(reference), *std::move(device)};
}

} // namespace tenon::app
