// SPDX-License-Identifier: GPL-3.0-or-later
// KeptTensors: values of the tensors of one comparison in a temporary folder, so that one of them
// can be looked at without all of them being in memory.
#pragma once

#include "core/base/temporary_folder.h"
#include "views/presenters/compare_question.h"

#include <map>
#include <memory>

namespace tenon::app {

class KeptTensors
{
public:
    /// `mostBytes`: what all together may take; further ones are not kept.
    static core::Result<std::shared_ptr<KeptTensors>> make(int64_t mostBytes = int64_t{1} << 30);

    /// Later values of the same tensor replace earlier ones.
    core::Status keep(size_t tensor, const core::Tensor& reference, const core::Tensor& device);
    /// Mapped from the disk. Error BadArgument for what was not kept.
    core::Result<views::TensorValues> values(size_t tensor) const;

private:
    struct Kept
    {
        core::DataType referenceType, deviceType;
        std::vector<int64_t> shape;
        int64_t bytes = 0;
    };
    KeptTensors(core::TemporaryFolder folder, int64_t mostBytes);
    std::string fileOf(size_t tensor, const char* side) const;

    core::TemporaryFolder m_folder;
    int64_t m_mostBytes;
    int64_t m_bytes = 0;
    std::map<size_t, Kept> m_kept;
    std::map<size_t, int64_t> m_refused; ///< bytes of those for which there was no room
};

} // namespace tenon::app
