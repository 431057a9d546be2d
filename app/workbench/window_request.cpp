// SPDX-License-Identifier: GPL-3.0-or-later
// The options of tenon-workbench: their words, and what they mean.
#include "app/workbench/window_request.h"

#include "core/base/program_files.h"

#include <QFileInfo>

namespace tenon::app {
namespace {

void addOption(QCommandLineParser& parser, const char* name, const char* what,
               const char* value = "")
{
    parser.addOption(
        QCommandLineOption(QLatin1String(name), QLatin1String(what), QLatin1String(value)));
}

void addWork(QCommandLineParser& parser)
{
    addOption(parser, "compile", "compiles the model");
    addOption(parser, "benchmark", "deploys the model to the board and measures it");
    addOption(parser, "compare",
              "compares every tensor that the board computes with the model at level 0");
    addOption(parser, "reference",
              "what --compare compares with: a folder of tensors, or another model", "PATH");
    addOption(parser, "quantize", "quantizes the model with these examples, layer by layer",
              "PATH");
    addOption(parser, "quantized", "the file that --quantize writes", "FILE");
    addOption(parser, "try", "runs the model on a PNG, JPEG or WAV file and shows what it says",
              "FILE");
    addOption(parser, "preprocess", "how --try makes numbers of the file, as tenon run takes it",
              "LINE");
    addOption(parser, "labels", "names of classes for --try, one in each line", "FILE");
}

} // namespace

QString samplePath()
{
    const auto path = QString::fromStdString(core::shippedFile("sample/digits/model.onnx"));
    return QFileInfo::exists(path) ? path : QString();
}

void addOptions(QCommandLineParser& parser)
{
    const auto add = [&](auto... words) { addOption(parser, words...); };
    parser.setApplicationDescription(
        QStringLiteral("Desktop model inspector and compiler workbench."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(
        QStringLiteral("MODEL"),
        QStringLiteral("ONNX model to open; \"sample\" opens the bundled one"));
    add("shape", "NAME=1,3,224,224, DIM=8 or DIM=1..8; repeatable", "BINDING");
    add("board", "board to compile for and measure on", "NAME");
    add("perspective", "inspect, passes, memory, executors, deploy, benchmark, compare or quantize",
        "NAME");
    add("pass", "pass to show", "NAME");
    add("diff", "union, split or after", "NAME");
    add("colour",
        "what cards are coloured by: type, time, macs, bytes, bound, error, of a comparison "
        "cumulative or isolated, of quantizing quantized or sensitivity",
        "NAME");
    parser.addOption(QCommandLineOption(
        QStringLiteral("wrap"),
        QStringLiteral("wraps long chains of the graph into columns, in the shape of the canvas")));
    add("pin", "pass on the left of --diff split", "NAME");
    add("select", "node to select, by name or operator", "NODE");
    add("tab", "members, schedule, tir, llvm or assembly", "NAME");
    add("theme", "light, dark or auto", "NAME");
    add("target", "what to compile for", "STRING");
    add("size", "size of the window, 1600x1000", "WxH");
    add("overlay", "palette, keys, log, options, project, try, target, target-editor or add-board",
        "NAME");
    add("screenshot", "writes a picture of the window and ends", "FILE");
    add("export", "writes the shown graph or page as .svg or .png, or a report as .html, and ends",
        "FILE");
    add("timeout", "seconds after which --screenshot gives up", "N");
    addWork(parser);
}

Request readRequest(const QCommandLineParser& parser)
{
    Request r;
    r.model = parser.positionalArguments().value(0);
    if (r.model == QLatin1String("sample")) r.model = samplePath();
    r.shapes = parser.values(QStringLiteral("shape")).join(QLatin1Char(' '));
    r.board = parser.value(QStringLiteral("board"));
    r.perspective = parser.value(QStringLiteral("perspective"));
    r.pass = parser.value(QStringLiteral("pass"));
    r.node = parser.value(QStringLiteral("select"));
    r.tab = parser.value(QStringLiteral("tab"));
    r.theme = parser.value(QStringLiteral("theme"));
    r.screenshot = parser.value(QStringLiteral("screenshot"));
    r.exported = parser.value(QStringLiteral("export"));
    r.diff = parser.value(QStringLiteral("diff"));
    r.colour = parser.value(QStringLiteral("colour"));
    r.pin = parser.value(QStringLiteral("pin"));
    r.overlay = parser.value(QStringLiteral("overlay"));
    r.shouldCompile = parser.isSet(QStringLiteral("compile"));
    r.shouldBenchmark = parser.isSet(QStringLiteral("benchmark"));
    r.shouldCompare = parser.isSet(QStringLiteral("compare"));
    r.isWrapped = parser.isSet(QStringLiteral("wrap"));
    r.reference = parser.value(QStringLiteral("reference"));
    r.examples = parser.value(QStringLiteral("quantize"));
    r.quantized = parser.value(QStringLiteral("quantized"));
    r.sample = parser.value(QStringLiteral("try"));
    r.preprocessing = parser.value(QStringLiteral("preprocess"));
    r.labels = parser.value(QStringLiteral("labels"));
    const QStringList size = parser.value(QStringLiteral("size")).split(QLatin1Char('x'));
    if (size.size() == 2 && size[0].toInt() > 0 && size[1].toInt() > 0)
        r.size = {size[0].toInt(), size[1].toInt()};
    if (const int timeout = parser.value(QStringLiteral("timeout")).toInt(); timeout > 0)
        r.timeoutSeconds = timeout;
    return r;
}

} // namespace tenon::app
