// SPDX-License-Identifier: Apache-2.0
// BoardCode: the diagnostic codes of boards; they continue those of DiagnosticCode.
#pragma once

#include "core/base/diagnostic.h"

#include <cstdint>

namespace tenon::core {

struct BoardCode
{
    /// The codes of diagnostics.def stay below it.
    static constexpr uint8_t kFirst = 128;

private:
    enum Order : uint8_t
    {
        kBefore = kFirst - 1,
#define DIAGNOSTIC(name, text) k##name,
#include "core/base/board_diagnostics.def"
#undef DIAGNOSTIC
    };

public:
#define DIAGNOSTIC(name, text) static constexpr DiagnosticCode name{k##name};
#include "core/base/board_diagnostics.def"
#undef DIAGNOSTIC
};

} // namespace tenon::core
