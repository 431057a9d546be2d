// SPDX-License-Identifier: GPL-3.0-or-later
// What the monkey can do; how often is the table in act().
#include "tests/app/workbench/monkey.h"

#include "views/frame/target_field.h"

#include <QApplication>
#include <QDrag>
#include <QDragEnterEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QPointer>
#include <QTest>
#include <QWheelEvent>

#include <utility>

namespace tenon::tests {

namespace {

const char* const kTargets[] = {"llvm -mcpu=native",
                                "llvm",
                                "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4",
                                "c -mcpu=cortex-m4",
                                "llvm -mcpu=",
                                "",
                                "nonsense"};
const char* const kTexts[] = {"conv",
                              "@",
                              "#f",
                              "$",
                              "relu",
                              "batch=2",
                              "=",
                              "pi",
                              "::1",
                              "SRAM=64KiB,X",
                              "touched:selection",
                              "é日本"};
constexpr Qt::Key kKeys[] = {
    Qt::Key_Tab,         Qt::Key_Backtab,  Qt::Key_Return,   Qt::Key_Escape,    Qt::Key_Space,
    Qt::Key_Up,          Qt::Key_Down,     Qt::Key_Left,     Qt::Key_Right,     Qt::Key_Home,
    Qt::Key_End,         Qt::Key_PageUp,   Qt::Key_Delete,   Qt::Key_F,         Qt::Key_R,
    Qt::Key_D,           Qt::Key_P,        Qt::Key_M,        Qt::Key_T,         Qt::Key_Z,
    Qt::Key_Plus,        Qt::Key_Minus,    Qt::Key_F1,       Qt::Key_F3,        Qt::Key_F5,
    Qt::Key_Menu,        Qt::Key_Question, Qt::Key_PageDown, Qt::Key_Backspace, Qt::Key_BracketLeft,
    Qt::Key_BracketRight};
constexpr Qt::KeyboardModifier kModifiers[] = {Qt::NoModifier,      Qt::NoModifier,
                                               Qt::NoModifier,      Qt::ShiftModifier,
                                               Qt::ControlModifier, Qt::AltModifier};

std::string nameOf(const QWidget& part)
{
    return part.metaObject()->className() + std::string(" ") +
           part.accessibleName().left(30).toStdString();
}

} // namespace

Monkey::Monkey(uint64_t seed, QStringList models, std::function<views::Engine()> makeEngine)
    : m_random(seed)
    , m_models(std::move(models))
    , m_makeEngine(std::move(makeEngine))
{
    constexpr int kWatchMs = 100;
    QObject::connect(&m_watch, &QTimer::timeout, &m_watch, [this] { leaveLoops(); });
    m_watch.start(kWatchMs);
    makeWindow();
}

/// Qt's own widgets wait inside of some handlers: for the menu of a scroll bar, for a drag of text.
/// Nobody but this timer acts meanwhile.
void Monkey::leaveLoops()
{
    const bool isSameAct = std::exchange(m_seen, m_acts) == m_acts;
    if (!isSameAct) return;
    QDrag::cancel();
    if (QWidget* popup = QApplication::activePopupWidget()) popup->close();
}

void Monkey::makeWindow()
{
    app::WindowOptions options;
    options.isIsolated = true;
    options.samplePath = m_models.front();
    options.askForFile = [this](QWidget*, const views::FileQuestion& question,
                                const views::TakeFile& take) {
        const char* const names[] = {"a.svg", "a.png", "a.html", "a.so", "a.tar", "no/such/a.so"};
        if (below(4) == 0) return; // cancelled
        if (question.kind == views::FileQuestion::Kind::Open) return take(model());
        take(m_folder.filePath(QLatin1String(names[below(6)])));
    };
    m_window.reset(); // or styles would be worked out for the widgets of both
    m_window = std::make_unique<app::MainWindow>(m_makeEngine(), app::Settings(), options);
    m_window->resize(1280, 800);
    m_window->show();
    m_window->openModel(m_models.front());
}

int Monkey::below(int count)
{
    return static_cast<int>(m_random() % static_cast<uint64_t>(count)); // the same on every library
}

std::string Monkey::act()
{
    ++m_acts;
    struct Choice
    {
        int weight;
        Act act;
    };
    static constexpr Choice kChoices[] = {
        {260, &Monkey::click},      {40, &Monkey::doubleClick}, {60, &Monkey::drag},
        {60, &Monkey::wheel},       {60, &Monkey::hover},       {200, &Monkey::pressKey},
        {30, &Monkey::type},        {20, &Monkey::resize},      {50, &Monkey::trigger},
        {60, &Monkey::switchPage},  {12, &Monkey::openModel},   {14, &Monkey::changeTarget},
        {20, &Monkey::chooseBoard}, {14, &Monkey::deploy},      {6, &Monkey::dropFile},
        {15, &Monkey::cancel},      {12, &Monkey::grab},        {40, &Monkey::wait},
        {2, &Monkey::reopen}};
    int total = 0;
    for (const Choice& each : kChoices) total += each.weight;
    int at = below(total);
    const Choice* choice = kChoices;
    for (; at >= choice->weight; ++choice) at -= choice->weight;
    std::string what = (this->*choice->act)();
    QCoreApplication::processEvents();
    if (!m_window->isVisible()) what += ", " + reopen(); // quit
    return what;
}

bool Monkey::settle(int patienceMs)
{
    while (QWidget* popup = QApplication::activePopupWidget()) popup->close();
    m_window->cancelJobs();
    m_window->boardPrompt().refuse();
    return QTest::qWaitFor([this] { return m_window->isSettled(); }, patienceMs);
}

QWidget* Monkey::surface() const
{
    QWidget* popup = QApplication::activePopupWidget();
    return popup ? popup : m_window.get();
}

QWidget* Monkey::anyPart()
{
    QWidget* top = surface();
    QWidgetList shown{top};
    for (auto* child : top->findChildren<QWidget*>())
        if (child->isVisible() && child->window() == top && !child->size().isEmpty())
            shown << child;
    return shown[below(static_cast<int>(shown.size()))];
}

QPoint Monkey::pointIn(const QWidget& part)
{
    return {below(std::max(1, part.width())), below(std::max(1, part.height()))};
}

std::string Monkey::mouse(const char* what, QPoint at, int presses)
{
    QWidget* top = surface();
    QWindow* window = top->windowHandle();
    const QWidget* hit = top->childAt(at);
    std::string text = std::string(what) + " " + nameOf(hit ? *hit : *top);
    if (!window) return text;
    const Qt::MouseButton button = below(8) == 0 ? Qt::RightButton : Qt::LeftButton;
    const auto modifier = kModifiers[below(6)];
    QTest::mouseMove(window, at);
    for (int i = 0; i < presses; ++i) {
        // A press may close the menu that it went to.
        if (surface()->windowHandle() != window) return text + ", gone";
        QTest::mousePress(window, button, modifier, at);
        if (surface()->windowHandle() != window) return text + ", gone";
        QTest::mouseRelease(window, button, modifier, at);
    }
    return text;
}

std::string Monkey::click()
{
    const QWidget* part = anyPart();
    return mouse("click", part->mapTo(surface(), pointIn(*part)), 1);
}

std::string Monkey::doubleClick()
{
    const QWidget* part = anyPart();
    return mouse("double click", part->mapTo(surface(), pointIn(*part)), 2);
}

std::string Monkey::drag()
{
    QWidget* top = surface();
    QWindow* window = top->windowHandle();
    const QWidget* part = anyPart();
    QPoint at = part->mapTo(top, pointIn(*part));
    const std::string text = "drag " + nameOf(*part);
    if (!window) return text;
    QTest::mousePress(window, Qt::LeftButton, {}, at);
    for (int i = 2 + below(6); i > 0; --i) {
        at += QPoint(below(161) - 80, below(161) - 80);
        if (surface()->windowHandle() != window) return text;
        QTest::mouseMove(window, at);
    }
    if (surface()->windowHandle() == window) QTest::mouseRelease(window, Qt::LeftButton, {}, at);
    return text;
}

std::string Monkey::wheel()
{
    QWidget* part = anyPart();
    const QPoint at = pointIn(*part);
    const QPoint by(0, (below(9) - 4) * 120);
    QWheelEvent event(at, part->mapToGlobal(at), {}, by, Qt::NoButton, kModifiers[below(6)],
                      Qt::NoScrollPhase, false);
    const std::string text = "wheel " + nameOf(*part);
    QCoreApplication::sendEvent(part, &event);
    return text;
}

std::string Monkey::hover()
{
    const QPointer<QWidget> part = anyPart(); // may go where the mouse moves
    const QPoint at = pointIn(*part);
    const std::string text = "hover " + nameOf(*part);
    if (QWindow* window = surface()->windowHandle())
        QTest::mouseMove(window, part->mapTo(surface(), at));
    if (part && below(3) == 0) {
        QHelpEvent help(QEvent::ToolTip, at, part->mapToGlobal(at));
        QCoreApplication::sendEvent(part, &help);
    }
    return text;
}

/// To what has the focus, shortcuts first. Each step may close the menu or window that it goes to.
void Monkey::keyTo(Qt::Key key, const QString& text, Qt::KeyboardModifiers modifiers)
{
    QWidget* top = surface();
    QWidget* focus = top->focusWidget();
    const QPointer<QWidget> alive(focus ? focus : top);
    if (qt_sendShortcutOverrideEvent(alive, 0, key, modifiers, text)) return;
    for (const auto type : {QEvent::KeyPress, QEvent::KeyRelease}) {
        QKeyEvent event(type, key, modifiers, text);
        if (alive) QCoreApplication::sendEvent(alive, &event);
    }
}

std::string Monkey::pressKey()
{
    const auto key = kKeys[below(static_cast<int>(std::size(kKeys)))];
    const auto modifier = kModifiers[below(6)];
    const std::string text =
        "key " + QKeySequence(QKeyCombination(modifier, key)).toString().toStdString();
    keyTo(key, {}, modifier);
    return text;
}

std::string Monkey::type()
{
    const char* text = kTexts[below(static_cast<int>(std::size(kTexts)))];
    for (const QChar c : QString::fromUtf8(text))
        keyTo(Qt::Key_unknown, QString(c), Qt::NoModifier);
    return std::string("type ") + text;
}

std::string Monkey::resize()
{
    const QSize size(900 + below(900), 560 + below(560));
    m_window->resize(size);
    return "resize " + std::to_string(size.width()) + "x" + std::to_string(size.height());
}

std::string Monkey::trigger()
{
    const auto& specs = m_window->actions().specs();
    const QString id = specs[static_cast<size_t>(below(static_cast<int>(specs.size())))].id;
    m_window->actions().action(id)->trigger();
    return "action " + id.toStdString();
}

std::string Monkey::switchPage()
{
    const auto& pages = m_window->pages();
    const QString page = pages[static_cast<size_t>(below(static_cast<int>(pages.size())))].name;
    m_window->showPerspective(page);
    return "page " + page.toStdString();
}

std::string Monkey::openModel()
{
    const QString path = model();
    m_window->openModel(path);
    return "open " + path.toStdString();
}

std::string Monkey::changeTarget()
{
    const QString target = QLatin1String(kTargets[below(static_cast<int>(std::size(kTargets)))]);
    if (below(2) == 0)
        m_window->workspace().setTarget(target);
    else
        m_window->findChild<views::TargetField*>()->setText(target);
    return "target " + target.toStdString();
}

std::string Monkey::chooseBoard()
{
    const auto& boards = m_window->boards().boards();
    const QString name = boards[static_cast<size_t>(below(static_cast<int>(boards.size())))].name;
    m_window->chooseBoard(name);
    return "board " + name.toStdString();
}

std::string Monkey::deploy()
{
    m_window->deploy().deploy();
    return "deploy";
}

std::string Monkey::dropFile()
{
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(model())});
    QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_window.get(), &enter);
    if (below(3) == 0) {
        QDragLeaveEvent leave;
        QCoreApplication::sendEvent(m_window.get(), &leave);
        return "drag a file out";
    }
    QDropEvent drop({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_window.get(), &drop);
    return "drop a file";
}

std::string Monkey::cancel()
{
    m_window->cancelJobs();
    return "cancel";
}

std::string Monkey::grab()
{
    (void)m_window->grab();
    return "grab";
}

std::string Monkey::wait()
{
    const int ms = below(30);
    QTest::qWait(ms);
    return "wait " + std::to_string(ms);
}

/// Closed and opened again, whatever was going on.
std::string Monkey::reopen()
{
    makeWindow();
    return "another window, " + std::to_string(QApplication::allWidgets().size()) + " widgets";
}

} // namespace tenon::tests
