/* SPDX-License-Identifier: MIT-0 */
/* The functions of common/error.h without printf, which would be larger than the executor. */
#include "../../common/error.h"
#include "../../include/tenon/c_backend_api.h"
#include "micro_graph.h"

static const char* s_text = "";

int tenon_fail(const char* format, ...)
{
    s_text = format;
    return -1;
}

int tenon_fail_within(const char* context)
{
    (void)context;
    return -1;
}

int32_t tenon_micro_fault(const char* text)
{
    s_text = text;
    return kTenonDividedByZero;
}

const char* tenon_micro_last_error(void) { return s_text; }
