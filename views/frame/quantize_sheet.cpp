// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the form and the table; what they mean is the presenter's.
#include "views/frame/quantize_sheet.h"

#include <QDir>
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

void showText(QLineEdit& field, const QString& text)
{
    if (field.hasFocus() || field.text() == text) return; // not under the fingers
    const QSignalBlocker blocker(field);
    field.setText(text);
}

} // namespace

QuantizeSheet::QuantizeSheet(const ThemeSource& themes, WorkspacePresenter& workspace,
                             AskForFile askForFile, QWidget* window)
    : Overlay(themes, window, {900, 640})
    , m_quantization(workspace)
    , m_askForFile(std::move(askForFile))
    , m_grid(new QGridLayout)
{
    panel().setTitle(tr("Quantize"));
    panel().setCaption(tr("Esc closes"));
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(8);
    m_grid->setColumnStretch(1, 1);
    makeFields();
    layOutForm();
    connectForm();
    m_command = new ThemedLabel(themes, Role::Code);
    m_command->setWordWrap(true);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_problem = new ThemedLabel(themes, Role::Secondary);
    m_warnings = new ThemedLabel(themes, Role::Body);
    m_warnings->setWordWrap(true);
    m_warnings->setAccessibleName(tr("Warnings"));
    m_summary = new ThemedLabel(themes, Role::Secondary);
    m_summary->setWordWrap(true);
    m_tensors = new DataTable(themes, &m_quantization.tensors());
    m_tensors->setAccessibleName(tr("Rounded tensors, the worst first"));
    m_tensors->setColumnWidths({150, 80, 120, 150, 60, 90, 60, 0});
    m_tensors->delegate().setBarColumn(0, 52);
    panel().content()->addLayout(m_grid);
    panel().content()->addWidget(m_command);
    panel().content()->addWidget(m_problem);
    panel().content()->addWidget(m_summary);
    panel().content()->addWidget(m_warnings);
    panel().content()->addWidget(m_tensors, 1);
    panel().content()->addLayout(buildButtons());
    connect(&m_quantization, &QuantizePresenter::stateChanged, this, &QuantizeSheet::refresh);
    refresh();
}

void QuantizeSheet::addRow(const QString& label, QWidget* part)
{
    const int row = m_grid->rowCount();
    m_grid->addWidget(new ThemedLabel(themes(), Role::Secondary, label), row, 0,
                      Qt::AlignLeft | Qt::AlignVCenter);
    m_grid->addWidget(part, row, 1);
    if (part->accessibleName().isEmpty()) part->setAccessibleName(label);
}

/// A field with a button that asks for what belongs into it.
QWidget* QuantizeSheet::pathRow(QLineEdit& field, const FileQuestion& question)
{
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* choose = new PillButton(themes(), Look::Plain, tr("Choose…"));
    choose->setAccessibleName(question.title);
    layout->addWidget(&field, 1);
    layout->addWidget(choose);
    connect(choose, &QPushButton::clicked, this, [this, &field, question] {
        FileQuestion asked = question;
        asked.start = field.text().isEmpty() ? QDir::homePath() : field.text();
        m_askForFile(this, asked, [&field](const QString& path) { field.setText(path); });
    });
    return row;
}

PillTabs* QuantizeSheet::tabs(const QStringList& texts, const QString& name)
{
    auto* tabs = new PillTabs(themes(), PillTabs::Size::Small);
    for (const QString& text : texts) tabs->addTab(text);
    tabs->setAccessibleName(name);
    return tabs;
}

void QuantizeSheet::makeFields()
{
    m_data = new QLineEdit;
    m_data->setPlaceholderText(tr("folder of .npy, .npz or .pb examples, or of folders of them"));
    m_data->setAccessibleName(tr("examples"));
    m_evaluation = new QLineEdit;
    m_evaluation->setPlaceholderText(tr("the same examples"));
    m_evaluation->setToolTip(tr("Other examples to compare the new model on; it is said when those "
                                "to calibrate with do not represent them"));
    m_evaluation->setAccessibleName(tr("compared on"));
    m_output = new QLineEdit;
    m_output->setAccessibleName(tr("file to write"));
    m_method = tabs(methods(), tr("method"));
    m_activations = tabs(types(), tr("activations"));
    m_weights = tabs({tr("per channel"), tr("per tensor")}, tr("scales of weights"));
    m_channels = tabs({tr("as they are"), tr("equalized")}, tr("channels of layers"));
    m_channels->setToolTip(tr("Equalized: scaled between consecutive layers so that their weights "
                              "fill the integers alike; the model computes the same. Helps where "
                              "one scale serves all weights of a layer"));
    m_loss = new QLineEdit;
    m_loss->setPlaceholderText(tr("no limit"));
    m_loss->setToolTip(tr("Root mean square error of every output in percent of the output: the "
                          "most harmful layers stay in float until that is met"));
}

void QuantizeSheet::layOutForm()
{
    addRow(
        tr("examples"),
        pathRow(*m_data, {FileQuestion::Kind::Folder, tr("Examples to calibrate with"), {}, {}}));
    addRow(
        tr("compared on"),
        pathRow(*m_evaluation, {FileQuestion::Kind::Folder, tr("Examples to compare on"), {}, {}}));
    addRow(tr("method"), m_method);
    addRow(tr("activations"), m_activations);
    addRow(tr("scales of weights"), m_weights);
    addRow(tr("channels of layers"), m_channels);
    addRow(tr("largest loss in %"), m_loss);
    addRow(tr("file to write"), pathRow(*m_output, {FileQuestion::Kind::Save,
                                                    tr("Quantized model"),
                                                    {},
                                                    {tr("ONNX models (*.onnx)")}}));
}

void QuantizeSheet::connectForm()
{
    connect(m_data, &QLineEdit::textChanged, &m_quantization, &QuantizePresenter::setData);
    connect(m_evaluation, &QLineEdit::textChanged, &m_quantization,
            &QuantizePresenter::setEvaluation);
    connect(m_output, &QLineEdit::textChanged, &m_quantization, &QuantizePresenter::setOutput);
    connect(m_loss, &QLineEdit::textChanged, &m_quantization, &QuantizePresenter::setLargestLoss);
    connect(m_method, &QTabBar::currentChanged, this,
            [this](int index) { m_quantization.setMethod(methods().value(index)); });
    connect(m_activations, &QTabBar::currentChanged, this,
            [this](int index) { m_quantization.setActivations(types().value(index)); });
    connect(m_weights, &QTabBar::currentChanged, this,
            [this](int index) { m_quantization.setPerChannel(index == 0); });
    connect(m_channels, &QTabBar::currentChanged, this,
            [this](int index) { m_quantization.setEqualizes(index == 1); });
}

QLayout* QuantizeSheet::buildButtons()
{
    m_open = new PillButton(themes(), Look::Plain, tr("Open the new model"));
    m_start = new PillButton(themes(), Look::Primary, tr("Quantize"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_open);
    row->addStretch(1);
    row->addWidget(m_start);
    for (PillButton* button : {m_open, m_start}) button->setAutoDefault(true);
    connect(m_start, &QPushButton::clicked, &m_quantization, &QuantizePresenter::quantize);
    connect(m_open, &QPushButton::clicked, this, [this] {
        close();
        m_quantization.openResult();
    });
    return row;
}

void QuantizeSheet::openForm()
{
    m_quantization.start();
    open();
    m_data->setFocus();
}

void QuantizeSheet::refresh()
{
    const QuantizeState& state = m_quantization.state();
    showText(*m_data, state.draft.data);
    showText(*m_output, state.draft.output);
    m_command->setText(state.commandLine);
    m_problem->setText(state.problem);
    m_problem->setVisible(!state.problem.isEmpty());
    m_summary->setText(state.isRunning ? tr("working…") : state.summary);
    m_summary->setToolTip(state.floats.join(QLatin1Char('\n')));
    m_warnings->setText(state.warnings.join(QLatin1Char('\n')));
    m_warnings->setVisible(!state.warnings.isEmpty());
    m_start->setEnabled(state.canStart);
    m_open->setEnabled(!state.written.isEmpty() && !state.isRunning);
}

} // namespace tenon::views
