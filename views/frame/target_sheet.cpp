// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the target's fields.
#include "views/frame/target_sheet.h"

#include "views/pages/common/popup_menu.h"

#include <QAbstractItemView>
#include <QRegularExpression>
#include <QStringListModel>

namespace tenon::views {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

namespace {

/// Completes the last name of "+dotprod,+fp".
class FeatureCompleter : public QCompleter
{
public:
    using QCompleter::QCompleter;
    QStringList splitPath(const QString& path) const override
    {
        QString last = path.section(QLatin1Char(','), -1);
        while (last.startsWith(QLatin1Char('+')) || last.startsWith(QLatin1Char('-')))
            last.remove(0, 1);
        return {last};
    }
    QString pathFromIndex(const QModelIndex& index) const override
    {
        const auto* field = qobject_cast<QLineEdit*>(widget());
        const QString text = field ? field->text() : QString();
        const qsizetype comma = text.lastIndexOf(QLatin1Char(','));
        const QChar sign =
            text.mid(comma + 1).startsWith(QLatin1Char('-')) ? QLatin1Char('-') : QLatin1Char('+');
        return text.left(comma + 1) + sign + index.data().toString();
    }
};

void complete(QLineEdit& field, QCompleter* completer)
{
    completer->setModel(new QStringListModel(completer));
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    completer->popup()->setObjectName(QStringLiteral("suggestions")); // for the style sheet
    field.setCompleter(completer);
}

void offer(const QLineEdit& field, const QStringList& names)
{
    auto* model = static_cast<QStringListModel*>(field.completer()->model());
    if (model->stringList() != names) model->setStringList(names);
}

void showPart(QLineEdit& field, const QString& text)
{
    if (field.hasFocus() || field.text() == text) return; // not under the fingers
    field.setText(text);
}

/// Of a target's string a part is one word: what is pasted with more around it is cut to the first,
/// as the rest would be read as options.
QString firstWord(const QLineEdit& field)
{
    return field.text().trimmed().section(QRegularExpression(QStringLiteral("\\s")), 0, 0);
}

} // namespace

TargetSheet::TargetSheet(const ThemeSource& themes, WorkspacePresenter& workspace,
                         BoardsPresenter& boards, QWidget* window)
    : Overlay(themes, window, {760, 720})
    , m_target(workspace, boards)
    , m_grid(new QGridLayout)
    , m_figures(makeTargetFigureModel(this))
{
    panel().setTitle(tr("Target"));
    panel().setCaption(tr("Esc closes"));
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(7);
    m_grid->setColumnStretch(1, 1);
    m_board = addChoice(tr("as a board has it"));
    m_kind = addChoice(tr("kind"));
    m_triple = addChoice(tr("machine"));
    m_cpu = addField(tr("processor"), tr("generic"));
    m_features = addField(tr("features"), tr("as the processor has them; +dotprod,-neon"));
    m_abi = addField(tr("ABI"), tr("the machine's usual one"));
    m_cores = addField(tr("cores"), tr("unsaid"));
    m_text = addField(tr("as a string"), {});
    m_text->setFont(themes.theme().code);
    complete(*m_cpu, new QCompleter(m_cpu));
    complete(*m_features, new FeatureCompleter(m_features));
    m_meaning = new ThemedLabel(themes, Role::Secondary);
    m_meaning->setWordWrap(true);
    m_meaning->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    panel().content()->addLayout(m_grid);
    panel().content()->addLayout(buildUnused());
    panel().content()->addWidget(m_meaning);
    buildFigures();
    panel().content()->addLayout(buildButtons());
    for (QLineEdit* field : {m_cpu, m_features, m_abi, m_cores}) {
        connect(field, &QLineEdit::textChanged, this, &TargetSheet::takeFields);
        connect(field, &QLineEdit::editingFinished, this, &TargetSheet::refresh);
    }
    connect(m_text, &QLineEdit::textChanged, this, [this](const QString& text) {
        if (!m_isShowing) m_target.setText(text);
    });
    connect(&m_target, &TargetPresenter::stateChanged, this, &TargetSheet::refresh);
}

QLineEdit* TargetSheet::addField(const QString& label, const QString& hint)
{
    auto* field = new QLineEdit;
    field->setPlaceholderText(hint);
    field->setAccessibleName(label);
    const int row = m_grid->rowCount();
    m_grid->addWidget(new ThemedLabel(themes(), Role::Secondary, label), row, 0);
    m_grid->addWidget(field, row, 1);
    return field;
}

PillButton* TargetSheet::addChoice(const QString& label)
{
    auto* button = new PillButton(themes(), Look::Plain, tr("choose…"));
    button->setAccessibleName(label);
    const int row = m_grid->rowCount();
    m_grid->addWidget(new ThemedLabel(themes(), Role::Secondary, label), row, 0);
    m_grid->addWidget(button, row, 1, Qt::AlignLeft);
    return button;
}

QLayout* TargetSheet::buildUnused()
{
    m_unused = new ThemedLabel(themes(), Role::Strong);
    m_unused->setWordWrap(true);
    m_useFeatures = new PillButton(themes(), Look::Plain, tr("Use them"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_unused, 1);
    row->addWidget(m_useFeatures);
    connect(m_useFeatures, &QPushButton::clicked, &m_target, &TargetPresenter::useBoardFeatures);
    return row;
}

/// What cost models reckon with, so that a choice of layout or threads can be understood.
void TargetSheet::buildFigures()
{
    m_processorTitle = new ThemedLabel(themes(), Role::Strong);
    m_processorTitle->setWordWrap(true);
    m_figureTable = new DataTable(themes(), m_figures);
    m_figureTable->setAccessibleName(tr("figures of the processor"));
    m_figureTable->setColumnWidths({170, 80, 200, 0});
    m_measure = new PillButton(themes(), Look::Plain, tr("Measure them"));
    m_measure->setToolTip(tr("How fast the board computes, reads and starts threads"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_processorTitle, 1);
    row->addWidget(m_measure);
    panel().content()->addLayout(row);
    panel().content()->addWidget(m_figureTable, 1);
    connect(m_measure, &QPushButton::clicked, &m_target, &TargetPresenter::measureBoard);
}

void TargetSheet::choose(PillButton* button,
                         const std::vector<std::pair<QString, QString>>& choices,
                         const std::function<void(const QString&)>& take)
{
    QMenu* menu = makePopupMenu(this);
    for (const auto& [text, value] : choices)
        menu->addAction(text, this, [take, value = value] { take(value); });
    menu->popup(button->mapToGlobal(QPoint(0, button->height() + 4)));
}

QLayout* TargetSheet::buildButtons()
{
    auto* back = new PillButton(themes(), Look::Plain, tr("Take back"));
    auto* done = new PillButton(themes(), Look::Primary, tr("Done"));
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    for (PillButton* button : {back, done}) {
        button->setAutoDefault(true);
        row->addWidget(button);
    }
    connect(back, &QPushButton::clicked, &m_target, &TargetPresenter::takeBack);
    connect(done, &QPushButton::clicked, this, &Overlay::close);
    connect(m_board, &QPushButton::clicked, this, [this] {
        choose(m_board, m_target.boardTargets(), [this](const QString& t) { m_target.setText(t); });
    });
    const auto part = [this](PillButton* button, const QStringList& values,
                             QString TargetParts::*field, const QString& none) {
        std::vector<std::pair<QString, QString>> choices;
        if (!none.isEmpty()) choices.emplace_back(none, QString());
        for (const QString& value : values) choices.emplace_back(value, value);
        choose(button, choices, [this, field](const QString& value) {
            TargetParts parts = m_target.state().parts;
            parts.*field = value;
            m_target.setParts(parts);
        });
    };
    connect(m_kind, &QPushButton::clicked, this,
            [this, part] { part(m_kind, m_target.kinds(), &TargetParts::kind, {}); });
    connect(m_triple, &QPushButton::clicked, this, [this, part] {
        part(m_triple, m_target.triples(), &TargetParts::triple, tr("this computer"));
    });
    return row;
}

void TargetSheet::openForm()
{
    m_target.start();
    open();
    m_cpu->setFocus();
    m_cpu->selectAll();
}

void TargetSheet::takeFields()
{
    if (m_isShowing) return;
    TargetParts parts = m_target.state().parts;
    parts.cpu = firstWord(*m_cpu);
    parts.features = firstWord(*m_features);
    parts.abi = firstWord(*m_abi);
    parts.cores = firstWord(*m_cores);
    m_target.setParts(parts);
}

void TargetSheet::refresh()
{
    const TargetState& state = m_target.state();
    m_isShowing = true;
    m_kind->setText(state.parts.kind);
    m_triple->setText(state.parts.triple.isEmpty() ? tr("this computer") : state.parts.triple);
    for (PillButton* button : {m_kind, m_triple}) button->updateGeometry();
    showPart(*m_cpu, state.parts.cpu);
    showPart(*m_features, state.parts.features);
    showPart(*m_abi, state.parts.abi);
    showPart(*m_cores, state.parts.cores);
    showPart(*m_text, state.text);
    offer(*m_cpu, m_target.names().cpus);
    offer(*m_features, m_target.names().features);
    m_isShowing = false;
    m_meaning->setRole(state.isValid ? Role::Secondary : Role::Error);
    m_meaning->setText(state.isValid ? state.explanation.join(QLatin1Char('\n')) : state.message);
    m_unused->setText(state.unusedText);
    m_unused->setVisible(!state.unused.isEmpty());
    m_useFeatures->setVisible(!state.unused.isEmpty());
    const TargetFigures& figures = state.figures;
    m_processorTitle->setText(
        figures.remark.isEmpty()
            ? tr("Costs are reckoned for %1").arg(figures.machine)
            : tr("Costs are reckoned for %1: %2").arg(figures.machine, figures.remark));
    m_figures->setRows(figures.rows);
    m_processorTitle->setVisible(!figures.rows.empty());
    m_figureTable->setVisible(!figures.rows.empty());
    m_measure->setVisible(!figures.rows.empty());
    m_measure->setEnabled(state.canMeasure);
}

} // namespace tenon::views
