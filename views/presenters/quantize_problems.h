// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in the way of quantizing before it begins, as sentences for the form; empty where
// nothing does.
#pragma once

#include "views/models/document.h"
#include "views/models/quantize_rows.h"

#include <QString>

namespace tenon::views {

/// Some of the model computes with integers as it was opened.
bool isQuantized(const Document& document);
/// The examples to calibrate with and to compare on are there.
QString dataProblem(const QuantizeQuestion& draft);
/// The file to write is an ONNX model, can be written, and is not the model itself.
QString outputProblem(const QuantizeQuestion& draft);

} // namespace tenon::views
