/* SPDX-License-Identifier: MIT-0 */
/* The line to the host: the first UART of Arm's MPS2 and MPS3 boards (CMSDK APB UART). A board of
 * another kind has these three functions of its own. For one source file of a program. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#ifndef UART_ADDRESS
#define UART_ADDRESS 0x40004000u
#endif
#ifndef UART_DIVIDER
#define UART_DIVIDER 217u /* 115200 baud of 25 MHz */
#endif

typedef struct
{
    volatile uint32_t data;
    volatile uint32_t state; /* bit 0: cannot send now; bit 1: a byte has come */
    volatile uint32_t control;
    volatile uint32_t interrupts;
    volatile uint32_t divider;
} uart;

static uart* const line = (uart*)UART_ADDRESS;

static void transport_begin(void)
{
    line->divider = UART_DIVIDER;
    line->control = 3; /* send and receive */
}

/* Waits for at least one byte; 0 when the line has ended, which a UART never does. */
static size_t transport_read(uint8_t* bytes, size_t most)
{
    size_t count = 0;
    while (count == 0 || (count < most && (line->state & 2u)))
        if (line->state & 2u) bytes[count++] = (uint8_t)line->data;
    return count;
}

static void transport_write(const uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        while (line->state & 1u) {}
        line->data = bytes[i];
    }
}

#endif
