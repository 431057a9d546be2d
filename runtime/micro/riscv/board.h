/* SPDX-License-Identifier: MIT-0 */
/* What a RISC-V core says of itself, for who compares measurements: its instructions, the clock of
 * its counter. Boards whose flash waits add their wait states as another word. For one source file
 * of a program. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#ifndef TICK_PICOSECONDS
#define TICK_PICOSECONDS 1000
#endif

/* Writes ` name=` and the number; the end of the text. */
static char* board_word(char* to, const char* name, uint32_t value, uint32_t base)
{
    char digits[10];
    uint32_t count = 0;
    while (*name) *to++ = *name++;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value > 0);
    while (count > 0) *to++ = digits[--count];
    *to = 0;
    return to;
}

static const char* board_text(void)
{
    static char text[96];
    uint32_t misa;
    __asm volatile(".option arch, +zicsr\n\tcsrr %0, misa" : "=r"(misa));
    char* end = board_word(text, "misa=", misa, 16);
    board_word(end, " clock_hz=", (uint32_t)(1000000000000u / TICK_PICOSECONDS), 10);
    return text;
}

#endif
