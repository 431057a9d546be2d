// SPDX-License-Identifier: Apache-2.0
// Where each piece of a section begins.
#include "compiler/codegen/data_section.h"

#include <algorithm>

namespace tenon::compiler {

SectionPlan planSection(const DataSection& section)
{
    SectionPlan plan;
    for (const DataSymbol& symbol : section.symbols) {
        plan.starts.push_back((plan.bytes + section.alignment - 1) / section.alignment *
                              section.alignment);
        // An empty constant still gets an address of its own.
        plan.bytes = plan.starts.back() + std::max<uint64_t>(symbol.bytes.size(), 1);
    }
    return plan;
}

} // namespace tenon::compiler
