// SPDX-License-Identifier: GPL-3.0-or-later
// Versions are written anew one on top of the other, so that they keep sharing records.
#include "app/engine/shown_names.h"

#include "core/base/printable.h"

#include <QString>

#include <algorithm>
#include <unordered_map>

namespace tenon::app {

using core::Module;
using core::NodeId;
using core::NodeRecord;

namespace {

/// Scripts put no more marks than this on a letter; more of them stand on one another and cover
/// what is above.
constexpr int kMostMarks = 4;

std::string withFewMarks(std::string name)
{
    const auto isAscii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (std::all_of(name.begin(), name.end(), isAscii)) return name;
    std::u32string kept;
    int marks = 0;
    for (const char32_t letter : QString::fromStdString(name).toStdU32String()) {
        const QChar::Category category = QChar::category(letter);
        const bool isMark = category == QChar::Mark_NonSpacing || category == QChar::Mark_Enclosing;
        marks = isMark ? marks + 1 : 0;
        if (marks <= kMostMarks) kept += letter;
    }
    return QString::fromStdU32String(kept).toStdString();
}

bool needsIt(const std::string& name) { return shownName(name) != name; }

bool needsIt(const NodeRecord& node) { return needsIt(node.name) || needsIt(node.op); }

bool needsIt(const core::SourceNode& source)
{
    return needsIt(source.name) || needsIt(source.op) || needsIt(source.domain) ||
           std::any_of(source.scope.begin(), source.scope.end(),
                       [](const std::string& scope) { return needsIt(scope); });
}

bool needsIt(const core::GraphFunction& function)
{
    return needsIt(function.name) ||
           std::any_of(function.resultNames.begin(), function.resultNames.end(),
                       [](const std::string& name) { return needsIt(name); });
}

template <class Visit>
void forEachNode(const Module& module, const Visit& visit)
{
    module.nodes().visitStorage([](const void*, size_t) { return true; }, visit);
}

bool anyNeedsIt(const Module& module)
{
    bool any = std::any_of(module.sources().begin(), module.sources().end(),
                           [](const core::SourceNode& source) { return needsIt(source); });
    for (const auto& [id, function] : module.functions()) any = any || needsIt(*function);
    forEachNode(module, [&](const NodeRecord& node) { any = any || needsIt(node); });
    return any;
}

core::GraphFunction shown(core::GraphFunction function)
{
    function.name = shownName(function.name);
    for (std::string& name : function.resultNames) name = shownName(name);
    return function;
}

void showSources(Module& module)
{
    auto sources = std::make_shared<std::vector<core::SourceNode>>(module.sources());
    for (core::SourceNode& source : *sources) {
        source.name = shownName(source.name);
        source.op = shownName(source.op);
        source.domain = shownName(source.domain);
        for (std::string& scope : source.scope) scope = shownName(scope);
    }
    module.setSources(std::move(sources));
}

/// Turns `module`, the version before with its names shown, into the version `is`.
class NextVersion
{
public:
    NextVersion(const Module& was, const Module& is, Module& module)
        : m_was(was)
        , m_is(is)
        , m_module(module)
    {
    }

    void write()
    {
        forEachNode(m_is, [this](const NodeRecord& node) {
            if (m_was.findNode(node.id).get() != &node) set(node);
        });
        std::vector<NodeId> gone;
        forEachNode(m_was, [&](const NodeRecord& node) {
            if (!m_is.findNode(node.id)) gone.push_back(node.id);
        });
        for (const NodeId id : gone) m_module.eraseNode(id);
        writeFunctions();
        for (const auto& [name, kernel] : m_is.kernels()) {
            const auto known = m_module.kernels().find(name);
            if (known == m_module.kernels().end() || known->second != kernel)
                m_module.setKernel(name, kernel);
        }
        m_module.setMain(m_is.mainId());
    }

private:
    void set(const NodeRecord& node)
    {
        NodeRecord shown = node;
        shown.name = shownName(node.name);
        shown.op = shownName(node.op);
        m_module.setNode(std::move(shown));
    }
    void writeFunctions()
    {
        for (const auto& [id, function] : m_is.functions()) {
            const auto known = m_was.functions().find(id);
            if (known == m_was.functions().end() || known->second != function)
                m_module.setFunction(shown(*function));
        }
        for (const auto& [id, function] : m_was.functions())
            if (!m_is.functions().count(id)) m_module.eraseFunction(id);
    }

    const Module& m_was;
    const Module& m_is;
    Module& m_module;
};

/// The imported version: records whose names are fine stay those of the engine.
Module firstShown(const Module& imported)
{
    Module module = imported;
    showSources(module);
    forEachNode(imported, [&](const NodeRecord& node) {
        if (!needsIt(node)) return;
        NodeRecord shown = node;
        shown.name = shownName(node.name);
        shown.op = shownName(node.op);
        module.setNode(std::move(shown));
    });
    for (const auto& [id, function] : imported.functions())
        if (needsIt(*function)) module.setFunction(shown(*function));
    return module;
}

} // namespace

std::string shownName(const std::string& name)
{
    return core::elided(
        withFewMarks(core::printable(core::elided(name), core::LineBreaks::Escape)));
}

void showNames(const std::vector<Module*>& versions)
{
    if (versions.empty() || !anyNeedsIt(*versions.front())) return;
    std::vector<Module> made;
    for (size_t v = 0; v < versions.size(); ++v) {
        if (v == 0) {
            made.push_back(firstShown(*versions.front()));
            continue;
        }
        made.push_back(made.back());
        NextVersion(*versions[v - 1], *versions[v], made.back()).write();
    }
    for (size_t v = 0; v < versions.size(); ++v) *versions[v] = std::move(made[v]);
}

} // namespace tenon::app
