/* SPDX-License-Identifier: Apache-2.0 */
/* What a run may take grows with what it is given: a small file whose loops or sizes grow without
 * end shall not take the machine's memory, and a model of honest size is never near the limit. */
#include "memory_limit.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum
{
    kGrowth = 256,
    kLeastLimit = 256 << 20 /* bytes */
};

/* A number with K, M or G behind it and nothing else, as TENON_MEMORY_LIMIT has it; 0 when it is
 * none. */
static size_t parsed_limit(const char* text)
{
    char* end = NULL;
    const double number = text ? strtod(text, &end) : 0;
    if (!(number > 0)) return 0;
    const double unit = *end == 'K'   ? 1024.0
                        : *end == 'M' ? 1024.0 * 1024
                        : *end == 'G' ? 1024.0 * 1024 * 1024
                                      : 1;
    if (*end && end[unit > 1 ? 1 : 0]) return 0;
    const double bytes = number * unit;
    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX / 2;
}

size_t tenon_memory_limit(size_t given)
{
    const size_t asked = parsed_limit(getenv("TENON_MEMORY_LIMIT"));
    if (asked) return asked;
    size_t limit = given < SIZE_MAX / kGrowth ? given * kGrowth : SIZE_MAX;
    if (limit < kLeastLimit) limit = kLeastLimit;
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return limit;
    const size_t half = (size_t)pages * ((size_t)page_bytes / 2);
    return limit < half ? limit : half;
}
