// SPDX-License-Identifier: GPL-3.0-or-later
// Forms and questions about boards.
#include "views/frame/board_sheets.h"

#include "views/pages/common/popup_menu.h"

#include <QDir>
#include <QIntValidator>

#include <algorithm>
#include <iterator>

namespace tenon::views {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

namespace {

constexpr BoardWay kWays[] = {BoardWay::Ssh, BoardWay::RpcServer, BoardWay::Tracker,
                              BoardWay::Serial};

ThemedLabel* wrapped(const ThemeSource& themes, Role role, const QString& text = {})
{
    auto* label = new ThemedLabel(themes, role, text);
    label->setWordWrap(true);
    return label;
}

/// Enter works on them as in a dialog.
QHBoxLayout* buttonRow(std::initializer_list<PillButton*> buttons)
{
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    for (PillButton* button : buttons) {
        button->setAutoDefault(true);
        row->addWidget(button);
    }
    return row;
}

} // namespace

AddBoardSheet::AddBoardSheet(const ThemeSource& themes, BoardsPresenter& boards,
                             AskForFile askForFile, QWidget* window)
    : Overlay(themes, window, {560, 380})
    , m_boards(boards)
    , m_askForFile(std::move(askForFile))
    , m_grid(new QGridLayout)
    , m_way(new PillTabs(themes, PillTabs::Size::Small))
    , m_profile(new PillButton(themes, Look::Plain, tr("ask the board")))
    , m_add(new PillButton(themes, Look::Primary, tr("Connect and add")))
    , m_note(wrapped(themes, Role::Secondary))
{
    panel().setTitle(tr("Add a board"));
    panel().setCaption(tr("Esc closes"));
    for (const BoardWay way : kWays) m_way->addTab(boardWayText(way));
    m_way->setAccessibleName(tr("How the board is reached"));
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(8);
    m_grid->setColumnStretch(1, 1);
    m_name = addField(tr("name"), tr("what to call it"));
    m_host = addField(tr("host"), {});
    m_port = addField(tr("port"), {});
    m_port->setValidator(new QIntValidator(1, 65535, m_port));
    m_user = addField(tr("user"), tr("as the SSH configuration says, or yours"));
    m_key = addField(tr("key"), {});
    m_grid->addWidget(new ThemedLabel(themes, Role::Secondary, tr("key file")), 5, 0);
    m_identityRow = buildIdentity();
    m_grid->addWidget(m_identityRow, 5, 1);
    m_grid->addWidget(new ThemedLabel(themes, Role::Secondary, tr("kind of board")), 6, 0);
    m_grid->addWidget(m_profile, 6, 1, Qt::AlignLeft);
    m_project = addField(tr("project"), tr("folder of the board's project, see `tenon project`"));
    m_flash = addField(tr("flash command"), tr("the project's `make flash-image`"));
    auto* cancel = new PillButton(themes, Look::Plain, tr("Cancel"));
    panel().content()->addWidget(m_way, 0, Qt::AlignLeft);
    panel().content()->addLayout(m_grid);
    panel().content()->addWidget(m_note);
    panel().content()->addStretch(1);
    panel().content()->addLayout(buttonRow({cancel, m_add}));
    connect(cancel, &QPushButton::clicked, this, &Overlay::close);
    connect(m_add, &QPushButton::clicked, this, &AddBoardSheet::submit);
    connect(m_profile, &QPushButton::clicked, this, &AddBoardSheet::chooseProfile);
    connect(m_way, &QTabBar::currentChanged, this, &AddBoardSheet::showWay);
    for (QLineEdit* field : fields()) {
        connect(field, &QLineEdit::textChanged, this, &AddBoardSheet::refresh);
        connect(field, &QLineEdit::returnPressed, this, &AddBoardSheet::submit);
    }
    connect(&boards, &BoardsPresenter::added, this, [this] {
        for (QLineEdit* field : fields()) field->clear();
    });
    showWay();
}

std::vector<QLineEdit*> AddBoardSheet::fields() const
{
    return {m_name, m_host, m_port, m_user, m_identity, m_key, m_project, m_flash};
}

QLineEdit* AddBoardSheet::addField(const QString& label, const QString& hint)
{
    auto* field = new QLineEdit;
    field->setPlaceholderText(hint);
    field->setAccessibleName(label);
    const int row = m_grid->rowCount() - (m_grid->count() == 0 ? 1 : 0);
    m_grid->addWidget(new ThemedLabel(themes(), Role::Secondary, label), row, 0);
    m_grid->addWidget(field, row, 1);
    return field;
}

QWidget* AddBoardSheet::buildIdentity()
{
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_identity = new QLineEdit;
    m_identity->setPlaceholderText(tr("agent and the usual keys"));
    m_identity->setAccessibleName(tr("key file"));
    auto* browse = new PillButton(themes(), Look::Plain, tr("Choose…"));
    layout->addWidget(m_identity, 1);
    layout->addWidget(browse);
    connect(browse, &QPushButton::clicked, this, [this] {
        m_askForFile(this, {FileQuestion::Kind::Open, tr("Private key"), QDir::homePath(), {}},
                     [this](const QString& path) { m_identity->setText(path); });
    });
    return row;
}

void AddBoardSheet::chooseProfile()
{
    QMenu* menu = makePopupMenu(this);
    const auto choose = [this](const QString& name, const QString& title) {
        m_profileName = name;
        m_profile->setText(title);
        m_profile->updateGeometry();
    };
    menu->addAction(tr("ask the board"), this, [this, choose] { choose({}, tr("ask the board")); });
    for (const BoardKindEntry& kind : m_boards.kinds())
        menu->addAction(kind.title, this, [choose, kind] { choose(kind.name, kind.title); });
    menu->popup(m_profile->mapToGlobal(QPoint(0, m_profile->height() + 4)));
}

/// Which fields a way has, besides name and host.
bool AddBoardSheet::isShown(const QWidget* field) const
{
    switch (kWays[m_way->currentIndex()]) {
    case BoardWay::Ssh: return field != m_key && field != m_project && field != m_flash;
    case BoardWay::Serial: return field != m_key && field != m_user && field != m_identityRow;
    default:
        return field != m_user && field != m_identityRow && field != m_project && field != m_flash;
    }
}

void AddBoardSheet::showWay()
{
    const BoardWay way = kWays[m_way->currentIndex()];
    const bool isSsh = way == BoardWay::Ssh, isTracker = way == BoardWay::Tracker;
    const bool isSerial = way == BoardWay::Serial;
    m_host->setPlaceholderText(isSsh      ? tr("name, address or alias of ~/.ssh/config")
                               : isSerial ? tr("serial port, such as /dev/ttyACM0")
                                          : tr("name or address"));
    m_port->setPlaceholderText(isSsh       ? tr("as the SSH configuration says, or 22")
                               : isTracker ? tr("9190")
                               : isSerial  ? tr("baud; 115200")
                                           : tr("9090"));
    m_port->setValidator(new QIntValidator(1, isSerial ? 4000000 : 65535, m_port));
    m_key->setPlaceholderText(isTracker ? tr("which boards to ask it for")
                                        : tr("what the server was started with, if anything"));
    m_note->setText(
        isSsh ? tr("Passwords and passphrases are asked for when connecting and never kept.")
        : isSerial
            ? tr("A microcontroller: its project makes an image of each model, which the flash "
                 "command brings there ({image}, {port}).")
            : tr("RPC has no password and no encryption: for networks that you trust."));
    for (int row = 0; row < m_grid->rowCount(); ++row) {
        QWidget* field = m_grid->itemAtPosition(row, 1)->widget();
        m_grid->itemAtPosition(row, 0)->widget()->setVisible(isShown(field));
        field->setVisible(isShown(field));
    }
    refresh();
}

void AddBoardSheet::openForm()
{
    refresh();
    open();
    m_name->setFocus();
}

void AddBoardSheet::refresh()
{
    m_add->setEnabled(!m_name->text().trimmed().isEmpty() && !m_host->text().trimmed().isEmpty() &&
                      m_boards.state().canChange);
}

BoardRequest AddBoardSheet::request() const
{
    BoardRequest request;
    request.way = kWays[m_way->currentIndex()];
    request.name = m_name->text().trimmed();
    request.host = m_host->text().trimmed();
    request.port = m_port->text().toInt();
    request.profile = m_profileName;
    if (request.way == BoardWay::Ssh) {
        request.user = m_user->text().trimmed();
        request.identityFile = m_identity->text().trimmed();
    } else if (request.way == BoardWay::Serial) {
        request.project = m_project->text().trimmed();
        request.flash = m_flash->text().trimmed();
    } else {
        request.key = m_key->text().trimmed();
    }
    return request;
}

void AddBoardSheet::submit()
{
    if (!m_add->isEnabled()) return;
    const BoardRequest wanted = request();
    close();
    m_boards.add(wanted);
}

QuestionSheet::QuestionSheet(const ThemeSource& themes, BoardPrompt& prompt, QWidget* window)
    : Overlay(themes, window, {560, 250})
    , m_prompt(prompt)
    , m_text(wrapped(themes, Role::Body))
    , m_fingerprint(wrapped(themes, Role::Code))
    , m_hint(wrapped(themes, Role::Secondary))
    , m_answer(new QLineEdit)
    , m_yes(new PillButton(themes, Look::Plain, {}))
    , m_no(new PillButton(themes, Look::Primary, tr("Cancel")))
{
    m_fingerprint->setTextInteractionFlags(Qt::TextSelectableByMouse);
    panel().content()->addWidget(m_text);
    panel().content()->addWidget(m_fingerprint);
    panel().content()->addWidget(m_answer);
    panel().content()->addWidget(m_hint);
    panel().content()->addStretch(1);
    panel().content()->addLayout(buttonRow({m_yes, m_no}));
    connect(&prompt, &BoardPrompt::changed, this, &QuestionSheet::refresh);
    connect(m_yes, &QPushButton::clicked, this, &QuestionSheet::submit);
    connect(m_answer, &QLineEdit::returnPressed, this, &QuestionSheet::submit);
    connect(m_no, &QPushButton::clicked, this, &Overlay::close);
    connect(this, &Overlay::closed, &prompt, &BoardPrompt::refuse);
}

void QuestionSheet::refresh()
{
    const auto& question = m_prompt.question();
    m_answer->clear();
    if (!question) return close();
    const bool isHostKey = question->kind == BoardQuestion::Kind::HostKey;
    m_fingerprint->setVisible(isHostKey);
    m_answer->setVisible(!isHostKey);
    if (isHostKey)
        showHostKey(*question);
    else
        showSecret(*question);
    open();
    (isHostKey ? static_cast<QWidget*>(m_no) : m_answer)->setFocus();
}

void QuestionSheet::showHostKey(const BoardQuestion& question)
{
    panel().setTitle(tr("First contact with %1").arg(question.host));
    m_text->setText(tr("Nobody has vouched for this host yet. Its %1 key has the fingerprint")
                        .arg(question.keyType));
    m_fingerprint->setText(question.fingerprint);
    m_hint->setText(tr("Compare it with what the board itself says: "
                       "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub"));
    m_yes->setText(tr("Trust this key"));
    m_yes->updateGeometry();
}

void QuestionSheet::showSecret(const BoardQuestion& question)
{
    panel().setTitle(tr("The board asks"));
    m_text->setText(question.text);
    m_answer->setEchoMode(question.mayBeShown ? QLineEdit::Normal : QLineEdit::Password);
    m_answer->setAccessibleName(question.text);
    m_hint->setText(tr("It is used for this connection and kept nowhere."));
    m_yes->setText(tr("Connect"));
    m_yes->updateGeometry();
}

void QuestionSheet::submit()
{
    std::string answer = m_answer->text().toStdString();
    m_answer->clear();
    m_prompt.accept(answer);
    std::fill(answer.begin(), answer.end(), '\0');
}

ForgetSheet::ForgetSheet(const ThemeSource& themes, BoardsPresenter& boards, QWidget* window)
    : Overlay(themes, window, {460, 170})
    , m_boards(boards)
    , m_text(wrapped(themes, Role::Body))
    , m_no(new PillButton(themes, Look::Primary, tr("Cancel")))
{
    auto* yes = new PillButton(themes, Look::Plain, tr("Forget the board"));
    panel().content()->addWidget(m_text);
    panel().content()->addStretch(1);
    panel().content()->addLayout(buttonRow({yes, m_no}));
    connect(m_no, &QPushButton::clicked, this, &Overlay::close);
    connect(yes, &QPushButton::clicked, this, [this] {
        close();
        m_boards.forget();
    });
}

void ForgetSheet::ask()
{
    if (!m_boards.state().canForget) return;
    panel().setTitle(tr("Forget %1?").arg(m_boards.board().name));
    m_text->setText(m_boards.board().isEmulated()
                        ? tr("The emulated system is removed from this computer's disk; what was "
                             "measured on it stays in the history.")
                        : tr("The board itself stays as it is, and what was measured on it stays "
                             "in the history."));
    open();
    m_no->setFocus();
}

} // namespace tenon::views
