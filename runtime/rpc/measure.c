/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of nothing but one thing, in rounds so short that other load disturbs few of them; the rate
 * that a tenth of the rounds reach counts. */
#define _GNU_SOURCE
#include "measure.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/clock.h"
#include "../common/thread_pool.h"
#include "../include/tenon/c_backend_api.h"
#include "measure_loops.h"

enum
{
    kRounds = 40,
    kLevels = 3,
    kLine = 64
};

static const int64_t kRoundNs = 400000;
static const size_t kLargest = (size_t)64 << 20; /* bytes that no cache here holds, or nearly */

static int ascending(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Units per nanosecond of `loop(steps)`, which does `units` in each step. */
static double good_rate(void (*loop)(void* data, long steps), void* data, double units)
{
    double rates[kRounds];
    long steps = 1;
    int64_t took = 0;
    while (took < kRoundNs && steps < (1L << 30)) {
        const int64_t start = tenon_clock_ns();
        loop(data, steps);
        took = tenon_clock_ns() - start;
        if (took < kRoundNs) steps *= 2;
    }
    for (int i = 0; i < kRounds; ++i) {
        const int64_t start = tenon_clock_ns();
        loop(data, steps);
        const int64_t ns = tenon_clock_ns() - start;
        rates[i] = units * (double)steps / (double)(ns > 0 ? ns : 1);
    }
    qsort(rates, kRounds, sizeof rates[0], ascending);
    return rates[kRounds * 9 / 10];
}

/* Each addition waits for the one before: one per cycle on every processor there is. */
static void add_in_a_row(void* data, long steps)
{
    volatile unsigned long* place = data;
    unsigned long sum = *place, by = *place | 1;
    for (long i = 0; i < steps; ++i)
        for (int k = 0; k < 16; ++k) {
            sum += by;
            __asm__ volatile("" : "+r"(sum), "+r"(by));
        }
    *place = sum;
}

/* Bytes of the data caches of the first processor by level, 0 where the system does not tell. */
static void read_caches(size_t sizes[kLevels])
{
    memset(sizes, 0, kLevels * sizeof sizes[0]);
    for (int index = 0; index < 8; ++index) {
        static const char* const kNames[] = {"level", "size", "type"};
        char texts[3][32] = {"", "", ""};
        for (int i = 0; i < 3; ++i) {
            char path[128];
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
                     kNames[i]);
            FILE* file = fopen(path, "re");
            if (!file) return;
            if (!fgets(texts[i], sizeof texts[i], file)) texts[i][0] = 0;
            fclose(file);
        }
        const int level = atoi(texts[0]);
        if (level < 1 || level > kLevels || strncmp(texts[2], "Instruction", 11) == 0) continue;
        char* unit;
        const unsigned long size = strtoul(texts[1], &unit, 10);
        sizes[level - 1] = size * (*unit == 'M' ? 1UL << 20 : *unit == 'K' ? 1UL << 10 : 1UL);
    }
}

static void put_figure(tenon_writer* out, const char* name, double value)
{
    char line[96];
    const int size = snprintf(line, sizeof line, "%s %.17g\n", name, value);
    if (size > 0) tenon_write_bytes(out, line, (size_t)size);
}

/* Of a block that a level holds, and the one before does not. */
static void put_reading(tenon_writer* out, const char* name, size_t bytes, double ghz)
{
    tenon_block block = {.bytes = bytes / kTenonReadStep * kTenonReadStep};
    if (posix_memalign(&block.data, kLine, block.bytes) != 0) return;
    memset(block.data, 1, block.bytes);
    const double per_ns = good_rate(tenon_read_block, &block, (double)kTenonReadStep);
    put_figure(out, name, per_ns / ghz);
    free(block.data);
}

static void put_caches(tenon_writer* out, double ghz)
{
    static const char* const kSizes[] = {"l1_bytes", "l2_bytes", "l3_bytes"};
    static const char* const kRates[] = {"l1_bytes_per_cycle", "l2_bytes_per_cycle",
                                         "l3_bytes_per_cycle"};
    size_t sizes[kLevels], last = 0;
    read_caches(sizes);
    for (int level = 0; level < kLevels; ++level) {
        if (sizes[level] == 0) continue;
        put_figure(out, kSizes[level], (double)sizes[level]);
        const size_t block = last > 0 ? 2 * last : sizes[level] / 2;
        if (block <= sizes[level] / 2) put_reading(out, kRates[level], block, ghz);
        last = sizes[level];
    }
    put_reading(out, "memory_bytes_per_cycle", 4 * last > kLargest ? 4 * last : kLargest, ghz);
}

/* Each thread has to be there: else the caller would do the work of one that is slow to start. */
static int meet(int task, TVMParallelGroupEnv* group, void* data)
{
    (void)data;
    return TVMBackendParallelBarrier(task, group);
}

static void start_threads(void* data, long steps)
{
    (void)data;
    for (long i = 0; i < steps; ++i) TVMBackendParallelLaunch(meet, NULL, 0);
}

void tenon_measure(tenon_writer* out)
{
    unsigned long place = 1;
    const double ghz = good_rate(add_in_a_row, &place, 16);
    put_figure(out, "clock_ghz", ghz);
    tenon_sums sums = {.seed = 1};
    put_figure(out, "float_macs",
               good_rate(tenon_multiply_add, &sums, tenon_macs_per_step()) / ghz);
    put_figure(out, "byte_macs",
               good_rate(tenon_multiply_add_bytes, &sums, tenon_byte_macs_per_step()) / ghz);
    put_caches(out, ghz);
    if (tenon_threads_count() > 1)
        put_figure(out, "fork_cycles", ghz / good_rate(start_threads, NULL, 1));
    tenon_write_u8(out, 0);
}
