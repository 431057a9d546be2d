/* SPDX-License-Identifier: MIT-0 */
/* What a generated served.c says of the model to serve.c, beside what main.c says in program.h. */
#ifndef SERVED_H
#define SERVED_H

#include "../rpc/micro_subject.h"

extern const char served_model[];
extern const char served_image[]; /* differs from image to image */
extern const micro_port served_inputs[];
extern const micro_port served_outputs[];
/* Kernels that can be called alone. */
const tenon_micro_function* served_kernels(uint32_t* count);
/* How often each call ran; as many as program_marks, less the one for the end. */
extern uint32_t served_call_counts[];

/* Makes everything ready; what program_prepare() returns. */
int32_t serve_begin(void);
/* Takes what has come over the line and answers it; 0 when nothing came. */
int32_t serve_some(void);
/* A line of text for the client's log. */
void serve_say(const char* text);

#endif
