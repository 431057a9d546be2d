/* SPDX-License-Identifier: MIT-0 */
/* Files and text of this computer, as the board's header of the same name has them by way of the
 * debugger. */
#ifndef SEMIHOST_H
#define SEMIHOST_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static inline void semihost_write(const char* text) { fputs(text, stderr); }

/* Mode of fopen's: 1 is "rb", 5 is "wb". The handle, or -1. */
static inline int32_t semihost_open(const char* path, uint32_t mode)
{
    return open(path, mode == 1 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0644);
}

static inline void semihost_close(int32_t file) { close(file); }

/* 0 when all bytes were moved. */
static inline int32_t semihost_read(int32_t file, void* bytes, uint32_t size)
{
    for (uint32_t done = 0; done < size;) {
        const ssize_t got = read(file, (uint8_t*)bytes + done, size - done);
        if (got <= 0) return (int32_t)(size - done);
        done += (uint32_t)got;
    }
    return 0;
}

static inline int32_t semihost_write_to(int32_t file, const void* bytes, uint32_t size)
{
    for (uint32_t done = 0; done < size;) {
        const ssize_t put = write(file, (const uint8_t*)bytes + done, size - done);
        if (put <= 0) return (int32_t)(size - done);
        done += (uint32_t)put;
    }
    return 0;
}

#endif
