// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles what is not compiled yet and writes it.
#include "app/engine/save_model.h"

#include "app/engine/backing.h"
#include "compiler/codegen/back_end.h"
#include "compiler/frontend/shape_option.h"
#include "compiler/quantize/convert_model.h"
#include "core/target/target.h"

#include <QCoreApplication>

namespace tenon::app {
namespace {

/// A line of the file dialog.
QString words(compiler::OutputFormat format, bool holdsSource)
{
    using compiler::OutputFormat;
    const auto translated = [](const char* text) {
        return QCoreApplication::translate("Save", text);
    };
    switch (format) {
    case OutputFormat::SharedLibrary: return translated("Shared library (*.so)");
    case OutputFormat::Object: return translated("Object (*.o)");
    case OutputFormat::Tar:
        return holdsSource ? translated("C sources (*.tar)")
                           : translated("Archive of objects (*.tar)");
    case OutputFormat::ModelLibrary: return translated("Model Library Format (*.mlf.tar)");
    case OutputFormat::WasmModule: return translated("WebAssembly module (*.wasm)");
    case OutputFormat::Program: return translated("Program (*.elf)");
    case OutputFormat::Folder: break;
    }
    return {};
}

/// The model as it was opened, with the sizes that were bound then.
core::Status writeOnnx(const views::DocumentPtr& document, const views::BuildOptions& build,
                       const QString& path)
{
    compiler::ImportOptions bindings;
    if (core::Status read = compiler::readShapeOptions(build.shapes.toStdString(), bindings); !read)
        return read;
    const auto written =
        compiler::convertToOnnx(document->path.toStdString(), bindings, path.toStdString());
    return written ? core::kDone : core::Status(written.error());
}

} // namespace

core::Result<views::DocumentPtr> saveModel(const EngineOptions& engine,
                                           const views::DocumentPtr& document,
                                           const views::BuildOptions& build, const QString& path,
                                           core::JobContext& job)
{
    if (path.endsWith(QLatin1String(".onnx"))) {
        if (core::Status written = writeOnnx(document, build, path); !written)
            return written.error();
        return document;
    }
    auto compiled = compiledFor(engine, document, build, job);
    if (!compiled) return compiled.error();
    const compiler::CompileResult& result = *backingOf(*compiled)->result;
    job.progress(0.95, "writing " + path.toStdString());
    const auto written =
        compiler::writeProgram(result, compiler::CInterface::Packed, path.toStdString());
    if (!written) return written.error();
    return compiled;
}

QStringList saveFormats(const QString& target)
{
    const auto parsed = core::parseTarget(target.toStdString());
    const compiler::BackEnd* backEnd = parsed ? compiler::findBackEnd(*parsed) : nullptr;
    QStringList formats;
    if (!backEnd) return formats;
    for (const compiler::ArtifactForm& form : backEnd->forms)
        if (form.format != compiler::OutputFormat::Folder)
            formats.append(words(form.format, backEnd->sources != nullptr));
    formats.append(QCoreApplication::translate("Save", "The model as ONNX (*.onnx)"));
    return formats;
}

} // namespace tenon::app
