// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds, processors, features and figures out of the compiler's tables.
#include "app/engine/target_choices.h"

#include "app/engine/qt_text.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/driver/machine_facts.h"
#include "core/base/text.h"
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

/// In the unit of the table's row: sizes of caches are given in bytes.
double inItsUnit(const core::NamedFigure& figure, double given)
{
    return figure.unit == "KiB" ? given / 1024 : given;
}

} // namespace

QStringList targetKinds()
{
    QStringList kinds;
    for (const core::TargetKind& kind : core::allTargetKinds())
        if (kind.state == core::KindState::Generates) kinds << text(kind.name);
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

views::TargetFigures targetFigures(const QString& target)
{
    const auto parsed = core::parseTarget(target.toStdString());
    if (!parsed) return {};
    const auto machine = compiler::machineSpec(*parsed);
    if (!machine) return {};
    const auto known = compiler::machineFacts(*parsed, *machine);
    if (!known) return {};
    const core::Machine& row = *known->choice.machine;
    views::TargetFigures out{text(row.title), {}, {}};
    for (const core::Diagnostic& remark : known->remarks)
        out.remark = QString::fromStdString(remark.message);
    for (const core::NamedFigure& each : core::figuresOf(row)) {
        double value = each.figure.value;
        QString source = text(each.figure.source);
        for (const auto& [name, given] : known->given)
            if (name == each.name)
                value = inItsUnit(each, given), source = QStringLiteral("-machine");
        const bool isNone = value == 0; // a cache that is not there
        out.rows.push_back(
            {text(each.name),
             isNone ? QObject::tr("none") : QString::fromStdString(core::exact(value)),
             isNone ? QString() : text(each.unit), source});
    }
    return out;
}

} // namespace tenon::app
