/* SPDX-License-Identifier: MIT-0 */
/* The line to the host: a 16550 UART, as QEMU's `virt` and many boards have it. A board of another
 * kind has these three functions of its own. For one source file of a program. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#ifndef UART_ADDRESS
#define UART_ADDRESS 0x10000000u
#endif
#ifndef UART_DIVIDER
#define UART_DIVIDER 2u /* 115200 baud of 3.6864 MHz, which is divided by 16 before */
#endif

enum
{
    kUartData = 0,
    kUartFifo = 2,
    kUartFormat = 3,
    kUartState = 5 /* bit 0: a byte has come; bit 5: can send */
};

static volatile uint8_t* const line = (volatile uint8_t*)UART_ADDRESS;

static void transport_begin(void)
{
    line[kUartFormat] = 0x83; /* the divider; then eight bits without parity */
    line[0] = (uint8_t)(UART_DIVIDER & 0xFFu);
    line[1] = (uint8_t)(UART_DIVIDER >> 8 & 0xFFu);
    line[kUartFormat] = 3;
    line[kUartFifo] = 1;
}

/* Waits for at least one byte; 0 when the line has ended, which a UART never does. */
static size_t transport_read(uint8_t* bytes, size_t most)
{
    size_t count = 0;
    while (count == 0 || (count < most && (line[kUartState] & 1u)))
        if (line[kUartState] & 1u) bytes[count++] = line[kUartData];
    return count;
}

static void transport_write(const uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        while (!(line[kUartState] & 0x20u)) {}
        line[kUartData] = bytes[i];
    }
}

#endif
