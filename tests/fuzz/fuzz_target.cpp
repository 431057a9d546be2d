// SPDX-License-Identifier: Apache-2.0
// Target strings: any text parses or is refused; what parses prints to text of an equal target.
#include "core/target/target.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const auto target = tenon::core::parseTarget(fuzzText(data, size));
    if (!target) return 0;
    const auto again = tenon::core::parseTarget(target->text());
    CHECK(again) << target->text() << " does not parse: " << again.error().text();
    CHECK(again->text() == target->text()) << target->text() << " became " << again->text();
    return 0;
}
