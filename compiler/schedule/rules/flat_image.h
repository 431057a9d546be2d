// SPDX-License-Identifier: Apache-2.0
// Height and width of a convolution that reads one pixel per result, as one axis.
#pragma once

#include "compiler/schedule/schedule.h"

#include <string>

namespace tenon::compiler {

/// True when everything after the convolution has its axes: images of `rank` axes, the third and
/// fourth of which are height and width.
bool canFlatten(const Schedule& schedule, const std::string& conv, size_t rank);
/// Walks height and width of the convolution and of everything after it as one axis.
void flattenImage(Schedule& schedule, const std::string& conv);

} // namespace tenon::compiler
