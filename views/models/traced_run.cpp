// SPDX-License-Identifier: GPL-3.0-or-later
// Calls with their times, in the order of the program.
#include "views/models/traced_run.h"

namespace tenon::views {

core::TracedRun tracedRun(const Document& document)
{
    const Measurement& measured = *document.measurement;
    core::TracedRun run{.model = document.path.toStdString(),
                        .board = measured.board.toStdString(),
                        .target = document.target.toStdString(),
                        .isEmulated = measured.isEmulated,
                        .medianUs = measured.medianUs};
    for (size_t i = 0; i < document.calls.size() && i < measured.calls.size(); ++i) {
        const KernelCall& call = document.calls[i];
        core::TracedCall traced{.title = call.name.toStdString(),
                                .function = call.kernel.toStdString(),
                                .method = methodText(call).toStdString(),
                                .us = measured.calls[i].medianUs,
                                .boundUs = measured.calls[i].boundUs};
        for (const core::SourceId source : call.sources)
            if (source.value < document.imported.sources().size())
                traced.fromNodes.push_back(document.imported.sources()[source.value].name);
        run.calls.push_back(std::move(traced));
    }
    return run;
}

} // namespace tenon::views
