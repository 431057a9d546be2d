// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite bytes: any bytes give a model, a model with diagnostics, or an error; never a
// crash.
#include "compiler/frontend/tflite/load_tflite.h"
#include "core/ir/graph_text.h"
#include "tests/fuzz/fuzz.h"

#include <memory>
#include <span>
#include <string>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace tenon;
    const auto bytes = std::make_shared<const std::string>(fuzzText(data, size));
    const auto loaded =
        compiler::loadTfliteBytes(std::as_bytes(std::span(*bytes)), bytes, "fuzz.tflite", {});
    if (loaded) core::printModule(loaded->module, {.hashes = false});
    return 0;
}
