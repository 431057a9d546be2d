/* SPDX-License-Identifier: MIT-0 */
/* The line to the host as the sketch has it: two functions around Serial. For one source file of a
 * program. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

/* What has come, `most` bytes at most; 0 when nothing has. */
size_t arduino_read(uint8_t* bytes, size_t most);
void arduino_write(const uint8_t* bytes, size_t size);

static void transport_begin(void) {}

static size_t transport_read(uint8_t* bytes, size_t most) { return arduino_read(bytes, most); }

static void transport_write(const uint8_t* bytes, size_t size) { arduino_write(bytes, size); }

#endif
