// SPDX-License-Identifier: Apache-2.0
// What the rules count on in a kernel: text can name any family and anchor.
#pragma once

#include "compiler/schedule/schedule.h"

#include <string_view>

namespace tenon::compiler {

/// Spatial and reduced axes of the anchor, from outside to inside: "SSR"; behind '*' the last ones,
/// "" for kernels without an anchor. 'N' for a first spatial axis of any length, open ones too.
using AxesForm = std::string_view;

/// Error BadSchedule, in the name of `rule`, when the anchor is no block of such axes, of known
/// sizes; or, where other blocks must be there too, they are not.
Status checkForm(const Schedule& schedule, std::string_view rule, AxesForm form);

/// A blocked convolution: nine axes, and weights of six dimensions beside its data of four or five.
bool isBlockedConv(const tir::Stmt& block);

} // namespace tenon::compiler
