// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles what is not compiled yet and writes it.
#include "app/workbench/save_model.h"

#include "app/workbench/backing.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/package/package.h"
#include "core/target/target.h"

#include <QCoreApplication>

namespace tenon::app {

core::Result<views::DocumentPtr> saveModel(const EngineOptions& engine,
                                           const views::DocumentPtr& document,
                                           const views::BuildOptions& build, const QString& path,
                                           core::JobContext& job)
{
    auto compiled = compiledFor(engine, document, build, job);
    if (!compiled) return compiled.error();
    const compiler::CompileResult& result = *backingOf(*compiled)->result;
    job.progress(0.95, "writing " + path.toStdString());
    const auto written =
        result.machine.isSource()
            ? compiler::writeCArtifact(result, compiler::CInterface::Packed, path.toStdString())
            : compiler::writeArtifact(result, path.toStdString());
    if (!written) return written.error();
    return compiled;
}

QStringList saveFormats(const QString& target)
{
    const auto words = [](const char* text) { return QCoreApplication::translate("Save", text); };
    const auto parsed = core::parseTarget(target.toStdString());
    if (!parsed) return {};
    const auto machine = compiler::machineSpec(*parsed);
    if (!machine) return {};
    if (machine->isSource()) return {words("C sources (*.tar)")};
    const QString object = words("Object (*.o)"), objects = words("Archive of objects (*.tar)");
    const std::string_view runnable = compiler::runnableSuffix(*machine);
    if (runnable == ".wasm") return {words("WebAssembly module (*.wasm)"), object, objects};
    if (runnable == ".elf") return {words("Program (*.elf)"), object, objects};
    return {words("Shared library (*.so)"), object, objects};
}

} // namespace tenon::app
