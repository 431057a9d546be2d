// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a target string that a form has fields for.
#pragma once

#include <QString>
#include <QStringList>

namespace tenon::views {

/// As they stand in the string; empty: not given.
struct TargetParts
{
    QString kind;     ///< "llvm"
    QString triple;   ///< -mtriple
    QString cpu;      ///< -mcpu
    QString features; ///< -mattr: "+dotprod,-neon"
    QString abi;      ///< -mfloat-abi or, where the kind takes that, -mabi
    QString cores;    ///< -num-cores
    friend bool operator==(const TargetParts&, const TargetParts&) = default;
};

/// What stands in a raw target string: words with options, quoted where they have spaces. A tag or
/// JSON has a kind only.
TargetParts targetPartsOf(const QString& text);
/// The string with these parts; its other options stay, in their order.
QString withTargetParts(const QString& text, const TargetParts& parts);

/// What LLVM knows for a triple.
struct TargetNames
{
    QStringList cpus;
    QStringList features;
};

} // namespace tenon::views
