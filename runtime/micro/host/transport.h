/* SPDX-License-Identifier: MIT-0 */
/* The line to the host as standard input and output, as the board's header of the same name has it
 * by UART. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static void transport_begin(void) {}

/* 0 when the line has ended. */
static size_t transport_read(uint8_t* bytes, size_t most)
{
    const ssize_t got = read(0, bytes, most);
    return got > 0 ? (size_t)got : 0;
}

static void transport_write(const uint8_t* bytes, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(1, bytes, size);
        if (put <= 0) exit(1);
        bytes += put;
        size -= (size_t)put;
    }
}

#endif
