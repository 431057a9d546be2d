// SPDX-License-Identifier: Apache-2.0
// What a test case allows its outputs: as asked, as its meta.json says, or the default.
#pragma once

#include "app/cli/verify_judge.h"

#include <nlohmann/json.hpp>

#include <optional>

namespace tenon::cli {

using Json = nlohmann::ordered_json;

/// The case's meta.json; an empty object where there is none.
Json readMeta(const std::string& folder);

struct OutputPlace
{
    size_t set = 0;
    size_t index = 0;
    bool isSingleOperator = false;
};

/// `relative` and `absolute` stand before everything else.
Tolerance toleranceFor(const Json& meta, const OutputPlace& place, const Tensor& wanted,
                       const std::optional<double>& relative,
                       const std::optional<double>& absolute);

} // namespace tenon::cli
