/* SPDX-License-Identifier: MIT-0 */
/* Functions by name and handle, as microTVM numbers them: those of the session, of the model, and
 * kernels alone. */
#include <string.h>

#include "micro_answer.h"

enum
{
    kSystemLib,
    kModuleGetFunction,
    kMaxPacketSize,
    kTimeEvaluator,
    kCreateExecutor,
    kStatistics,
    kFunctions,
    kProfile,
    kBoard
};

static const char* const s_globals[] = {"runtime.SystemLib",
                                        "tvm.rpc.server.ModuleGetFunction",
                                        "tvm.rpc.server.GetCRTMaxPacketSize",
                                        "runtime.RPCTimeEvaluator",
                                        "tvm.aot_executor.create",
                                        "tenon.micro.statistics",
                                        "tenon.micro.functions",
                                        "tenon.micro.profile",
                                        "tenon.micro.board"};

enum
{
    kRun,
    kSetInput,
    kGetInput,
    kGetOutput,
    kInputCount,
    kOutputCount,
    kInputIndex,
    kInputName
};

static const char* const s_model[] = {"run",
                                      "set_input",
                                      "get_input",
                                      "get_output",
                                      "get_num_inputs",
                                      "get_num_outputs",
                                      "get_input_index",
                                      "get_input_name"};

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof *(list)))

static int is_name(const char* bytes, size_t size, const char* name)
{
    return strlen(name) == size && memcmp(bytes, name, size) == 0;
}

uint32_t micro_global_function(const char* bytes, size_t size)
{
    for (uint32_t i = 0; i < COUNT(s_globals); ++i)
        if (is_name(bytes, size, s_globals[i])) return MICRO_FUNCTION(kMicroGlobals, i);
    return 0;
}

uint32_t micro_module_function(const micro_server* self, uint32_t module, const micro_value* name)
{
    const micro_subject* subject = self->subject;
    if (module == (uint32_t)kMicroModel << 16)
        for (uint32_t i = 0; i < COUNT(s_model); ++i)
            if (micro_is_text(name, s_model[i])) return MICRO_FUNCTION(kMicroModel, i);
    if (module == (uint32_t)kMicroSystemLib << 16)
        for (uint32_t i = 0; i < subject->kernel_count; ++i)
            if (micro_is_text(name, subject->kernels[i].name))
                return MICRO_FUNCTION(kMicroSystemLib, i);
    return 0;
}

const char* micro_run_model(micro_server* self)
{
    const micro_subject* subject = self->subject;
    const uint64_t start = subject->nanoseconds();
    const int32_t code = subject->run();
    self->counters.run_ns += subject->nanoseconds() - start;
    ++self->counters.runs;
    if (code < 0) return "the model cannot run";
    return code > 0 ? subject->fault(code) : NULL;
}

static const char* run_kernel(micro_server* self, uint32_t index)
{
    static DLTensor tensors[kMicroMostTensors];
    static TVMValue values[kMicroMostTensors];
    static int32_t codes[kMicroMostTensors];
    const micro_arguments* args = &self->arguments;
    TVMValue result;
    int32_t result_code;
    if (args->count > kMicroMostTensors) return "that are more tensors than this board takes";
    for (int32_t i = 0; i < args->count; ++i) {
        if (args->values[i].code != kTVMDLTensorHandle) return "kernels take tensors";
        micro_tensor* from = &self->arguments.tensors[i];
        uint8_t failed = 0;
        const size_t bytes = micro_tensor_bytes(from, &failed);
        void* memory = failed ? NULL : micro_memory_of(self, from->address, bytes);
        if (!memory) return "an argument lies in no array of this board";
        const DLTensor tensor = {.data = memory,
                                 .device = {kDLCPU, 0},
                                 .ndim = from->ndim,
                                 .dtype = from->dtype,
                                 .shape = from->shape};
        tensors[i] = tensor;
        values[i].v_handle = &tensors[i];
        codes[i] = kTVMDLTensorHandle;
    }
    const int32_t status =
        self->subject->kernels[index].call(values, codes, args->count, &result, &result_code, NULL);
    return status == 0 ? NULL : "the kernel failed; are its arguments right?";
}

int micro_can_be_timed(const micro_server* self, uint32_t handle)
{
    return handle == MICRO_FUNCTION(kMicroModel, kRun) ||
           (handle >> 16 == kMicroSystemLib && (handle & 0x7FFFu) < self->subject->kernel_count);
}

const char* micro_run_function(micro_server* self, uint32_t handle)
{
    if (handle >> 16 == kMicroSystemLib) return run_kernel(self, handle & 0x7FFFu);
    return micro_run_model(self);
}

/* Of the first argument: a number or a name; -1 when there is none. */
static int32_t port_index(const micro_server* self, const micro_port* ports, uint32_t count)
{
    const micro_value* value = &self->arguments.values[0];
    if (self->arguments.count < 1) return -1;
    if (value->code == kTVMArgInt && value->as.integer >= 0 && value->as.integer < (int64_t)count)
        return (int32_t)value->as.integer;
    for (uint32_t i = 0; i < count; ++i)
        if (micro_is_text(value, ports[i].name)) return (int32_t)i;
    return -1;
}

static void set_input(micro_server* self, uint32_t index)
{
    const micro_port* port = &self->subject->inputs[index];
    const micro_value* value = &self->arguments.values[1];
    const int is_tensor = self->arguments.count == 2 && value->code == kTVMDLTensorHandle;
    uint8_t failed = !is_tensor;
    const size_t bytes = failed ? 0 : micro_tensor_bytes(value->as.tensor, &failed);
    const void* from = failed ? NULL : micro_memory_of(self, value->as.tensor->address, bytes);
    if (!from || bytes != micro_port_bytes(port)) {
        micro_reply_failures(self, "no tensor of the right size was given for the input ",
                             port->name);
        return;
    }
    memmove(self->subject->input(index), from, bytes);
    micro_return_none(self);
}

static void call_input(micro_server* self, uint32_t function)
{
    const micro_subject* subject = self->subject;
    const int32_t at = port_index(self, subject->inputs, subject->input_count);
    if (at < 0)
        micro_reply_failure(self, "the model has no such input");
    else if (function == kSetInput)
        set_input(self, (uint32_t)at);
    else if (function == kGetInput)
        micro_return_array(self, &subject->inputs[at], subject->input((uint32_t)at));
    else if (function == kInputIndex)
        micro_return_integer(self, at);
    else
        micro_return_text(self, subject->inputs[at].name);
}

static void call_output(micro_server* self)
{
    const micro_subject* subject = self->subject;
    const int32_t at = port_index(self, subject->outputs, subject->output_count);
    if (at < 0)
        micro_reply_failure(self, "the model has no such output");
    else
        micro_return_array(self, &subject->outputs[at], subject->output((uint32_t)at));
}

static void call_run(micro_server* self)
{
    const char* failed = micro_run_model(self);
    if (failed)
        micro_reply_failure(self, failed);
    else
        micro_return_none(self);
}

static void call_model(micro_server* self, uint32_t function)
{
    switch (function) {
    case kRun: call_run(self); break;
    case kGetOutput: call_output(self); break;
    case kInputCount: micro_return_integer(self, self->subject->input_count); break;
    case kOutputCount: micro_return_integer(self, self->subject->output_count); break;
    default: call_input(self, function);
    }
}

static void get_function(micro_server* self)
{
    const micro_arguments* args = &self->arguments;
    const uint32_t handle =
        args->count >= 2
            ? micro_module_function(self, (uint32_t)args->values[0].as.handle, &args->values[1])
            : 0;
    if (handle)
        micro_return_handle(self, kTVMPackedFuncHandle, handle);
    else
        micro_return_none(self);
}

static void create_executor(micro_server* self)
{
    const micro_arguments* args = &self->arguments;
    if (args->count < 3 || !micro_is_text(&args->values[2], self->subject->model))
        micro_reply_failures(self, "the model on this board is called ", self->subject->model);
    else
        micro_return_handle(self, kTVMModuleHandle, (uint32_t)kMicroModel << 16);
}

/* Names of the kernels that can be called alone, a line each. */
static void list_functions(micro_server* self)
{
    const micro_subject* subject = self->subject;
    size_t size = 0;
    for (uint32_t i = 0; i < subject->kernel_count; ++i)
        size += strlen(subject->kernels[i].name) + 1;
    micro_return_bytes(self, size);
    for (uint32_t i = 0; i < subject->kernel_count; ++i) {
        const char* name = subject->kernels[i].name;
        micro_write_bytes(&self->reply, name, strlen(name));
        micro_write_bytes(&self->reply, "\n", 1);
    }
}

/* Which image runs, and on what: two lines. */
static void describe_board(micro_server* self)
{
    const char* image = self->subject->image ? self->subject->image : "";
    const char* board = self->subject->board ? self->subject->board : "";
    micro_return_bytes(self, strlen(image) + strlen(board) + 1);
    micro_write_bytes(&self->reply, image, strlen(image));
    micro_write_bytes(&self->reply, "\n", 1);
    micro_write_bytes(&self->reply, board, strlen(board));
}

static void call_global(micro_server* self, uint32_t function)
{
    switch (function) {
    case kSystemLib:
        micro_return_handle(self, kTVMModuleHandle, (uint32_t)kMicroSystemLib << 16);
        break;
    case kModuleGetFunction: get_function(self); break;
    case kMaxPacketSize:
        micro_return_integer(self, (int64_t)self->packet_bytes - kMicroFrameOverhead);
        break;
    case kTimeEvaluator: micro_make_evaluator(self); break;
    case kCreateExecutor: create_executor(self); break;
    case kStatistics: micro_return_statistics(self); break;
    case kFunctions: list_functions(self); break;
    case kBoard: describe_board(self); break;
    default: micro_return_profile(self);
    }
}

void micro_call_function(micro_server* self, uint32_t handle)
{
    const uint32_t module = handle >> 16, index = handle & 0x7FFFu;
    const int is_index = (handle & 0x8000u) != 0;
    const char* failed;
    if (handle == MICRO_EVALUATOR && self->timing.repeat > 0)
        micro_evaluate(self);
    else if (module == kMicroGlobals && is_index && index < COUNT(s_globals))
        call_global(self, index);
    else if (module == kMicroModel && is_index && index < COUNT(s_model))
        call_model(self, index);
    else if (module != kMicroSystemLib || !is_index || index >= self->subject->kernel_count)
        micro_reply_failure(self, "there is no function of this handle");
    else if ((failed = run_kernel(self, index)))
        micro_reply_failure(self, failed);
    else
        micro_return_none(self);
}
