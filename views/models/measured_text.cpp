// SPDX-License-Identifier: GPL-3.0-or-later
// Times have a spread; instructions that were counted have none.
#include "views/models/measured_text.h"

#include "views/models/format.h"

#include <QCoreApplication>
#include <QStringList>

namespace tenon::views {

namespace {

QString words(const char* text) { return QCoreApplication::translate("measured", text); }

QString countedText(const Document& document)
{
    const Measurement& m = *document.measurement;
    const QString count = fullCostText(m.medianUs, m.unit);
    double macs = 0;
    for (const KernelCall& call : document.calls) macs += static_cast<double>(call.macs);
    if (macs <= 0) return count;
    return words("%1, %2 per multiply-add").arg(count).arg(m.medianUs * 1000 / macs, 0, 'f', 2);
}

} // namespace

QString measuredText(const Document& document)
{
    const Measurement& m = *document.measurement;
    if (m.unit == CostUnit::Instructions) return countedText(document);
    const QString text = words("%1 ± %2, n = %3")
                             .arg(durationText(m.medianUs), durationText(m.halfUs()))
                             .arg(m.runs);
    return m.isEmulated ? text + words(", emulated") : text;
}

QString placeText(const Measurement& m)
{
    return m.isEmulated ? words("an emulated %1").arg(m.board) : m.board;
}

QString takenText(const Measurement& m)
{
    if (m.unit == CostUnit::Instructions) return words("counted on %1").arg(placeText(m));
    return words("measured on %1, %2").arg(placeText(m), countOf(m.threads, words("thread")));
}

QString spreadText(const Measurement& m)
{
    double callsUs = 0;
    for (const CallTime& call : m.calls) callsUs += call.medianUs;
    QStringList parts;
    if (m.unit == CostUnit::Instructions)
        parts << words("every run takes as many; silicon takes a cycle or more of each");
    else
        parts << words("95 % confidence interval of the median %1 to %2")
                     .arg(durationText(m.lowUs), durationText(m.highUs))
              << words("p95 %1").arg(durationText(m.p95Us));
    if (callsUs > 0) parts << words("calls together %1").arg(fullCostText(callsUs, m.unit));
    return parts.join(QStringLiteral(" · "));
}

} // namespace tenon::views
