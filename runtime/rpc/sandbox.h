/* SPDX-License-Identifier: Apache-2.0 */
/* What the code of a session cannot do, as far as the kernel can hold it. */
#ifndef TENON_RUNTIME_RPC_SANDBOX_H
#define TENON_RUNTIME_RPC_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/** What this kernel can hold a session to. */
typedef struct
{
    bool has_filter; /* seccomp: no new processes, sockets and ptrace */
    int landlock;    /* version of Landlock: files out of reach; 0: none */
} tenon_sandbox_abilities;

tenon_sandbox_abilities tenon_sandbox_look(void);
/** "seccomp and Landlock 7"; "" for nothing. */
const char* tenon_sandbox_text(tenon_sandbox_abilities abilities);

/** What stays open to the session. */
typedef struct
{
    const char* folder;   /* its own: files are made, written and removed there; "": none */
    const char* readable; /* a file or folder it may read beside that; NULL: none */
} tenon_sandbox_openings;

/** For the rest of this process and what it starts: no new privileges, and all that `abilities`
 * says. Threads that run already would stay as they were: call it before there are any. -1 with an
 * error when something that the kernel has does not hold. */
int tenon_sandbox_enter(tenon_sandbox_abilities abilities, const tenon_sandbox_openings* openings);

/** The parts. */
bool tenon_filter_exists(void);
int tenon_filter_enter(void);
int tenon_landlock_version(void);
int tenon_landlock_enter(int version, const tenon_sandbox_openings* openings);

#endif
