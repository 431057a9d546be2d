/* SPDX-License-Identifier: Apache-2.0 */
/* A small pull reader of JSON: the caller says what it expects; bounds and depth are checked. */
#ifndef TENON_RUNTIME_JSON_H
#define TENON_RUNTIME_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

/** Borrows the text. After the first failure everything yields nothing, so loops end. */
typedef struct
{
    const char* start;
    const char* at;
    const char* end;
    tenon_arena* arena; /* owns decoded strings */
    bool failed;        /* the reason is in the last error */
} tenon_json;

tenon_json tenon_json_of(const char* text, size_t length, tenon_arena* arena);
/** Records `what` with the position; always false. */
bool tenon_json_fail(tenon_json* json, const char* what);

/** `{`, then next_key until it yields NULL; each key's value must be consumed. */
void tenon_json_open_object(tenon_json* json);
const char* tenon_json_next_key(tenon_json* json);
/** `[`, then next_item until it yields false. */
void tenon_json_open_array(tenon_json* json);
bool tenon_json_next_item(tenon_json* json);

/** A string without embedded NUL, decoded into the arena; NULL on failure. */
const char* tenon_json_string(tenon_json* json);
int64_t tenon_json_integer(tenon_json* json);
/** Passes over one value of any kind. */
void tenon_json_skip(tenon_json* json);
/** True when nothing but blanks is left. */
bool tenon_json_at_end(tenon_json* json);

#endif
