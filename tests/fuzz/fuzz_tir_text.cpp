// SPDX-License-Identifier: Apache-2.0
// Loop IR text: any text parses or is refused; what parses prints to text that parses to the same.
#include "core/ir/tir/text.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const auto function = tenon::tir::parsePrimFunc(fuzzText(data, size));
    if (!function) return 0;
    if (!tenon::tir::verify(*function)) return 0;
    const std::string text = tenon::tir::print(*function);
    const auto again = tenon::tir::parsePrimFunc(text);
    CHECK(again) << again.error().text() << " in\n" << text;
    CHECK(tenon::tir::print(*again) == text) << text;
    return 0;
}
