/* SPDX-License-Identifier: MIT-0 */
/* A model as a program that a debugger or emulator feeds: it reads inputs from the file `request`,
 * writes `output`, and counts what inferences take in `times`. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdint.h>

typedef struct
{
    void* bytes;
    uint32_t size;
} program_tensor;

/* What a generated main.c says of its model. */
extern program_tensor program_inputs[];
extern const uint32_t program_input_count;
extern program_tensor program_outputs[];
extern const uint32_t program_output_count;
extern uint64_t program_marks[]; /* one per call, and one for the end */
extern const uint32_t program_mark_count;
extern const char* program_faults[]; /* what a result above 0 means, from 1 on */

int32_t program_prepare(void); /* before anything else; 0 on success */
int32_t program_infer(void);
uint32_t program_workspace_bytes(void); /* in use at the peak of an inference */

/* Before call `index` and behind the last one: notes the instant while somebody profiles. */
void program_mark(uint32_t index);

#endif
