/* SPDX-License-Identifier: Apache-2.0 */
/* The last error of each thread. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../include/tenon/c_runtime_api.h"

enum
{
    kTextCapacity = 2048
};

static _Thread_local char t_text[kTextCapacity];

int tenon_fail(const char* format, ...)
{
    char text[kTextCapacity]; /* arguments may point into t_text */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(t_text, text, sizeof text);
    return -1;
}

int tenon_fail_within(const char* context) { return tenon_fail("%s: %s", context, t_text); }

void TVMAPISetLastError(const char* msg) { tenon_fail("%s", msg ? msg : ""); }

const char* TVMGetLastError(void) { return t_text; }
