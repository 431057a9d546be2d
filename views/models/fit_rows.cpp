// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the table that says why.
#include "views/models/fit_rows.h"

#include "views/models/format.h"

#include <QObject>

namespace tenon::views {

namespace {

TableColumn<FitRow> bytesColumn(const QString& title, qint64 FitRow::*bytes)
{
    return {title,
            [bytes](const FitRow& row) {
                return row.*bytes == FitRow::kUnknown ? QString() : countText(row.*bytes);
            },
            true,
            {},
            [bytes](const FitRow& row) {
                return row.*bytes == FitRow::kUnknown ? QVariant() : QVariant(row.*bytes);
            },
            QStringLiteral("B")};
}

} // namespace

FitModel* makeFitModel(QObject* parent)
{
    return new FitModel({{QObject::tr("part"), [](const FitRow& row) { return row.part; }},
                         bytesColumn(QObject::tr("flash"), &FitRow::flashBytes),
                         bytesColumn(QObject::tr("RAM"), &FitRow::ramBytes),
                         {QObject::tr("what"), [](const FitRow& row) { return row.what; }},
                         {QObject::tr("note"), [](const FitRow& row) { return row.note; }}},
                        parent);
}

} // namespace tenon::views
