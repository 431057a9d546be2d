// SPDX-License-Identifier: Apache-2.0
// FramesAsImages: convolutions over three axes as convolutions of images that have the frames they
// reach as channels.
#include "compiler/passes/layout/film_images.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/use_index.h"

namespace tenon::compiler {

Result<Patches> runFramesAsImages(const Module& module, const PassContext& context)
{
    Patches patches;
    if (context.code.savesMemory) return patches; // frames side by side take memory
    for (const GraphFunction* function : openFunctions(module))
        for (Patch& patch : filmsAsImages(module, *function)) patches.push_back(std::move(patch));
    return patches;
}

} // namespace tenon::compiler
