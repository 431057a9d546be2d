/* SPDX-License-Identifier: Apache-2.0 */
/* How fast this machine computes, reads and starts threads, as text for the workstation to read. */
#ifndef TENON_RUNTIME_RPC_MEASURE_H
#define TENON_RUNTIME_RPC_MEASURE_H

#include "../common/bytes.h"

/** Lines "name value": clock_ghz, and figures per cycle by the names that -machine of a target has;
 * what the system does not tell of its caches is left out. Takes about two seconds. Terminated. */
void tenon_measure(tenon_writer* out);

#endif
