// SPDX-License-Identifier: Apache-2.0
// The manifest of an artifact: any text parses or is refused; what parses writes back the same.
#include "core/artifact/manifest.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace tenon::core;
    const auto manifest = parseManifest(fuzzText(data, size));
    if (!manifest) return 0;
    const std::string text = writeManifest(*manifest);
    const auto again = parseManifest(text);
    CHECK(again) << again.error().text() << " in\n" << text;
    CHECK(writeManifest(*again) == text) << text;
    return 0;
}
