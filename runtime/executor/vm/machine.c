/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction loop of the VM. */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

#include "../../common/clock.h"
#include "../../common/dtype.h"
#include "../../common/error.h"
#include "../../common/object.h"
#include "../../include/tenon/c_backend_api.h"
#include "../profile.h"

int vm_machine_init(vm_machine* machine, const vm_program* program, const tenon_vm_table* table)
{
    memset(machine, 0, sizeof *machine);
    machine->program = program;
    machine->table = table;
    machine->tensors = calloc(program->tensor_count + 1, sizeof *machine->tensors);
    machine->scalars = calloc(program->scalar_count + 1, sizeof *machine->scalars);
    machine->lists = calloc(program->list_count + 1, sizeof *machine->lists);
    machine->pointers = calloc(program->widest_call + 1, sizeof *machine->pointers);
    machine->sizes = calloc(program->widest_call + 1, sizeof *machine->sizes);
    machine->arena = tenon_aligned_alloc(program->arena_bytes + 1);
    if (!machine->arena)
        return tenon_fail("out of memory for an arena of %zu bytes", program->arena_bytes);
    if (!machine->tensors || !machine->scalars || !machine->lists || !machine->pointers ||
        !machine->sizes)
        return tenon_fail("out of memory for an executor");
    return 0;
}

static void clear_registers(vm_machine* machine)
{
    const vm_program* program = machine->program;
    for (size_t i = 0; machine->tensors && i < program->tensor_count; ++i)
        vm_tensor_clear(machine, &machine->tensors[i]);
    for (size_t i = 0; machine->lists && i < program->list_count; ++i)
        vm_list_clear(machine, &machine->lists[i]);
}

void vm_machine_free(vm_machine* machine)
{
    if (!machine->program) return;
    clear_registers(machine);
    vm_pool_free(&machine->pool);
    free(machine->arena);
    free(machine->tensors);
    free(machine->scalars);
    free(machine->lists);
    free(machine->pointers);
    free(machine->sizes);
}

void vm_machine_lend(vm_machine* machine, size_t input, const DLTensor* tensor)
{
    vm_tensor* to = &machine->tensors[machine->program->inputs[input].reg];
    vm_tensor_clear(machine, to);
    to->data = tenon_tensor_data(tensor);
    to->dtype = tensor->dtype;
    to->rank = tensor->ndim;
    if (to->rank) memcpy(to->shape, tensor->shape, (size_t)to->rank * sizeof *to->shape);
}

/* Gathers the dimensions that scalar registers hold. */
static const int64_t* dimensions(const vm_machine* machine, const int64_t* words, int64_t* out)
{
    for (int64_t i = 0; i < words[0]; ++i) out[i] = machine->scalars[words[1 + i]];
    return out;
}

static int use_constant(vm_machine* machine, const int64_t* words)
{
    const vm_value* constant = &machine->program->constants[words[2]];
    vm_tensor* to = &machine->tensors[words[1]];
    vm_tensor_clear(machine, to);
    to->data = (char*)(uintptr_t)machine->table->constants[words[2]];
    to->dtype = constant->dtype;
    to->rank = constant->rank;
    if (to->rank) memcpy(to->shape, constant->shape, (size_t)to->rank * sizeof *to->shape);
    return 0;
}

static int allocate(vm_machine* machine, const int64_t* words)
{
    int64_t shape[kTenonVmMaxRank];
    return vm_tensor_allocate(machine, &machine->tensors[words[1]], vm_dtype_of(words[2]),
                              (int32_t)words[3], dimensions(machine, words + 3, shape));
}

static int place(vm_machine* machine, const int64_t* words)
{
    int64_t shape[kTenonVmMaxRank];
    const vm_place at = {.offset = (size_t)words[3],
                         .room = (size_t)words[4],
                         .dtype = vm_dtype_of(words[2]),
                         .rank = (int32_t)words[5],
                         .shape = dimensions(machine, words + 5, shape)};
    return vm_tensor_place(machine, &machine->tensors[words[1]], &at);
}

static int view(vm_machine* machine, const int64_t* words)
{
    int64_t shape[kTenonVmMaxRank];
    const int32_t rank = (int32_t)words[3];
    const vm_tensor* from = &machine->tensors[words[2]];
    dimensions(machine, words + 3, shape);
    size_t bytes;
    if (!from->data) return tenon_fail("a value is read before it is computed");
    if (!tenon_tensor_bytes(shape, rank, from->dtype, &bytes) || bytes != vm_tensor_bytes(from)) {
        char before[256];
        char after[256];
        vm_shape_print(from->shape, from->rank, before, sizeof before);
        vm_shape_print(shape, rank, after, sizeof after);
        return tenon_fail("a tensor of shape %s cannot be reshaped to %s", before, after);
    }
    vm_tensor* to = &machine->tensors[words[1]];
    vm_tensor_assign(machine, to, from);
    to->rank = rank;
    if (rank) memcpy(to->shape, shape, (size_t)rank * sizeof *shape);
    return 0;
}

/* Words: a count of tensor registers and the registers. */
static int gather_pointers(vm_machine* machine, const int64_t* words)
{
    for (int64_t i = 0; i < words[0]; ++i) {
        machine->pointers[i] = machine->tensors[words[1 + i]].data;
        if (!machine->pointers[i]) return tenon_fail("a value is read before it is computed");
    }
    return 0;
}

static int checked(int32_t status, int64_t call)
{
    if (status == 0) return 0;
    if (status == kTenonDividedByZero) return tenon_fail("integer division by zero");
    return tenon_fail("kernel call %lld failed: out of memory, or of threads, for it",
                      (long long)call);
}

static int call(vm_machine* machine, const int64_t* words)
{
    if (gather_pointers(machine, words + 3) != 0) return -1;
    dimensions(machine, words + 4 + words[3], machine->sizes);
    tenon_profile_enter((int32_t)words[2]);
    const int64_t start = machine->call_ns ? tenon_clock_ns() : 0;
    const int32_t status = machine->table->kernels[words[1]](machine->pointers, machine->sizes);
    if (machine->call_ns) machine->call_ns[words[2]] += tenon_clock_ns() - start;
    return checked(status, words[2]);
}

static void step_over(vm_machine* machine, int64_t count, const int64_t* item_bytes, int64_t items)
{
    for (int64_t i = 0; i < count; ++i)
        machine->pointers[i] = (char*)machine->pointers[i] + items * item_bytes[i];
}

/* So many chunks of `step` items, the first of which is `item`; the last one ends with the items.
 */
static int32_t run_chunks(vm_machine* machine, const vm_each* each, int64_t kernel, int64_t item,
                          int64_t chunks, int64_t extra)
{
    const int64_t step = each->steps[kernel];
    for (int64_t i = 0; i < chunks; ++i) {
        const int64_t back = i == chunks - 1 ? extra : 0;
        if (back > 0) step_over(machine, each->tensors, each->item_bytes, -back);
        machine->sizes[each->sizes] = item + i * step - back;
        const int32_t status =
            machine->table->kernels[each->kernel[kernel]](machine->pointers, machine->sizes);
        if (status != 0) return status;
        step_over(machine, each->tensors, each->item_bytes, step);
    }
    return 0;
}

static int32_t run_items(vm_machine* machine, const vm_each* each, int64_t items)
{
    int64_t done = 0;
    for (int64_t kernel = 0; done < items; ++kernel) {
        const int64_t step = each->steps[kernel];
        if (items < step) continue;
        int64_t chunks = (items - done) / step;
        int64_t extra = 0;
        const int64_t left = items - done - chunks * step;
        /* One more chunk, which repeats some items, is cheaper than many smaller ones; for half of
         * one, than single items. */
        const int are_single = left > 1 && each->steps[kernel + 1] == 1;
        if (left * 2 > step || (left * 2 == step && are_single)) {
            ++chunks;
            extra = step - left;
        }
        const int32_t status = run_chunks(machine, each, kernel, done, chunks, extra);
        if (status != 0) return status;
        done += chunks * step - extra;
    }
    return 0;
}

static int call_each(vm_machine* machine, const int64_t* words)
{
    const vm_each each = vm_each_at(words);
    if (gather_pointers(machine, each.tensor - 1) != 0) return -1;
    dimensions(machine, each.size - 1, machine->sizes);
    tenon_profile_enter((int32_t)each.call);
    const int64_t start = machine->call_ns ? tenon_clock_ns() : 0;
    const int32_t status = run_items(machine, &each, machine->scalars[each.items]);
    if (machine->call_ns) machine->call_ns[each.call] += tenon_clock_ns() - start;
    return checked(status, each.call);
}

static int move(vm_machine* machine, const int64_t* words)
{
    const vm_tensor* from = &machine->tensors[words[2]];
    if (!from->data) return tenon_fail("a value is read before it is computed");
    vm_tensor_assign(machine, &machine->tensors[words[1]], from);
    return 0;
}

static int drop(vm_machine* machine, const int64_t* words)
{
    vm_tensor_clear(machine, &machine->tensors[words[1]]);
    return 0;
}

static int extent(vm_machine* machine, const int64_t* words)
{
    const vm_tensor* tensor = &machine->tensors[words[2]];
    if (!tensor->data || words[3] >= tensor->rank)
        return tenon_fail("a value has no axis %lld", (long long)words[3]);
    machine->scalars[words[1]] = tensor->shape[words[3]];
    return 0;
}

static int element(vm_machine* machine, const int64_t* words)
{
    const vm_tensor* tensor = &machine->tensors[words[2]];
    size_t size = tenon_dtype_bytes(tensor->dtype);
    if (!tensor->data || vm_tensor_bytes(tensor) / size <= (size_t)words[3])
        return tenon_fail("a value has no element %lld", (long long)words[3]);
    const char* at = tensor->data + size * (size_t)words[3];
    int64_t bits = 0;
    memcpy(&bits, at, size < 8 ? size : 8);
    const bool is_signed = tensor->dtype.code == kDLInt;
    if (size == 1) bits = is_signed ? (int64_t) * (const int8_t*)at : *(const uint8_t*)at;
    if (size == 2) bits = is_signed ? (int64_t)(int16_t)bits : (int64_t)(uint16_t)bits;
    if (size == 4) bits = is_signed ? (int64_t)(int32_t)bits : (int64_t)(uint32_t)bits;
    machine->scalars[words[1]] = bits;
    return 0;
}

static int apply(int64_t operation, int64_t a, int64_t b, int64_t* out)
{
    bool fits = true;
    switch (operation) {
    case kTenonVmAdd: fits = !__builtin_add_overflow(a, b, out); break;
    case kTenonVmSubtract: fits = !__builtin_sub_overflow(a, b, out); break;
    case kTenonVmMultiply: fits = !__builtin_mul_overflow(a, b, out); break;
    case kTenonVmFloorDivide:
        fits = b != 0 && !(a == INT64_MIN && b == -1);
        if (fits) *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
        break;
    case kTenonVmMinimum: *out = a < b ? a : b; break;
    case kTenonVmMaximum: *out = a > b ? a : b; break;
    case kTenonVmLess: *out = a < b; break;
    case kTenonVmLessEqual: *out = a <= b; break;
    case kTenonVmOneOrEqual: *out = a == 1 || a == b; break;
    default: *out = a == b; break;
    }
    if (fits) return 0;
    return tenon_fail("a size cannot be computed from %lld and %lld", (long long)a, (long long)b);
}

static int arithmetic(vm_machine* machine, const int64_t* words)
{
    return apply(words[2], machine->scalars[words[3]], machine->scalars[words[4]],
                 &machine->scalars[words[1]]);
}

static int expect(vm_machine* machine, const int64_t* words)
{
    int64_t holds = 0;
    const int64_t a = machine->scalars[words[2]];
    const int64_t b = machine->scalars[words[3]];
    if (apply(words[1], a, b, &holds) != 0) return -1;
    if (holds) return 0;
    return tenon_fail("%s: %lld and %lld", machine->program->texts[words[4]], (long long)a,
                      (long long)b);
}

static int within(vm_machine* machine, const int64_t* words)
{
    const int64_t value = machine->scalars[words[1]];
    const int64_t least = machine->scalars[words[2]];
    const int64_t most = machine->scalars[words[3]];
    if (value >= least && value <= most) return 0;
    return tenon_fail("%s is %lld; the model was compiled for %lld to %lld",
                      machine->program->texts[words[4]], (long long)value, (long long)least,
                      (long long)most);
}

static int list_push(vm_machine* machine, const int64_t* words)
{
    const vm_tensor* item = &machine->tensors[words[2]];
    if (!item->data) return tenon_fail("a value is read before it is computed");
    return vm_list_push(machine, &machine->lists[words[1]], item);
}

static int list_clear(vm_machine* machine, const int64_t* words)
{
    vm_list_clear(machine, &machine->lists[words[1]]);
    return 0;
}

static int list_stack(vm_machine* machine, const int64_t* words)
{
    int64_t shape[kTenonVmMaxRank];
    vm_list* list = &machine->lists[words[2]];
    int status = vm_list_stack(machine, list, &machine->tensors[words[1]], vm_dtype_of(words[3]),
                               (int32_t)words[4], dimensions(machine, words + 4, shape));
    vm_list_clear(machine, list);
    return status;
}

static int scalar(vm_machine* machine, const int64_t* words)
{
    vm_tensor* to = &machine->tensors[words[1]];
    const DLDataType dtype = vm_dtype_of(words[2]);
    if (vm_tensor_allocate(machine, to, dtype, 0, NULL) != 0) return -1;
    const int64_t value = machine->scalars[words[3]];
    if (tenon_dtype_bytes(dtype) == 1)
        *to->data = (char)value;
    else
        memcpy(to->data, &value, tenon_dtype_bytes(dtype)); /* int64, or int32 in little endian */
    return 0;
}

typedef int (*instruction)(vm_machine* machine, const int64_t* words);

static const instruction kInstructions[kTenonVmOpcodeCount] = {
    [kTenonVmConstant] = use_constant,
    [kTenonVmAllocate] = allocate,
    [kTenonVmView] = view,
    [kTenonVmCall] = call,
    [kTenonVmMove] = move,
    [kTenonVmDrop] = drop,
    [kTenonVmExtent] = extent,
    [kTenonVmElement] = element,
    [kTenonVmArithmetic] = arithmetic,
    [kTenonVmExpect] = expect,
    [kTenonVmListClear] = list_clear,
    [kTenonVmListPush] = list_push,
    [kTenonVmListStack] = list_stack,
    [kTenonVmScalar] = scalar,
    [kTenonVmPlace] = place,
    [kTenonVmWithin] = within,
    [kTenonVmCallEach] = call_each,
};

static int fail_at(const vm_program* program, size_t at)
{
    const char* node = vm_program_node(program, at);
    return node ? tenon_fail_within(node) : -1;
}

int vm_machine_run(vm_machine* machine)
{
    const vm_program* program = machine->program;
    if (program->scalar_count)
        memcpy(machine->scalars, program->presets, program->scalar_count * sizeof(int64_t));
    for (size_t at = 0;;) {
        const int64_t* words = program->code + at;
        if (words[0] == kTenonVmEnd) return 0;
        if (words[0] == kTenonVmGoto) {
            at = (size_t)words[1];
        } else if (words[0] == kTenonVmIfZero) {
            at = machine->scalars[words[1]] == 0 ? (size_t)words[2] : at + 3;
        } else {
            if (kInstructions[words[0]](machine, words) != 0) return fail_at(program, at);
            at += vm_instruction_length(program, at);
        }
    }
}
