// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the form; what its fields mean is the presenter's.
#include "views/pages/compare/compare_form.h"

#include "views/pages/common/field_text.h"
#include "views/pages/common/popup_menu.h"

#include <QDir>
#include <QFileInfo>
#include <QSignalBlocker>

namespace tenon::views {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

namespace {

constexpr int kLeaveOut = 1; ///< tab of a choice

QString referenceText(ReferenceKind kind)
{
    switch (kind) {
    case ReferenceKind::LevelZero: return CompareForm::tr("the model at level 0, here");
    case ReferenceKind::Folder: return CompareForm::tr("a folder of expected tensors");
    case ReferenceKind::Model: return CompareForm::tr("another model file");
    case ReferenceKind::OnnxRuntime: return CompareForm::tr("ONNX Runtime, here");
    }
    return {};
}

} // namespace

CompareForm::CompareForm(const ThemeSource& themes, ComparePresenter& presenter,
                         const PageHost& host)
    : Panel(themes, tr("What to compare"))
    , m_presenter(presenter)
    , m_host(host)
    , m_place(new ThemedLabel(themes, Role::Body))
    , m_reference(new PillButton(themes, Look::Plain, {}))
    , m_referencePath(new QLineEdit)
    , m_data(new QLineEdit)
    , m_kernels(new PillTabs(themes, PillTabs::Size::Small))
    , m_noise(new PillTabs(themes, PillTabs::Size::Small))
    , m_command(new ThemedLabel(themes, Role::Code))
    , m_problem(makeSentence(themes, Role::Error))
    , m_notes(makeSentence(themes, Role::Secondary))
    , m_start(new PillButton(themes, Look::Plain, tr("Compare")))
    , m_stop(new PillButton(themes, Look::Plain, tr("Cancel")))
{
    setMinimumWidth(264);
    content()->setSpacing(4);
    addTitle(tr("the model runs on"));
    m_place->setElision(Elision::Content);
    content()->addWidget(m_place);
    addTitle(tr("and is held against"));
    m_reference->setAccessibleName(tr("reference"));
    content()->addWidget(m_reference, 0, Qt::AlignLeft);
    m_referencePath->setAccessibleName(tr("file or folder of the reference"));
    addPath(*m_referencePath, tr("Reference"));
    addTitle(tr("with the data of"));
    m_data->setPlaceholderText(tr("test_data_set_* beside it"));
    m_data->setToolTip(tr("A folder of input_0.pb, .npy or .npz files, or of such folders. Without "
                          "one those beside the model are taken, else inputs are made up"));
    m_data->setAccessibleName(tr("folder of data"));
    addPath(*m_data, tr("Data to compare with"));
    addChoice(*m_kernels, tr("kernels alone on the reference's inputs"),
              tr("Tells a kernel that is off from one that was handed an error"));
    addChoice(*m_noise, tr("noise: what rounding alone moves"),
              tr("Runs the model at level 0 twice, its sums from the start and from the end: what "
                 "these two differ by, nobody can blame on a device"));
    m_noise->setCurrentIndex(kLeaveOut);
    content()->addSpacing(6);
    content()->addWidget(m_problem);
    content()->addLayout(buildButtons());
    addTitle(tr("the same on the command line"));
    m_command->setWordWrap(true);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    content()->addWidget(m_command);
    content()->addSpacing(8);
    content()->addWidget(m_notes);
    content()->addStretch(1);
    follow();
    refresh();
}

/// What is chosen goes to the presenter, what it says comes here.
void CompareForm::follow()
{
    connect(&m_presenter, &ComparePresenter::stateChanged, this, &CompareForm::refresh);
    connect(m_reference, &QPushButton::clicked, this, &CompareForm::chooseReference);
    connect(m_referencePath, &QLineEdit::textChanged, &m_presenter,
            &ComparePresenter::setReferencePath);
    connect(m_data, &QLineEdit::textChanged, &m_presenter, &ComparePresenter::setData);
    connect(m_kernels, &QTabBar::currentChanged, this,
            [this](int tab) { m_presenter.setIsolates(tab != kLeaveOut); });
    connect(m_noise, &QTabBar::currentChanged, this,
            [this](int tab) { m_presenter.setMeasuresNoise(tab != kLeaveOut); });
}

void CompareForm::addTitle(const QString& text)
{
    content()->addSpacing(6);
    content()->addWidget(new ThemedLabel(themes(), Role::Secondary, text));
}

/// A field with a button that asks for what belongs into it.
void CompareForm::addPath(QLineEdit& field, const QString& title)
{
    auto* choose = new PillButton(themes(), Look::Plain, tr("Choose…"));
    choose->setAccessibleName(title);
    field.setAcceptDrops(false); // the window takes what is dropped as a path
    auto* row = new QHBoxLayout;
    row->addWidget(&field, 1);
    row->addWidget(choose);
    content()->addLayout(row);
    if (&field == m_referencePath) m_chooseReference = choose;
    connect(choose, &QPushButton::clicked, this, [this, &field, title] {
        const bool isModel =
            &field == m_referencePath && m_presenter.state().kind == ReferenceKind::Model;
        const QString beside = QFileInfo(m_presenter.workspace().state().path).path();
        const QString start = field.text().isEmpty() ? beside : field.text();
        m_host.askForPath({title, start, !isModel},
                          [&field](const QString& path) { field.setText(path); });
    });
}

/// Something to run, or to leave out.
void CompareForm::addChoice(PillTabs& tabs, const QString& title, const QString& tip)
{
    addTitle(title);
    tabs.addTab(tr("also"));
    tabs.addTab(tr("leave out"));
    tabs.setToolTip(tip);
    tabs.setAccessibleName(title);
    content()->addWidget(&tabs, 0, Qt::AlignLeft);
}

QLayout* CompareForm::buildButtons()
{
    auto* row = new QHBoxLayout;
    row->addWidget(m_start);
    row->addWidget(m_stop);
    row->addStretch(1);
    m_stop->setToolTip(tr("Shift+F5"));
    connect(m_start, &QPushButton::clicked, &m_presenter, &ComparePresenter::compare);
    connect(m_stop, &QPushButton::clicked, &m_presenter, &ComparePresenter::cancel);
    return row;
}

void CompareForm::chooseReference()
{
    QMenu* menu = makePopupMenu(this);
    for (const ReferenceKind kind : {ReferenceKind::LevelZero, ReferenceKind::Folder,
                                     ReferenceKind::Model, ReferenceKind::OnnxRuntime}) {
        QAction* action = menu->addAction(referenceText(kind), this,
                                          [this, kind] { m_presenter.setReferenceKind(kind); });
        action->setCheckable(true);
        action->setChecked(kind == m_presenter.state().kind);
        if (kind != ReferenceKind::OnnxRuntime || m_presenter.state().hasOnnxRuntime) continue;
        action->setEnabled(false);
        action->setText(tr("ONNX Runtime (TENON_ONNXRUNTIME is not set)"));
    }
    menu->popup(m_reference->mapToGlobal(QPoint(0, m_reference->height() + 4)));
}

void CompareForm::refresh()
{
    const CompareState& state = m_presenter.state();
    const bool hasPath = state.kind == ReferenceKind::Folder || state.kind == ReferenceKind::Model;
    m_place->setText(state.placeDetail);
    m_reference->setText(referenceText(state.kind) + QStringLiteral("  ▾"));
    m_reference->updateGeometry();
    m_referencePath->setVisible(hasPath);
    m_chooseReference->setVisible(hasPath);
    m_referencePath->setPlaceholderText(state.kind == ReferenceKind::Model
                                            ? tr("such as the model of floats")
                                            : tr("of .npy, .npz or .pb files"));
    showText(*m_referencePath, state.referencePath);
    showText(*m_data, state.data);
    m_command->setText(state.commandLine);
    m_problem->setText(state.problem);
    m_problem->setVisible(!state.problem.isEmpty() && !state.isRunning);
    m_notes->setText(state.notes);
    m_notes->setVisible(!state.notes.isEmpty());
    m_start->setText(state.isStale ? tr("Compare again") : tr("Compare"));
    m_start->updateGeometry();
    m_start->setEnabled(state.canStart);
    showButtons(state.hasResult && !state.isRunning, state.isRunning);
}

/// Whoever works by keyboard stays where the button was.
void CompareForm::showButtons(bool canStart, bool canStop)
{
    const bool hadFocus = m_start->hasFocus() || m_stop->hasFocus();
    if (canStart) m_start->show();
    if (canStop) m_stop->show();
    if (hadFocus)
        (canStop ? m_stop : canStart ? m_start : m_reference)->setFocus(Qt::OtherFocusReason);
    m_start->setVisible(canStart);
    m_stop->setVisible(canStop);
}

} // namespace tenon::views
