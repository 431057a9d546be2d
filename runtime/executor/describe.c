/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs and outputs of an executor as JSON text. */
#include "describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../common/dtype.h"
#include "../common/error.h"

enum
{
    kMaximum = 64 * 1024 * 1024
};

static void put(tenon_describer* describer, const char* text)
{
    tenon_write_bytes(&describer->text, text, strlen(text));
}

static void put_quoted(tenon_describer* describer, const char* text)
{
    put(describer, "\"");
    for (; *text; ++text) {
        char escaped[8];
        if (*text == '"' || *text == '\\')
            snprintf(escaped, sizeof escaped, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            snprintf(escaped, sizeof escaped, "\\u%04x", *text);
        else
            snprintf(escaped, sizeof escaped, "%c", *text);
        put(describer, escaped);
    }
    put(describer, "\"");
}

static void put_tensor(tenon_describer* describer, const char* name, const DLTensor* tensor)
{
    char text[32];
    put(describer, describer->has_items ? ",{\"name\":" : "{\"name\":");
    describer->has_items = true;
    put_quoted(describer, name);
    tenon_dtype_print(tensor->dtype, text);
    put(describer, ",\"dtype\":");
    put_quoted(describer, text);
    put(describer, ",\"shape\":[");
    for (int32_t i = 0; i < tensor->ndim; ++i) {
        snprintf(text, sizeof text, "%s%" PRId64, i ? "," : "", tensor->shape[i]);
        put(describer, text);
    }
    put(describer, "]}");
}

static void start_outputs(tenon_describer* describer)
{
    if (describer->in_outputs) return;
    put(describer, "],\"outputs\":[");
    describer->in_outputs = true;
    describer->has_items = false;
}

tenon_describer tenon_describer_new(void)
{
    tenon_describer describer = {tenon_writer_of(kMaximum), false, false};
    put(&describer, "{\"inputs\":[");
    return describer;
}

void tenon_describe_input(tenon_describer* describer, const char* name, const DLTensor* tensor)
{
    put_tensor(describer, name, tensor);
}

void tenon_describe_output(tenon_describer* describer, const char* name, const DLTensor* tensor)
{
    start_outputs(describer);
    put_tensor(describer, name, tensor);
}

int tenon_describer_return(tenon_describer* describer, tenon_result result)
{
    start_outputs(describer);
    tenon_write_bytes(&describer->text, "]}", 3); /* with the terminator */
    int status = describer->text.failed
                     ? tenon_fail("out of memory for a description")
                     : tenon_return_str(result, (const char*)describer->text.data);
    tenon_writer_free(&describer->text);
    return status;
}
