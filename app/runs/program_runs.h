// SPDX-License-Identifier: Apache-2.0
// ProgramRuns: runs programs that were compiled just now, again and again, on this computer (or its
// emulators) or on a board; what was opened stays open for the next run.
#pragma once

#include "compiler/compare/compare.h"
#include "core/artifact/manifest.h"
#include "core/base/temporary_folder.h"
#include "remote/deploy/deployer.h"

#include <chrono>
#include <list>

namespace tenon::runs {

using namespace core;

/// Where programs run, and how.
struct RunPlace
{
    remote::Deployer* board = nullptr; ///< outlives the runs; null: this computer
    std::string boardName;
    unsigned threads = 0; ///< asked for; 0: as many as the program was compiled for
    std::chrono::seconds timeout{300};
    bool skipsPreflight = false;
    std::string boardProject; ///< of a board at the end of a serial line
};

class ProgramRuns
{
public:
    explicit ProgramRuns(RunPlace place);

    Result<std::vector<Tensor>> run(const compiler::CompileResultPtr& program,
                                    const compiler::NamedValues& inputs, JobContext& job);
    /// What the program that is run says about itself.
    Result<Manifest> manifestOf(const compiler::CompileResultPtr& program);
    /// Where the last run took place; "" before the first.
    const std::string& place() const { return m_placeName; }

private:
    /// A program's file and the session that runs it here.
    struct Opened
    {
        compiler::CompileResultPtr program;
        std::shared_ptr<const TemporaryFolder> folder;
        std::string path;
        Manifest manifest;
        std::unique_ptr<remote::LocalSession> session;
    };

    Result<Opened*> open(const compiler::CompileResultPtr& program);
    Result<std::vector<Tensor>> runHere(Opened& opened, const compiler::NamedValues& inputs,
                                        JobContext& job);
    Result<std::vector<Tensor>> runOnBoard(const Opened& opened,
                                           const compiler::NamedValues& inputs, JobContext& job);

    RunPlace m_place;
    std::list<Opened> m_opened; ///< the last used first
    std::string m_placeName;
};

} // namespace tenon::runs
