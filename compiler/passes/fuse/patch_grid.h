// SPDX-License-Identifier: Apache-2.0
// PatchGrid: which images the patches of a value cover, so that kernels leave out what lies beyond.
#pragma once

#include "core/ir/module.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Attribute of a call_tir of patches: the rows and columns of images that its kernels take as
/// sizes.
inline constexpr const char* kImageSizesAttr = "image_sizes";

struct PatchGrid
{
    std::vector<std::string> images; ///< rows and columns of each
    std::vector<int64_t> sides;      ///< of a patch, in these rows and columns
    std::vector<int64_t> patch;      ///< rows and columns that were cut for it
    std::vector<int64_t> steps;      ///< from one to the next; empty: results are of images

    friend bool operator==(const PatchGrid&, const PatchGrid&) = default;
};

/// Of each primitive function whose results are patches with rows and columns behind their
/// channels; those that are called with several are left out.
std::map<FunctionId, PatchGrid> patchGridsOf(const Module& module);

} // namespace tenon::compiler
