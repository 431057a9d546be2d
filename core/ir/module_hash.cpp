// SPDX-License-Identifier: Apache-2.0
// Hash of a module's text.
#include "core/ir/module_hash.h"

#include "core/base/hash.h"
#include "core/ir/graph_text.h"

namespace tenon::core {

std::string moduleHash(const Module& module)
{
    return hashBytes(printModule(module, {.hashes = false})).hex();
}

} // namespace tenon::core
