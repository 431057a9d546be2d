// SPDX-License-Identifier: GPL-3.0-or-later
// InspectorPresenter: everything about the selected node: facts, members, schedule and code.
#pragma once

#include "views/presenters/engine.h"
#include "views/presenters/job_presenter.h"
#include "views/presenters/selection.h"

#include <QObject>

namespace tenon::views {

struct FactRow
{
    QString label;
    QString value;
    QString tip;
    core::NodeId node; ///< to go to, when the value is another node
};

/// A listing with, per line, the 1-based TIR line it belongs to (0: none).
struct CodeListing
{
    QString text;
    std::vector<int> tirLines;
};

struct InspectorState
{
    bool hasNode = false;
    QString title;
    QString subtitle;
    std::vector<FactRow> facts;
    std::vector<FactRow> members;
    bool isInput = false;
    bool isCompiled = false; ///< the document; not each of its nodes has a kernel
    bool hasKernel = false;
    bool isLoading = false; ///< LLVM IR and assembly are being made
    QString codeMessage;    ///< why there is no code, or what went wrong
    QString schedule;
    CodeListing tir, llvm, assembly;
};

class InspectorPresenter : public QObject
{
    Q_OBJECT
public:
    InspectorPresenter(Engine engine, JobPresenter& jobs, Selection& selection,
                       QObject* parent = nullptr);

    void setDocument(DocumentPtr document);
    /// The module version whose record of the node is described.
    void setVersion(size_t version);
    const InspectorState& state() const { return m_state; }

public slots:
    void showNode(tenon::core::NodeId node);
    /// Makes LLVM IR and assembly for the selected kernel if that has not been done.
    void loadCode();

signals:
    void stateChanged();
    void codeChanged();

private:
    const core::NodeRecord* record(const core::Module*& module) const;
    int callOf(const core::NodeRecord& node) const;
    void describe(const core::Module& module, const core::NodeRecord& node);
    void describeMembers(const core::Module& module, const core::NodeRecord& node);
    void describeCall(int call);
    void addCallTime(size_t call);
    void addCallError(const KernelCall& call);
    void showListing(const KernelListing& listing);

    Engine m_engine;
    JobPresenter& m_jobs;
    Selection& m_selection;
    DocumentPtr m_document;
    size_t m_version = 0;
    core::NodeId m_node;
    QString m_kernel;
    std::map<QString, KernelListing> m_listings; ///< of this document, with code
    InspectorState m_state;
};

} // namespace tenon::views
