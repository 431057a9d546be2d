/* SPDX-License-Identifier: MIT-0 */
/* A core that stopped says why over the line, and starts anew. */
#include <stdint.h>

#include "served.h"

void Reset_Handler(void);

static char* put(char* to, const char* name, uint32_t value)
{
    while (*name) *to++ = *name++;
    for (int shift = 28; shift >= 0; shift -= 4) *to++ = "0123456789abcdef"[value >> shift & 15u];
    *to = 0;
    return to;
}

void fault_report(uint32_t cause, uint32_t at, uint32_t address, uint32_t stack);
void fault_report(uint32_t cause, uint32_t at, uint32_t address, uint32_t stack)
{
    static char text[96];
    char* end = put(text, "fault mcause=", cause);
    end = put(end, " addr=", address);
    end = put(end, " pc=", at);
    put(end, " sp=", stack);
    serve_say(text);
    Reset_Handler();
}
