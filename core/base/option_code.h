// SPDX-License-Identifier: Apache-2.0
// OptionCode: the codes of remarks on options; they continue those of boards.
#pragma once

#include "core/base/diagnostic.h"

#include <cstdint>

namespace tenon::core {

struct OptionCode
{
    /// The codes of boards stay below it.
    static constexpr uint8_t kFirst = 192;

private:
    enum Order : uint8_t
    {
        kBefore = kFirst - 1,
#define DIAGNOSTIC(name, text) k##name,
#include "core/base/option_diagnostics.def"
#undef DIAGNOSTIC
    };

public:
#define DIAGNOSTIC(name, text) static constexpr DiagnosticCode name{k##name};
#include "core/base/option_diagnostics.def"
#undef DIAGNOSTIC
};

} // namespace tenon::core
