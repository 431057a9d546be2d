// SPDX-License-Identifier: Apache-2.0
// Somebody who runs models on data: what the compiler asks of the outside, since compiled code
// never runs in its process.
#pragma once

#include "compiler/frontend/loaded.h"
#include "core/base/result.h"
#include "core/jobs/job.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::compiler {

/// Tensors of one inference by name of the model's input.
struct DataSet
{
    std::string source; ///< file or folder, and which of it: what messages say
    std::vector<std::pair<std::string, Tensor>> inputs;
};
using CalibrationData = std::vector<DataSet>;

/// One model, ready to run again and again.
class ModelRunner
{
public:
    virtual ~ModelRunner() = default;
    /// Its outputs in the order of the model.
    virtual Result<std::vector<Tensor>> run(const DataSet& data) = 0;
};

using OpenRunner =
    std::function<Result<std::unique_ptr<ModelRunner>>(std::shared_ptr<const Loaded>, JobContext&)>;

} // namespace tenon::compiler
