/* SPDX-License-Identifier: Apache-2.0 */
/* What the code of a session cannot do. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/error.h"

#if defined(__linux__)
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Root's session needs nothing of root but to read files that others may not. */
static void drop_capabilities(bool keeps_reading)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    memset(sets, 0, sizeof sets);
    const uint32_t reading = 1u << CAP_DAC_READ_SEARCH;
    if (syscall(SYS_capget, &header, sets) != 0) return;
    for (int i = 0; i < 2; ++i) {
        sets[i].effective &= i == 0 && keeps_reading ? reading : 0;
        sets[i].permitted = sets[i].effective;
        sets[i].inheritable = 0;
    }
    syscall(SYS_capset, &header, sets);
}

tenon_sandbox_abilities tenon_sandbox_look(void)
{
    return (tenon_sandbox_abilities){.has_filter = tenon_filter_exists(),
                                     .landlock = tenon_landlock_version()};
}

int tenon_sandbox_enter(tenon_sandbox_abilities abilities, const tenon_sandbox_openings* openings)
{
    drop_capabilities(openings->readable != NULL);
    /* Old kernels and emulators may not know it; then there is no filter either. */
    int status = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (status != 0 && (abilities.has_filter || abilities.landlock))
        return tenon_fail("privileges cannot be given up: %s", strerror(errno));
    if (abilities.landlock && tenon_landlock_enter(abilities.landlock, openings) != 0) return -1;
    return abilities.has_filter ? tenon_filter_enter() : 0;
}

#else

tenon_sandbox_abilities tenon_sandbox_look(void) { return (tenon_sandbox_abilities){0}; }

int tenon_sandbox_enter(tenon_sandbox_abilities abilities, const tenon_sandbox_openings* openings)
{
    (void)abilities;
    (void)openings;
    return 0;
}

#endif

const char* tenon_sandbox_text(tenon_sandbox_abilities abilities)
{
    static char text[64];
    int at = 0;
    text[0] = 0;
    if (abilities.has_filter) at = snprintf(text, sizeof text, "seccomp");
    if (abilities.landlock)
        snprintf(text + at, sizeof text - (size_t)at, "%sLandlock %d", at ? " and " : "",
                 abilities.landlock);
    return text;
}
