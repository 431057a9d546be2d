// SPDX-License-Identifier: GPL-3.0-or-later
// Documents made in code for the tests of models, presenters and canvas.
#pragma once

#include "views/presenters/engine.h"

namespace tenon::tests {

/// conv -> batch_norm -> relu, `blocks` times, and three passes: InferType does nothing, Simplify
/// turns each batch_norm into multiply and add, Fuse makes one call of each block.
views::DocumentPtr smallDocument(int blocks);
/// As smallDocument, but a pass before the fusion folds every multiply into its convolution.
views::DocumentPtr foldedDocument(int blocks);
/// image -> If (then: relu, sigmoid; else: tanh) -> add, with the outer value captured in both
/// branches; one version, no passes.
views::DocumentPtr branchingDocument();
/// `count` nodes in a chain with an identity edge around every third; no passes.
views::DocumentPtr largeDocument(int count);
/// Opens smallDocument(2) for any path except "bad"; compiling adds one call per block, measuring
/// adds times; `waits` makes compile run until it is cancelled.
views::Engine fakeEngine(bool waits = false);

} // namespace tenon::tests
