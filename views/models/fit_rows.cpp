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
    return new FitModel({{QObject::tr("Part"), [](const FitRow& row) { return row.part; }},
                         bytesColumn(QObject::tr("Flash [B]"), &FitRow::flashBytes),
                         bytesColumn(QObject::tr("RAM [B]"), &FitRow::ramBytes),
                         {QObject::tr("What"), [](const FitRow& row) { return row.what; }},
                         {QObject::tr("Note"), [](const FitRow& row) { return row.note; }}},
                        parent);
}

} // namespace tenon::views
