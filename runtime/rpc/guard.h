/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a session that cannot end itself: crashes, a silent link, time. */
#ifndef TENON_RUNTIME_RPC_GUARD_H
#define TENON_RUNTIME_RPC_GUARD_H

#include <stddef.h>

/** Fatal signals first send an Exception packet that names the signal and the running call, and
 * remove the session's folder, then take their course. `folder` is the session's buffer, "" while
 * there is no folder. One session per process. */
void tenon_guard_crashes(int fd, const char* folder);

/** Ends the process when the other side hangs up, even in the middle of a call, or after
 * `timeout_s` seconds (0: never). */
int tenon_guard_link(int timeout_s);

/** Limits that hold for whatever the session loads: no core files, few open files, and
 * `memory_mib` MiB of data (0: no limit). */
void tenon_guard_limits(size_t memory_mib);

#endif
