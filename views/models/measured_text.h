// SPDX-License-Identifier: GPL-3.0-or-later
// What was measured, in sentences.
#pragma once

#include "views/models/document.h"

namespace tenon::views {

/// "3.51 ms ± 0.02 ms, n = 40, emulated", "4,951,234 instructions, 1.87 per multiply-add"; of a
/// document with a measurement.
QString measuredText(const Document& document);
/// "rpi4 (Raspberry Pi 4)", "an emulated cortex-m4 on this computer".
QString placeText(const Measurement& measurement);
/// "measured on this computer, 2 threads", "counted on an emulated mps2-an386".
QString takenText(const Measurement& measurement);
/// "95 % confidence interval of the median 3.50 ms to 3.52 ms · p95 3.6 ms · calls together 3.4
/// ms".
QString spreadText(const Measurement& measurement);

} // namespace tenon::views
