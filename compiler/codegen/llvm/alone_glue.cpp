// SPDX-License-Identifier: Apache-2.0
// What every artifact brings that has no runtime beside it: the last error, launches without
// threads, and the function that fills the pointer variables.
#include "compiler/codegen/llvm/glue_support.h"
#include "compiler/codegen/llvm/texts.h"
#include "core/base/text.h"

namespace tenon::compiler {

std::string aloneRuntimeText(std::string_view initialize)
{
    return core::replaced(std::string(kAloneRuntime), "@INITIALIZE@", initialize);
}

} // namespace tenon::compiler
