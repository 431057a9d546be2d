/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a session that cannot end itself: crashes, a silent link, time. */
#ifndef TENON_RUNTIME_RPC_GUARD_H
#define TENON_RUNTIME_RPC_GUARD_H

/** Fatal signals first send an Exception packet that names the signal and the running call, then
 * take their course. One session per process. */
void tenon_guard_crashes(int fd);

/** Ends the process when the other side hangs up, even in the middle of a call, or after
 * `timeout_s` seconds (0: never). */
int tenon_guard_link(int timeout_s);

/** Limits that hold for whatever the session loads: no core files, few open files, files of at most
 * `file_mib` MiB (0: no limit) and `memory_mib` MiB of data (0: no limit, -1: as much as the
 * machine has). */
void tenon_guard_limits(int memory_mib, int file_mib);

#endif
