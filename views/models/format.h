// SPDX-License-Identifier: GPL-3.0-or-later
// Every number, size, duration and shape that the window shows is written here.
#pragma once

#include "core/ir/type.h"

#include <QString>

namespace tenon::views {

/// 1234567 -> "1,234,567".
QString countText(qint64 value);
/// "1 node", "3 nodes"; the plural is formed with s.
QString countOf(qint64 value, const QString& noun);
/// 1530000 -> "1.53 M"; below 10,000 the plain number.
QString shortCountText(double value);
/// "17 B", "294 KiB", "4.59 MiB": three significant digits.
QString byteText(qint64 bytes);
/// With sign and the true minus, for differences: "+2.00 KiB", "−441 KiB", "0".
QString byteDifferenceText(qint64 bytes);
/// "312 ns", "12.4 µs", "1.02 ms", "3.10 s": three significant digits.
QString durationText(double microseconds);
/// What a run costs: time in microseconds, or thousands of instructions where an emulated
/// microcontroller counts them.
enum class CostUnit
{
    Time,
    Instructions
};
/// "1.02 ms", "4.95 M instr.": for a cell.
QString costText(double cost, CostUnit unit);
/// "1.02 ms", "4,951,234 instructions": for a sentence.
QString fullCostText(double cost, CostUnit unit);
/// "Time", "Instr.": over a column of them.
QString costTitle(CostUnit unit);
/// "µs", "k instr.": what the cells of a column are numbers of.
QString costUnitText(CostUnit unit);
/// A relative error as the command line writes it: "1.4e-06".
QString errorText(double error);
/// "1×64×56×56"; "scalar" for rank 0; symbols by name; "unknown type" after an operator that the
/// importer does not know.
QString shapeLabel(const core::TensorType& type);
/// "float32 [1, 64, 56, 56]", or "unknown type".
QString typeText(const core::TensorType& type);
/// "3 → 1".
QString arrowText(qint64 before, qint64 after);
/// "resnet.onnx"; with its folder where the file is called model.onnx, as in many collections.
QString modelName(const QString& path);
/// The first digits of a hash, which has no place to break a line at: "3f56e9a654a8dbec…".
QString shortDigest(const QString& digest);
/// Keeps the beginning and the end of a long name: "features.…conv.0".
QString shortenedMiddle(const QString& text, int length);

} // namespace tenon::views
