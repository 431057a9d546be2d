// SPDX-License-Identifier: Apache-2.0
// Graph IR text: any text parses or is refused; what parses prints to text that parses to the same.
#include "core/ir/graph_text.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace tenon::core;
    const auto module = parseModule(fuzzText(data, size));
    if (!module) return 0;
    const std::string text = printModule(*module);
    const auto again = parseModule(text, constantPool(*module));
    CHECK(again) << again.error().text() << " in\n" << text;
    CHECK(printModule(*again) == text) << text;
    return 0;
}
