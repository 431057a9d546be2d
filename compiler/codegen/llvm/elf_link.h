// SPDX-License-Identifier: Apache-2.0
// How LLD is called for ELF.
#pragma once

#include "compiler/codegen/link_job.h"
#include "compiler/codegen/output_format.h"

namespace tenon::compiler {

/// A shared library without undefined symbols, or one relocatable object. Errors:
/// UnsupportedTarget, IoFailure.
core::Result<LinkJob> elfLinkJob(const LinkPlan& plan, OutputFormat format);

/// A static program that starts at `entry`. What is exported stays in it even where its own code
/// does not need it.
core::Result<LinkJob> programLinkJob(const LinkPlan& plan, const std::string& entry);

} // namespace tenon::compiler
