// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the form and the result; what they mean is the presenter's.
#include "views/frame/trial_sheet.h"

#include <QDir>
#include <QPainter>
#include <QSignalBlocker>

#include <algorithm>

namespace tenon::views {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

namespace {

constexpr int kPictureSide = 224;

void showUnlessTyped(QLineEdit& field, const QString& text)
{
    const bool isTyped = field.hasFocus() && !field.text().isEmpty(); // not under the fingers
    if (isTyped || field.text() == text) return;
    const QSignalBlocker blocker(field);
    field.setText(text);
}

void showSentence(ThemedLabel& label, const QString& text)
{
    label.setText(text);
    label.setVisible(!text.isEmpty());
}

} // namespace

SeenPicture::SeenPicture(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
{
    setFixedSize(kPictureSide, kPictureSide);
    setAccessibleName(tr("What the model sees"));
    setToolTip(tr("The picture as the model gets it: cut and scaled, before scale and mean"));
}

void SeenPicture::show(const Thumbnail& picture)
{
    m_picture = {};
    if (picture.width > 0)
        m_picture = QImage(reinterpret_cast<const uchar*>(picture.rgb.constData()), picture.width,
                           picture.height, 3 * picture.width, QImage::Format_RGB888)
                        .copy();
    update();
}

void SeenPicture::paintEvent(QPaintEvent*)
{
    constexpr int kRadius = 6;
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(t.line);
    painter.setBrush(t.window);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
    if (m_picture.isNull()) {
        painter.setPen(t.secondary);
        painter.drawText(rect().adjusted(kRadius, 0, -kRadius, 0),
                         Qt::AlignCenter | Qt::TextWordWrap,
                         tr("What the model sees of a picture stands here"));
        return;
    }
    const bool isSmall = std::max(m_picture.width(), m_picture.height()) <= kPictureSide;
    painter.setRenderHint(QPainter::SmoothPixmapTransform, !isSmall);
    QSize size = m_picture.size();
    size.scale(rect().size() - QSize(2, 2), Qt::KeepAspectRatio);
    QRect to({}, size);
    to.moveCenter(rect().center());
    painter.drawImage(to, m_picture);
}

TrialSheet::TrialSheet(const ThemeSource& themes, TrialPresenter& trial, AskForFile askForFile,
                       QWidget* window)
    : Overlay(themes, window, {860, 560})
    , m_trial(trial)
    , m_askForFile(std::move(askForFile))
    , m_grid(new QGridLayout)
{
    panel().setTitle(tr("Try it"));
    panel().setCaption(tr("Esc closes"));
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(8);
    m_grid->setColumnStretch(1, 1);
    makeFields();
    m_command = makeSentence(themes, Role::Code);
    m_problem = makeSentence(themes, Role::Secondary);
    panel().content()->addLayout(m_grid);
    panel().content()->addWidget(m_command);
    panel().content()->addWidget(m_problem);
    panel().content()->addLayout(buildResult(), 1);
    panel().content()->addLayout(buildButtons());
    connect(&m_trial, &TrialPresenter::stateChanged, this, &TrialSheet::refresh);
    refresh();
}

void TrialSheet::addRow(const QString& label, QWidget* part)
{
    const int row = m_grid->rowCount();
    m_grid->addWidget(new ThemedLabel(themes(), Role::Secondary, label), row, 0,
                      Qt::AlignLeft | Qt::AlignVCenter);
    m_grid->addWidget(part, row, 1);
    if (part->accessibleName().isEmpty()) part->setAccessibleName(label);
}

/// A field with a button that asks for what belongs into it.
QWidget* TrialSheet::pathRow(QLineEdit& field, const FileQuestion& question)
{
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* choose = new PillButton(themes(), Look::Plain, tr("Choose…"));
    choose->setAccessibleName(question.title);
    field.setAcceptDrops(false); // the window takes what is dropped as a path
    layout->addWidget(&field, 1);
    layout->addWidget(choose);
    connect(choose, &QPushButton::clicked, this, [this, &field, question] {
        FileQuestion asked = question;
        asked.start = field.text().isEmpty() ? QDir::homePath() : field.text();
        m_askForFile(this, asked, [&field](const QString& path) { field.setText(path); });
    });
    return row;
}

void TrialSheet::makeFields()
{
    m_file = new QLineEdit;
    m_file->setPlaceholderText(tr("PNG, JPEG or WAV; or drop one on the window"));
    m_file->setAccessibleName(tr("picture or sound"));
    m_line = new QLineEdit;
    m_line->setPlaceholderText(tr("as the input asks for; imagenet, signed, mean=…, std=…"));
    m_line->setToolTip(m_trial.keys().replace(QStringLiteral("; "), QStringLiteral("\n")));
    m_labels = new QLineEdit;
    m_labels->setPlaceholderText(tr("text with the name of a class in each line"));
    m_labels->setAccessibleName(tr("labels"));
    addRow(tr("picture or sound"),
           pathRow(*m_file, {FileQuestion::Kind::Open,
                             tr("Picture or sound"),
                             {},
                             {tr("Pictures and sounds (*.png *.jpg *.jpeg *.wav)")}}));
    addRow(tr("preprocessing"), m_line);
    addRow(tr("labels"), pathRow(*m_labels, {FileQuestion::Kind::Open,
                                             tr("Labels"),
                                             {},
                                             {tr("Texts (*.txt)"), tr("All files (*)")}}));
    connect(m_file, &QLineEdit::textChanged, &m_trial, &TrialPresenter::setFile);
    connect(m_line, &QLineEdit::textChanged, &m_trial, &TrialPresenter::setPreprocessing);
    connect(m_labels, &QLineEdit::textChanged, &m_trial, &TrialPresenter::setLabels);
    for (QLineEdit* field : {m_file, m_line, m_labels})
        connect(field, &QLineEdit::returnPressed, &m_trial, &TrialPresenter::run);
}

QLayout* TrialSheet::buildResult()
{
    m_seen = new SeenPicture(themes());
    m_results = new DataTable(themes(), &m_trial.results());
    m_results->setAccessibleName(tr("What the model says"));
    m_results->setColumnWidths({150, 0, 130, 130});
    m_results->delegate().setBarColumn(0, 60);
    m_effective = makeSentence(themes(), Role::Secondary);
    m_summary = makeSentence(themes(), Role::Secondary);
    auto* texts = new QVBoxLayout;
    texts->addWidget(m_results, 1);
    texts->addWidget(m_summary);
    texts->addWidget(m_effective);
    auto* row = new QHBoxLayout;
    row->setSpacing(14);
    row->addWidget(m_seen, 0, Qt::AlignTop);
    row->addLayout(texts, 1);
    return row;
}

QLayout* TrialSheet::buildButtons()
{
    m_run = new PillButton(themes(), Look::Primary, tr("Run"));
    m_run->setAutoDefault(true);
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(m_run);
    connect(m_run, &QPushButton::clicked, &m_trial, &TrialPresenter::run);
    return row;
}

void TrialSheet::openForm(const TrialHabit& habit)
{
    m_trial.start(habit);
    open();
    m_file->setFocus();
}

void TrialSheet::openWith(const QString& file, const TrialHabit& habit)
{
    openForm(habit);
    m_file->setText(file);
    m_trial.run();
}

void TrialSheet::refresh()
{
    const TrialState& state = m_trial.state();
    showUnlessTyped(*m_file, state.draft.file);
    showUnlessTyped(*m_line, state.draft.preprocessing);
    showUnlessTyped(*m_labels, state.draft.labels);
    m_command->setText(state.commandLine);
    showSentence(*m_problem, state.problem);
    QStringList says{state.isRunning ? tr("running…") : state.summary};
    if (!state.note.isEmpty()) says << state.note;
    showSentence(*m_summary, says.join(QStringLiteral(" · ")));
    showSentence(*m_effective, state.effective.isEmpty()
                                   ? QString()
                                   : tr("done to the file: %1").arg(state.effective));
    m_seen->show(state.seen);
    m_run->setText(state.draft.board.isEmpty() ? tr("Run") : tr("Run on %1").arg(state.place));
    m_run->setEnabled(state.canStart);
}

} // namespace tenon::views
