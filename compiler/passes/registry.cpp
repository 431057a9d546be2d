// SPDX-License-Identifier: Apache-2.0
// The list of passes and the default pipeline, as data.
#include "compiler/passes/passes.h"

namespace tenon::compiler {
namespace {

constexpr PassDef kPasses[] = {
#define PASS(function, ...) {.run = &function, __VA_ARGS__},
#include "compiler/passes/passes.def"
};

constexpr std::string_view kPipeline[] = {
#define STAGE(name) name,
#include "compiler/passes/passes.def"
};

} // namespace

std::span<const PassDef> allPasses() { return kPasses; }

const PassDef* findPass(std::string_view nameOrCliName)
{
    for (const PassDef& pass : kPasses)
        if (pass.name == nameOrCliName || pass.cliName == nameOrCliName) return &pass;
    return nullptr;
}

std::vector<std::string_view> defaultPipeline()
{
    return {std::begin(kPipeline), std::end(kPipeline)};
}

} // namespace tenon::compiler
