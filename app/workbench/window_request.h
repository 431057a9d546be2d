// SPDX-License-Identifier: GPL-3.0-or-later
// Request: what the options of tenon-workbench ask of the window.
#pragma once

#include <QCommandLineParser>
#include <QSize>
#include <QString>

namespace tenon::app {

struct Request
{
    QString model, shapes, board, perspective, pass, diff, pin, node, tab, theme, screenshot,
        exported, overlay, colour, reference, examples, quantized, sample, preprocessing, labels;
    QSize size{1600, 1000};
    bool shouldCompile = false;
    bool shouldBenchmark = false;
    bool shouldCompare = false;
    bool isWrapped = false;
    int timeoutSeconds = 120;
};

/// The bundled model; empty where it is missing.
QString samplePath();

void addOptions(QCommandLineParser& parser);

/// Of a parser that has read the arguments; sizes and times that are none keep their defaults.
Request readRequest(const QCommandLineParser& parser);

} // namespace tenon::app
