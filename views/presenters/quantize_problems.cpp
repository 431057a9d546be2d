// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are missing, in the way, or of another kind.
#include "views/presenters/quantize_problems.h"

#include <QFileInfo>
#include <QObject>

#include <algorithm>

namespace tenon::views {
namespace {

/// QFileInfo takes any two files that do not exist for the same one.
bool isSameFile(const QFileInfo& one, const QFileInfo& other)
{
    return one.exists() ? one == other : one.absoluteFilePath() == other.absoluteFilePath();
}

} // namespace

bool isQuantized(const Document& document)
{
    if (!document.imported.mainId().isValid()) return false;
    const auto& order = document.imported.main().order;
    return std::any_of(order.begin(), order.end(), [&](core::NodeId id) {
        return document.imported.node(id).op.starts_with("qnn.");
    });
}

QString dataProblem(const QuantizeQuestion& draft)
{
    const auto isMissing = [](const QString& path) { return !QFileInfo::exists(path); };
    const auto missing = [](const QString& path) {
        return QObject::tr("there is no file or folder %1").arg(path);
    };
    if (draft.data.isEmpty()) return QObject::tr("choose examples to calibrate with");
    if (isMissing(draft.data)) return missing(draft.data);
    if (!draft.evaluation.isEmpty() && isMissing(draft.evaluation))
        return missing(draft.evaluation);
    return {};
}

QString outputProblem(const QuantizeQuestion& draft)
{
    if (draft.output.isEmpty()) return QObject::tr("name the file to write");
    const QFileInfo output(draft.output);
    if (isSameFile(output, QFileInfo(draft.model)))
        return QObject::tr("the file to write is the model itself; name another");
    if (output.suffix() != QLatin1String("onnx"))
        return QObject::tr("the file to write is an ONNX model: end its name in .onnx");
    const QFileInfo folder(output.path());
    if (!folder.isDir()) return QObject::tr("there is no folder %1").arg(folder.filePath());
    if (output.exists() ? !output.isFile() || !output.isWritable() : !folder.isWritable())
        return QObject::tr("%1 cannot be written").arg(draft.output);
    return {};
}

} // namespace tenon::views
