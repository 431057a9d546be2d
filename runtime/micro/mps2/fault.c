/* SPDX-License-Identifier: MIT-0 */
/* A core that stopped says why over the line, and starts anew. */
#include <stdint.h>

#include "served.h"

static volatile const uint32_t* const status = (volatile const uint32_t*)0xE000ED28u; /* CFSR */
static volatile uint32_t* const reset = (volatile uint32_t*)0xE000ED0Cu;              /* AIRCR */

static char* put(char* to, const char* name, uint32_t value)
{
    while (*name) *to++ = *name++;
    for (int shift = 28; shift >= 0; shift -= 4) *to++ = "0123456789abcdef"[value >> shift & 15u];
    *to = 0;
    return to;
}

/* `saved` is where the core left r0 to r3, r12, lr, pc and psr. */
void fault_report(const uint32_t* saved);
void fault_report(const uint32_t* saved)
{
    static char text[128];
    const uint32_t why = status[0];
    char* end = put(text, "fault cfsr=", why);
    end = put(end, " hfsr=", status[1]);
    end = put(end, " addr=", why & 0x80u ? status[3] : status[4]); /* MMFAR where it is valid */
    /* What the core could not save, nobody can read. */
    const int is_saved = (why & 0x1010u) == 0;
    end = put(end, " pc=", is_saved ? saved[6] : 0);
    end = put(end, " lr=", is_saved ? saved[5] : 0);
    put(end, " sp=", (uint32_t)(uintptr_t)saved);
    serve_say(text);
    *reset = 0x05FA0004u;
    for (;;) {}
}
