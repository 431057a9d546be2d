/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine is and how it feels, as text for the workstation to read. */
#ifndef TENON_RUNTIME_RPC_PROBE_H
#define TENON_RUNTIME_RPC_PROBE_H

#include "../common/bytes.h"

/** Sections "== name" and lines: machine, kernel, model, cores, cpuinfo, meminfo, disk of `folder`,
 * governor, frequency (kHz), temperature (thousandths of a degree), load. What the system does not
 * tell is left out. Terminated. */
void tenon_probe(tenon_writer* out, const char* folder, const char* abilities);

#endif
