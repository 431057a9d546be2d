// SPDX-License-Identifier: GPL-3.0-or-later
// toggleWrap(): long chains of a page's graph as columns, or as one line again.
#pragma once

#include "views/canvas/graph_canvas.h"

namespace tenon::views {

/// In the shape of the canvas, which shows all of it once the new positions are there.
template <class Presenter>
void toggleWrap(Presenter& presenter, GraphCanvas& canvas)
{
    canvas.fitNextScene();
    presenter.setWrapAspect(presenter.isWrapped() ? 0 : canvas.aspect());
}

} // namespace tenon::views
