/* SPDX-License-Identifier: Apache-2.0 */
/* The VM executor as a module: inputs and outputs around a machine. */
#ifndef TENON_RUNTIME_VM_EXECUTOR_H
#define TENON_RUNTIME_VM_EXECUTOR_H

#include "../../common/object.h"
#include "../io_methods.h"
#include "machine.h"

typedef struct
{
    tenon_module base;
    tenon_module* root; /* the executable; keeps the program and the library; owned reference */
    const vm_program* program;
    vm_machine machine;
    tenon_array** inputs; /* owned copies of what was set; NULL until then */
    DLTensor* given;      /* what a run reads: an own copy, or memory lent by the caller */
    bool* is_given;
    bool has_run;
} vm_executor;

/** Asks `root` for its table of kernels; `program` lives as long as `root`. */
int vm_executor_new(tenon_module* root, const vm_program* program, tenon_module** out);
/** Checks the inputs and runs; the outputs stay readable until the next run. */
int vm_executor_run(vm_executor* self);
/** -1 unless the tensor has the type and the known sizes of `value`. */
int vm_value_check(const vm_value* value, const DLTensor* tensor);

extern const tenon_executor_type vm_executor_type;

#endif
