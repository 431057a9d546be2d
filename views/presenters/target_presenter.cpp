// SPDX-License-Identifier: GPL-3.0-or-later
// Fields and string of the target.
#include "views/presenters/target_presenter.h"

namespace tenon::views {

TargetPresenter::TargetPresenter(WorkspacePresenter& workspace, BoardsPresenter& boards,
                                 QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_boards(boards)
{
    connect(&workspace, &WorkspacePresenter::stateChanged, this, [this] {
        if (m_isEditing) refresh();
    });
    connect(&boards, &BoardsPresenter::selected, this, [this] {
        if (m_isEditing) refresh();
    });
    connect(&boards, &BoardsPresenter::stateChanged, this, [this] {
        if (!m_isEditing || m_state.canMeasure == m_boards.state().canMeasure) return;
        m_state.canMeasure = m_boards.state().canMeasure;
        emit stateChanged();
    });
}

QStringList TargetPresenter::kinds() const
{
    const auto& known = m_workspace.engine().targetKinds;
    return known ? known() : QStringList(QStringLiteral("llvm"));
}

QStringList TargetPresenter::triples() const
{
    return {QStringLiteral("x86_64-linux-gnu"), QStringLiteral("aarch64-linux-gnu"),
            QStringLiteral("armv7l-linux-gnueabihf"), QStringLiteral("riscv64-linux-gnu"),
            QStringLiteral("wasm32-unknown-unknown")};
}

std::vector<std::pair<QString, QString>> TargetPresenter::boardTargets() const
{
    std::vector<std::pair<QString, QString>> out;
    for (const BoardEntry& board : m_boards.boards())
        if (!board.target.isEmpty()) out.emplace_back(board.title(), board.target);
    return out;
}

void TargetPresenter::start()
{
    m_isEditing = true;
    m_before = m_workspace.state().target;
    m_state.text.clear();
    refresh();
}

void TargetPresenter::setText(QString text) { m_workspace.setTarget(text); }

void TargetPresenter::setParts(TargetParts parts)
{
    if (parts.kind != m_state.parts.kind) {
        // Processors and features are those of a kind; "native" is what LLVM compiles for here.
        parts.triple = parts.features = parts.abi = QString();
        parts.cpu = parts.kind == QLatin1String("llvm") ? QStringLiteral("native") : QString();
    }
    m_workspace.setTarget(withTargetParts(m_state.text, parts));
}

void TargetPresenter::useBoardFeatures()
{
    TargetParts parts = m_state.parts;
    for (const QString& feature : m_state.unused) {
        if (!parts.features.isEmpty()) parts.features += QLatin1Char(',');
        parts.features += QLatin1Char('+') + feature;
    }
    setParts(parts);
}

void TargetPresenter::measureBoard() { m_boards.measure(); }

void TargetPresenter::takeBack() { m_workspace.setTarget(m_before); }

void TargetPresenter::refresh()
{
    const WorkspaceState& workspace = m_workspace.state();
    const QString board = m_boards.board().target;
    if (m_state.text == workspace.target && m_boardTarget == board && !m_state.text.isEmpty())
        return;
    m_state.text = workspace.target;
    m_boardTarget = board;
    m_state.canMeasure = m_boards.state().canMeasure;
    m_state.parts = targetPartsOf(m_state.text);
    m_state.isValid = workspace.isTargetValid;
    m_state.message = workspace.targetMessage;
    m_state.explanation = workspace.targetExplanation;
    const Engine& engine = m_workspace.engine();
    // C names no machine; the processors that it has figures and methods of are Arm's small ones.
    const bool isC = m_state.parts.kind == QLatin1String("c") && m_state.parts.triple.isEmpty();
    const QString machine = isC ? QStringLiteral("arm-none-eabi") : m_state.parts.triple;
    if (engine.targetNames && (!m_hasNames || m_namesOf != machine)) {
        m_hasNames = true;
        m_namesOf = machine;
        m_names = engine.targetNames(m_namesOf);
    }
    m_state.unused = engine.unusedFeatures && m_state.isValid && !board.isEmpty()
                         ? engine.unusedFeatures(m_state.text, board)
                         : QStringList();
    m_state.unusedText =
        m_state.unused.isEmpty()
            ? QString()
            : tr("%1 has %2; the target does not use %3")
                  .arg(m_boards.board().title(), m_state.unused.join(QStringLiteral(", ")),
                       m_state.unused.size() == 1 ? tr("it") : tr("them"));
    m_state.figures = engine.targetFigures && m_state.isValid ? engine.targetFigures(m_state.text)
                                                              : TargetFigures();
    emit stateChanged();
}

} // namespace tenon::views
