// SPDX-License-Identifier: GPL-3.0-or-later
// What stands on cards, and what they are coloured by.
#pragma once

#include "views/models/document.h"

#include <QString>

#include <vector>

namespace tenon::views {

enum class CardFigure : uint8_t
{
    Time,  ///< measured; where nothing is, the error
    Error, ///< expected by rounding
    Macs,
    Bytes, ///< read and written
    Bound, ///< share of the least time that the computer allows
    // In decibels, of a comparison with a reference.
    CumulativeError, ///< with everything before it as the device computed it
    IsolatedError,   ///< of a kernel on the reference's inputs
    // In decibels, of quantizing.
    QuantizedError, ///< with everything before it quantized, too
    Sensitivity     ///< of the outputs when the layer alone is quantized
};

/// In decibels: the less, the worse.
constexpr bool isCompared(CardFigure figure) { return figure >= CardFigure::CumulativeError; }
constexpr bool isOfQuantizing(CardFigure figure) { return figure >= CardFigure::QuantizedError; }

struct CardLooks
{
    CardLooks(CardFigure shown = CardFigure::Time, bool colours = false)
        : figure(shown)
        , isColoured(colours)
    {
    }
    CardFigure figure;
    bool isColoured;        ///< by the figure; else by the family of operators
    bool hasLegend = false; ///< also of the families: someone asked what the colours mean

    friend bool operator==(const CardLooks&, const CardLooks&) = default;
};

/// True where there is more than one figure to choose from without colours.
bool canChooseFigure(const Document& document);
/// Times and errors in turns.
CardLooks withOtherFigure(const Document& document, CardLooks looks);
/// What cards can be coloured by, the type first.
std::vector<CardLooks> colourings(const Document& document);
CardLooks nextColouring(const Document& document, CardLooks looks);
/// "type", "time", ...
QString colouringText(CardLooks looks, CostUnit unit = CostUnit::Time);
/// "1.20 ms", "error 3.1e-06", "12.4 M", "1.2 MiB", "45 %", "98.2 dB".
QString figureText(CardFigure figure, double value, CostUnit unit = CostUnit::Time);

} // namespace tenon::views
