/* SPDX-License-Identifier: Apache-2.0 */
/* A small pull reader of JSON. */
#include "json.h"

#include <string.h>

#include "error.h"

enum
{
    kMaxDepth = 64
};

tenon_json tenon_json_of(const char* text, size_t length, tenon_arena* arena)
{
    tenon_json json = {text, text, text + length, arena, false};
    return json;
}

bool tenon_json_fail(tenon_json* json, const char* what)
{
    if (!json->failed) tenon_fail("%s at byte %zu", what, (size_t)(json->at - json->start));
    json->failed = true;
    return false;
}

/* The next character that is no blank, or 0. */
static char peek(tenon_json* json)
{
    while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at) ++json->at;
    return json->failed || json->at == json->end ? 0 : *json->at;
}

static bool accept(tenon_json* json, char wanted)
{
    if (peek(json) != wanted || wanted == 0) return false;
    ++json->at;
    return true;
}

static void expect(tenon_json* json, char wanted)
{
    char what[] = "expected ` `";
    what[10] = wanted;
    if (!accept(json, wanted)) tenon_json_fail(json, what);
}

void tenon_json_open_object(tenon_json* json) { expect(json, '{'); }
void tenon_json_open_array(tenon_json* json) { expect(json, '['); }

/* True when another member follows: right after the opening bracket, or after a comma. */
static bool next_member(tenon_json* json, char open, char close)
{
    if (json->failed) return false;
    const char* before = json->at;
    while (before > json->start && strchr(" \t\r\n", before[-1])) --before;
    bool is_first = before > json->start && before[-1] == open;
    if (accept(json, close)) return false;
    if (!is_first && !accept(json, ',')) return tenon_json_fail(json, "expected `,` or a bracket");
    return true;
}

const char* tenon_json_next_key(tenon_json* json)
{
    if (!next_member(json, '{', '}')) return NULL;
    const char* key = tenon_json_string(json);
    expect(json, ':');
    return json->failed ? NULL : key;
}

bool tenon_json_next_item(tenon_json* json) { return next_member(json, '[', ']'); }

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Four hex digits of a \u escape as UTF-8; surrogates are refused, names do not need them. */
static char* decode_unicode(tenon_json* json, char* out)
{
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
        int digit = json->at < json->end ? hex_digit(*json->at++) : -1;
        if (digit < 0) return tenon_json_fail(json, "bad \\u escape"), out;
        code = code * 16 + (unsigned)digit;
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        return tenon_json_fail(json, "unsupported \\u escape"), out;
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 63));
    } else {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 63));
        *out++ = (char)(0x80 | (code & 63));
    }
    return out;
}

static char* decode_escape(tenon_json* json, char* out)
{
    static const char kFrom[] = "\"\\/bfnrt";
    static const char kTo[] = "\"\\/\b\f\n\r\t";
    char c = json->at < json->end ? *json->at++ : 0;
    if (c == 'u') return decode_unicode(json, out);
    const char* found = c ? strchr(kFrom, c) : NULL;
    if (!found) return tenon_json_fail(json, "bad escape"), out;
    *out++ = kTo[found - kFrom];
    return out;
}

const char* tenon_json_string(tenon_json* json)
{
    if (!accept(json, '"')) {
        tenon_json_fail(json, "expected a string");
        return NULL;
    }
    const char* close = json->at;
    while (close < json->end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= json->end) {
        tenon_json_fail(json, "a string does not end");
        return NULL;
    }
    char* text = tenon_arena_alloc(json->arena, (size_t)(close - json->at) + 1, 1);
    char* out = text;
    if (!text) json->failed = true;
    while (!json->failed && json->at < close) {
        char c = *json->at++;
        if ((unsigned char)c < 0x20)
            tenon_json_fail(json, "a control character in a string");
        else if (c == '\\')
            out = decode_escape(json, out);
        else
            *out++ = c;
    }
    if (json->failed) return NULL;
    ++json->at;
    return text;
}

int64_t tenon_json_integer(tenon_json* json)
{
    bool is_negative = accept(json, '-');
    uint64_t value = 0;
    const char* start = json->at;
    char c = peek(json);
    if (json->at != start && is_negative) c = 0;
    start = json->at;
    for (; c >= '0' && c <= '9'; c = json->at < json->end ? *json->at : 0) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value) || value > INT64_MAX)
            return tenon_json_fail(json, "an integer is too large");
        ++json->at;
    }
    if (json->failed || json->at == start || c == '.' || c == 'e' || c == 'E')
        return tenon_json_fail(json, "expected an integer");
    return is_negative ? -(int64_t)value : (int64_t)value;
}

/* Numbers and the three words; only their extent matters. */
static void skip_scalar(tenon_json* json)
{
    const char* start = json->at;
    while (json->at < json->end && *json->at && strchr("+-.0123456789eEtrufalsn", *json->at))
        ++json->at;
    if (json->at == start) tenon_json_fail(json, "expected a value");
}

static void skip_at(tenon_json* json, int depth)
{
    char c = peek(json);
    if (depth > kMaxDepth) {
        tenon_json_fail(json, "nested too deeply");
    } else if (c == '{') {
        ++json->at;
        while (tenon_json_next_key(json)) skip_at(json, depth + 1);
    } else if (c == '[') {
        ++json->at;
        while (tenon_json_next_item(json)) skip_at(json, depth + 1);
    } else if (c == '"') {
        tenon_json_string(json);
    } else {
        skip_scalar(json);
    }
}

void tenon_json_skip(tenon_json* json) { skip_at(json, 0); }

bool tenon_json_at_end(tenon_json* json) { return peek(json) == 0 && json->at == json->end; }
