// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of a document in full digits, as the command line has them.
#pragma once

#include "views/models/document.h"

namespace tenon::views {

/// A number that the command line gives by the same key.
struct ExactFact
{
    const char* key; ///< of `inspect --json` and `compile --json`
    QString label;   ///< says what is counted
    qint64 value = 0;
};
/// Of the model, and, when it is compiled, of its program.
std::vector<ExactFact> exactFacts(const Document& document);
/// A fact to a line, in full digits.
QString exactFactsText(const Document& document);
} // namespace tenon::views
