// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the form; what its fields mean is the presenter's.
#include "views/pages/quantize/quantize_form.h"

#include "views/pages/common/field_text.h"

#include <QFileInfo>
#include <QSignalBlocker>

namespace tenon::views {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

namespace {

const QStringList& methods()
{
    static const QStringList kNames{QStringLiteral("minmax"), QStringLiteral("percentile"),
                                    QStringLiteral("entropy"), QStringLiteral("mse")};
    return kNames;
}

const QStringList& types()
{
    static const QStringList kNames{QStringLiteral("int8"), QStringLiteral("uint8"),
                                    QStringLiteral("int16")};
    return kNames;
}

const QStringList& widerNames()
{
    static const QStringList kNames{QStringLiteral("float"), QStringLiteral("int16")};
    return kNames;
}

} // namespace

QuantizeForm::QuantizeForm(const ThemeSource& themes, QuantizePresenter& presenter,
                           const PageHost& host)
    : Panel(themes, tr("How to quantize"))
    , m_presenter(presenter)
    , m_host(host)
    , m_grid(new QGridLayout)
    , m_place(new ThemedLabel(themes, Role::Body))
    , m_data(new QLineEdit)
    , m_evaluation(new QLineEdit)
    , m_output(new QLineEdit)
    , m_loss(new QLineEdit)
    , m_flash(new QLineEdit)
    , m_time(new QLineEdit)
    , m_command(new ThemedLabel(themes, Role::Code))
    , m_replaces(makeSentence(themes, Role::Secondary))
    , m_problem(makeSentence(themes, Role::Error))
    , m_start(new PillButton(themes, Look::Plain, tr("Quantize")))
    , m_stop(new PillButton(themes, Look::Plain, tr("Cancel")))
    , m_open(new PillButton(themes, Look::Plain, tr("Open the new model")))
{
    setMinimumWidth(340); // its two buttons side by side
    content()->setSpacing(4);
    m_grid->setHorizontalSpacing(8);
    m_grid->setVerticalSpacing(5);
    m_grid->setColumnStretch(1, 1);
    m_data->setPlaceholderText(tr("folder of .npy, .npz or .pb files"));
    m_evaluation->setPlaceholderText(tr("the same examples"));
    m_evaluation->setToolTip(tr("Other examples to compare the new model on; it is said when those "
                                "to calibrate with do not represent them"));
    addTitle(tr("calibrated with the examples of"));
    addPath(*m_data, tr("Examples to calibrate with"), true);
    addTitle(tr("compared on those of"));
    addPath(*m_evaluation, tr("Examples to compare on"), true);
    addTitle(tr("ranges of the values by"));
    content()->addLayout(m_grid);
    addChoices();
    addLimits();
    addTitle(tr("runs on"));
    m_place->setElision(Elision::Content);
    content()->addWidget(m_place);
    addTitle(tr("file to write"));
    addPath(*m_output, tr("Quantized model"), true);
    content()->addWidget(m_replaces);
    content()->addSpacing(4);
    content()->addWidget(m_problem);
    content()->addLayout(buildButtons());
    addTitle(tr("the same on the command line"));
    m_command->setWordWrap(true);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    content()->addWidget(m_command);
    content()->addStretch(1);
    connectForm();
    refresh();
}

void QuantizeForm::addTitle(const QString& text)
{
    content()->addSpacing(3);
    content()->addWidget(new ThemedLabel(themes(), Role::Secondary, text));
}

void QuantizeForm::addRow(const QString& label, QWidget* part)
{
    constexpr int kRowHeight = 26; // of a pill
    part->setMinimumHeight(kRowHeight);
    const int row = m_grid->rowCount();
    if (label.isEmpty()) { // needs the whole width
        m_grid->addWidget(part, row, 0, 1, 2);
        return;
    }
    m_grid->addWidget(new ThemedLabel(themes(), Role::Secondary, label), row, 0,
                      Qt::AlignLeft | Qt::AlignVCenter);
    m_grid->addWidget(part, row, 1);
    if (part->accessibleName().isEmpty()) part->setAccessibleName(label);
}

/// A field with a button that asks for what belongs into it. A file that is not there yet lies in a
/// folder that is.
void QuantizeForm::addPath(QLineEdit& field, const QString& title, bool isFolder)
{
    auto* choose = new PillButton(themes(), Look::Plain, tr("Choose…"));
    choose->setAccessibleName(title);
    if (field.accessibleName().isEmpty()) field.setAccessibleName(title);
    field.setAcceptDrops(false); // the window takes what is dropped as a path
    auto* row = new QHBoxLayout;
    row->addWidget(&field, 1);
    row->addWidget(choose);
    content()->addLayout(row);
    connect(choose, &QPushButton::clicked, this, [this, &field, title, isFolder] {
        const QFileInfo shown(field.text());
        const QString beside = QFileInfo(m_presenter.workspace().state().path).path();
        const bool isOutput = &field == m_output;
        const QString start = field.text().isEmpty() ? beside
                              : isOutput             ? shown.path()
                                                     : field.text();
        m_host.askForPath({title, start, isFolder}, [&field, shown, isOutput](const QString& path) {
            field.setText(isOutput ? path + QLatin1Char('/') + shown.fileName() : path);
        });
    });
}

PillTabs* QuantizeForm::addTabs(const QStringList& texts, const QString& label, const QString& tip)
{
    auto* tabs = new PillTabs(themes(), PillTabs::Size::Small);
    tabs->setTight(true);
    for (const QString& text : texts) tabs->addTab(text);
    tabs->setAccessibleName(label);
    tabs->setToolTip(tip);
    addRow(label, tabs);
    return tabs;
}

void QuantizeForm::addChoices()
{
    m_method = addTabs(methods(), {}, tr("How ranges follow from the values seen"));
    m_method->setAccessibleName(tr("how ranges follow from the values"));
    m_activations = addTabs(types(), tr("data"));
    m_weights = addTabs({tr("per channel"), tr("per tensor")}, tr("weights"),
                        tr("Scales of weights: one per output channel of a layer, or one"));
    m_channels = addTabs({tr("no"), tr("yes")}, tr("equalize"),
                         tr("Channels are scaled between consecutive layers so that their weights "
                            "fill the integers alike; the model computes the same. Helps where one "
                            "scale serves all weights of a layer"));
    m_ends = addTabs({tr("floats"), tr("integers")}, tr("in and out"),
                     tr("Integers: the model takes and gives what its integers are, as programs of "
                        "microcontrollers have it"));
    m_sensitivity = addTabs({tr("measured"), tr("left out")}, tr("sensitivity"),
                            tr("Measured: every layer alone in 8 and 16 bits, and the curve of "
                               "error against size and time. It compiles the model a few times for "
                               "every layer"));
}

void QuantizeForm::addLimits()
{
    m_wider = addTabs(widerNames(), tr("wider"),
                      tr("What the layers get that cost the outputs most, as many as the limits "
                         "below ask for, or as you choose on the curve"));
    m_loss->setPlaceholderText(tr("no limit"));
    m_loss->setToolTip(tr("Root mean square error of every output in percent of the output: as few "
                          "layers as need be are wider until that is met"));
    m_flash->setPlaceholderText(tr("no limit"));
    m_flash->setToolTip(tr("Flash of the compiled model: as many layers are wider as that has room "
                           "for"));
    addRow(tr("loss, %"), m_loss);
    addRow(tr("flash, KiB"), m_flash);
    m_time->setToolTip(tr("Time of a run in microseconds, or instructions on an emulated "
                          "microcontroller: as many layers are wider as that has room for"));
    addRow(tr("time"), m_time);
}

void QuantizeForm::connectForm()
{
    using P = QuantizePresenter;
    connect(m_data, &QLineEdit::textChanged, &m_presenter, &P::setData);
    connect(m_evaluation, &QLineEdit::textChanged, &m_presenter, &P::setEvaluation);
    connect(m_output, &QLineEdit::textChanged, &m_presenter, &P::setOutput);
    connect(m_loss, &QLineEdit::textChanged, &m_presenter, &P::setLargestLoss);
    connect(m_flash, &QLineEdit::textChanged, &m_presenter, &P::setLargestFlash);
    connect(m_time, &QLineEdit::textChanged, &m_presenter, &P::setLargestTime);
    const auto onTab = [this](PillTabs* tabs, const auto& take) {
        connect(tabs, &QTabBar::currentChanged, this, take);
    };
    onTab(m_method, [this](int tab) { m_presenter.setMethod(methods().value(tab)); });
    onTab(m_activations, [this](int tab) { m_presenter.setActivations(types().value(tab)); });
    onTab(m_weights, [this](int tab) { m_presenter.setPerChannel(tab == 0); });
    onTab(m_channels, [this](int tab) { m_presenter.setEqualizes(tab == 1); });
    onTab(m_ends, [this](int tab) { m_presenter.setIntegerEnds(tab == 1); });
    onTab(m_sensitivity, [this](int tab) { m_presenter.setMeasuresSensitivity(tab == 0); });
    onTab(m_wider, [this](int tab) { m_presenter.setWider(widerNames().value(tab)); });
    connect(&m_presenter, &P::stateChanged, this, &QuantizeForm::refresh);
}

QLayout* QuantizeForm::buildButtons()
{
    auto* row = new QHBoxLayout;
    for (PillButton* button : {m_start, m_stop, m_open}) row->addWidget(button);
    row->addStretch(1);
    m_stop->setToolTip(tr("Shift+F5"));
    connect(m_start, &QPushButton::clicked, &m_presenter, &QuantizePresenter::quantize);
    connect(m_stop, &QPushButton::clicked, &m_presenter, &QuantizePresenter::cancel);
    connect(m_open, &QPushButton::clicked, this, [this] {
        m_presenter.openResult();
        m_host.showModel();
    });
    return row;
}

void QuantizeForm::refresh()
{
    const QuantizeState& state = m_presenter.state();
    showText(*m_data, state.draft.data);
    showText(*m_evaluation, state.draft.evaluation);
    showText(*m_output, state.draft.output);
    m_place->setText(state.place);
    m_command->setText(state.commandLine);
    m_problem->setText(state.problem);
    m_problem->setVisible(!state.problem.isEmpty() && !state.isRunning);
    m_replaces->setText(tr("There is such a file; it will be replaced."));
    m_replaces->setVisible(state.replaces && !state.isRunning);
    m_time->setPlaceholderText(state.countsInstructions ? tr("no limit, instructions")
                                                        : tr("no limit, µs"));
    m_start->setText(state.isByHand ? tr("Quantize as chosen") : tr("Quantize"));
    m_start->updateGeometry();
    m_start->setVisible(state.hasResult && !state.isRunning);
    m_start->setEnabled(state.canStart);
    m_stop->setVisible(state.isRunning);
    m_open->setVisible(!state.written.isEmpty() && !state.isRunning);
}

} // namespace tenon::views
