/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs and outputs of an executor as JSON text. */
#ifndef TENON_RUNTIME_DESCRIBE_H
#define TENON_RUNTIME_DESCRIBE_H

#include "../common/args.h"
#include "../common/bytes.h"

/** Collects {"inputs":[{"name","dtype","shape"}],"outputs":[...]}; inputs first. */
typedef struct
{
    tenon_writer text;
    bool has_items;
    bool in_outputs;
} tenon_describer;

tenon_describer tenon_describer_new(void);
void tenon_describe_input(tenon_describer* describer, const char* name, const DLTensor* tensor);
void tenon_describe_output(tenon_describer* describer, const char* name, const DLTensor* tensor);
/** Returns the text as a string and frees it. */
int tenon_describer_return(tenon_describer* describer, tenon_result result);

#endif
