// SPDX-License-Identifier: Apache-2.0
// qnn.FramesAsImages: FramesAsImages while filters are integers behind dequantizations, so that
// what computes with integers finds convolutions of images. Without such filters nothing changes
// yet.
#include "compiler/passes/layout/film_filters.h"
#include "compiler/passes/layout/film_images.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/use_index.h"

namespace tenon::compiler {

Result<Patches> runQnnFramesAsImages(const Module& module, const PassContext&)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        if (!hasFilmsOfIntegers(module, *function)) continue;
        for (Patch& patch : filmsAsImages(module, *function)) patches.push_back(std::move(patch));
    }
    return patches;
}

} // namespace tenon::compiler
