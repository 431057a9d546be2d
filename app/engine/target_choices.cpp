// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds, processors and features out of the compiler's tables.
#include "app/engine/target_choices.h"

#include "compiler/codegen/llvm/target_machine.h"
#include "core/target/target_kind.h"
#include "remote/board/unused_features.h"

namespace tenon::app {

namespace {

QStringList texts(const std::vector<std::string>& names)
{
    QStringList out;
    for (const std::string& name : names) out << QString::fromStdString(name);
    return out;
}

} // namespace

QStringList targetKinds()
{
    QStringList kinds;
    for (const core::TargetKind& kind : core::allTargetKinds())
        if (kind.state == core::KindState::Generates)
            kinds << QString::fromUtf8(kind.name.data(), static_cast<qsizetype>(kind.name.size()));
    return kinds;
}

views::TargetNames targetNames(const QString& triple)
{
    const auto tables = compiler::cpuTables(triple.toStdString());
    if (!tables) return {}; // an unknown triple has no names; the string says what is wrong with it
    views::TargetNames names{texts(tables->cpus), texts(tables->features)};
    names.cpus.prepend(QStringLiteral("native"));
    return names;
}

QStringList unusedFeatures(const QString& target, const QString& boardTarget)
{
    const auto unused = remote::unusedFeatures(target.toStdString(), boardTarget.toStdString());
    return unused ? texts(*unused) : QStringList();
}

} // namespace tenon::app
