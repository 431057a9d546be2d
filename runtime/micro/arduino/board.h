/* SPDX-License-Identifier: MIT-0 */
/* What the board says of itself, and how much of its few KB the server takes. For one source file
 * of a program. */
#ifndef BOARD_H
#define BOARD_H

#ifndef PACKET_BYTES
#define PACKET_BYTES 256
#endif
#ifndef ARRAY_BYTES
#define ARRAY_BYTES 256
#endif
#ifndef STACK_BYTES
#define STACK_BYTES 768
#endif

#define BOARD_DIGITS(number) #number
#define BOARD_TEXT(number) BOARD_DIGITS(number)

static const char* board_text(void)
{
#if defined(F_CPU)
    return "clock_hz=" BOARD_TEXT(F_CPU);
#else
    return "";
#endif
}

#endif
