// SPDX-License-Identifier: Apache-2.0
// The manual's page on imported ONNX operators.
#pragma once

#include <string>

namespace tenon::test {

/// Markdown: operator x opset x element types x tested by, from the converter table, trial imports
/// and the lists of test cases.
std::string onnxManual();

} // namespace tenon::test
