/* SPDX-License-Identifier: MIT-0 */
/* One packet in, one out. */
#include "micro_answer.h"

#include <string.h>

static void begin(micro_server* self, uint32_t code)
{
    self->reply.size = 0;
    self->reply.failed = 0;
    micro_write_u64(&self->reply, 0); /* the length, once it is known */
    micro_write_u32(&self->reply, code);
}

static void begin_values(micro_server* self, uint32_t code, uint32_t count)
{
    begin(self, code);
    micro_write_u32(&self->reply, count);
}

void micro_reply_none(micro_server* self)
{
    begin_values(self, kMicroReturn, 1);
    micro_write_u32(&self->reply, kTVMNullptr);
}

void micro_reply_failures(micro_server* self, const char* why, const char* more)
{
    const size_t size = strlen(why);
    begin_values(self, kMicroException, 1);
    micro_write_u32(&self->reply, kTVMStr);
    micro_write_u64(&self->reply, size + strlen(more));
    micro_write_bytes(&self->reply, why, size);
    micro_write_bytes(&self->reply, more, strlen(more));
}

void micro_reply_failure(micro_server* self, const char* why)
{
    micro_reply_failures(self, why, "");
}

void micro_reply_handle(micro_server* self, uint64_t handle)
{
    begin_values(self, kMicroReturn, 1);
    micro_write_u32(&self->reply, kTVMOpaqueHandle);
    micro_write_u64(&self->reply, handle);
}

void micro_reply_integer(micro_server* self, int64_t value)
{
    begin_values(self, kMicroReturn, 1);
    micro_write_u32(&self->reply, kTVMArgInt);
    micro_write_u64(&self->reply, (uint64_t)value);
}

/* The type's code as a value, and the code of the value that follows. */
static void begin_return(micro_server* self, uint32_t type, uint32_t sent_as)
{
    begin_values(self, kMicroReturn, 2);
    micro_write_u32(&self->reply, kTVMArgInt);
    micro_write_u32(&self->reply, sent_as);
    micro_write_u64(&self->reply, type);
}

void micro_return_none(micro_server* self) { begin_return(self, kTVMNullptr, kTVMNullptr); }

void micro_return_integer(micro_server* self, int64_t value)
{
    begin_return(self, kTVMArgInt, kTVMArgInt);
    micro_write_u64(&self->reply, (uint64_t)value);
}

void micro_return_handle(micro_server* self, int32_t code, uint64_t handle)
{
    begin_return(self, (uint32_t)code, kTVMOpaqueHandle);
    micro_write_u64(&self->reply, handle);
}

void micro_return_text(micro_server* self, const char* text)
{
    begin_return(self, kTVMStr, kTVMStr);
    micro_write_text(&self->reply, text);
}

void micro_return_bytes(micro_server* self, size_t size)
{
    begin_return(self, kTVMBytes, kTVMBytes);
    micro_write_u64(&self->reply, size);
}

void micro_return_array(micro_server* self, const micro_port* port, void* memory)
{
    micro_tensor tensor = {(uintptr_t)memory, port->dtype, port->ndim, {0}};
    for (int32_t i = 0; i < port->ndim; ++i) tensor.shape[i] = port->shape[i];
    begin_values(self, kMicroReturn, 3);
    micro_write_u32(&self->reply, kTVMArgInt);
    micro_write_u32(&self->reply, kTVMDLTensorHandle);
    micro_write_u32(&self->reply, kTVMOpaqueHandle);
    micro_write_u64(&self->reply, kTVMNDArrayHandle);
    micro_write_tensor(&self->reply, &tensor);
    micro_write_u64(&self->reply, (uintptr_t)memory);
}

static void copy_to(micro_server* self, micro_reader* reader)
{
    micro_tensor tensor;
    micro_read_tensor(reader, &tensor);
    const uint64_t size = micro_read_u64(reader);
    const uint8_t* bytes = micro_read_bytes(reader, size);
    void* memory = bytes ? micro_memory_of(self, tensor.address, (size_t)size) : NULL;
    if (!memory) {
        micro_reply_failure(self, "the copy goes beyond the tensor's memory");
        return;
    }
    memcpy(memory, bytes, (size_t)size);
    micro_reply_none(self);
}

static void copy_from(micro_server* self, micro_reader* reader)
{
    micro_tensor tensor;
    micro_read_tensor(reader, &tensor);
    const uint64_t size = micro_read_u64(reader);
    const void* memory = reader->failed || size > INT32_MAX
                             ? NULL
                             : micro_memory_of(self, tensor.address, (size_t)size);
    if (!memory) {
        micro_reply_failure(self, "the copy goes beyond the tensor's memory");
        return;
    }
    begin(self, kMicroCopyAck);
    micro_write_bytes(&self->reply, memory, (size_t)size);
}

static void copy_among(micro_server* self)
{
    const micro_value* values = self->arguments.values;
    uint8_t failed = self->arguments.count < 2 || values[0].code != kTVMDLTensorHandle ||
                     values[1].code != kTVMDLTensorHandle;
    const size_t bytes = failed ? 0 : micro_tensor_bytes(values[0].as.tensor, &failed);
    const size_t room = failed ? 0 : micro_tensor_bytes(values[1].as.tensor, &failed);
    const void* from = failed ? NULL : micro_memory_of(self, values[0].as.tensor->address, bytes);
    void* to = failed ? NULL : micro_memory_of(self, values[1].as.tensor->address, bytes);
    if (!from || !to || room != bytes) {
        micro_reply_failure(self, "the copy goes beyond a tensor's memory");
        return;
    }
    memmove(to, from, bytes);
    micro_reply_none(self);
}

static void allocate(micro_server* self, uint32_t code)
{
    const micro_arguments* args = &self->arguments;
    uint8_t failed = args->count < 1;
    uint64_t bytes = 0;
    if (code == kMicroAlloc) {
        failed |= args->count < 2 || args->values[1].code != kTVMArgInt;
        if (!failed) bytes = args->values[1].as.handle;
    } else {
        failed |= args->values[0].code != kTVMDLTensorHandle;
        if (!failed) bytes = micro_tensor_bytes(args->values[0].as.tensor, &failed);
    }
    const uint64_t address = failed ? 0 : micro_allocate(self, bytes);
    if (address)
        micro_reply_handle(self, address);
    else
        micro_reply_failure(self, "the board has no room for this array");
}

static void release(micro_server* self, int at)
{
    if (self->arguments.count > at) micro_release(self, self->arguments.values[at].as.handle);
    micro_reply_none(self);
}

static void get_global(micro_server* self)
{
    const micro_value* name = &self->arguments.values[0];
    const int is_text = self->arguments.count > 0 && name->code == kTVMStr;
    micro_reply_handle(self,
                       is_text ? micro_global_function((const char*)name->bytes, name->size) : 0);
}

/* System calls: their arguments have been read. */
static void answer_call(micro_server* self, uint32_t code)
{
    switch (code) {
    case kMicroGetGlobal: get_global(self); break;
    case kMicroFreeHandle: release(self, 0); break;
    case kMicroFree: release(self, 1); break;
    case kMicroAlloc:
    case kMicroAllocScoped: allocate(self, code); break;
    case kMicroCopyAmong: copy_among(self); break;
    case kMicroGetAttr: micro_reply_integer(self, 1); break;
    case kMicroSetDevice:
    case kMicroSync: micro_reply_none(self); break;
    default: micro_reply_failure(self, "this server does not know such a packet");
    }
}

static void finish(micro_server* self)
{
    if (self->reply.failed)
        micro_reply_failure(self, "the answer is longer than a packet of this board");
    const uint64_t size = self->reply.size - 8;
    for (int i = 0; i < 8; ++i) self->reply.bytes[i] = (uint8_t)(size >> (8 * i));
}

int micro_answer(micro_server* self, const uint8_t* packet, size_t size)
{
    micro_reader reader = {packet, size, 0};
    const uint64_t bytes = micro_read_u64(&reader);
    const uint32_t code = micro_read_u32(&reader);
    if (reader.failed || bytes != size - 8) {
        micro_reply_failure(self, "the packet's length is not that of its message");
    } else if (code == kMicroShutdown) {
        return 0;
    } else if (code == kMicroInit) {
        micro_reply_none(self);
    } else if (code == kMicroCopyTo) {
        copy_to(self, &reader);
    } else if (code == kMicroCopyFrom) {
        copy_from(self, &reader);
    } else {
        const uint32_t function = code == kMicroCall ? (uint32_t)micro_read_u64(&reader) : 0;
        micro_read_arguments(&reader, &self->arguments);
        if (reader.failed)
            micro_reply_failure(self, "the packet's values are damaged or too many");
        else if (code == kMicroCall)
            micro_call_function(self, function);
        else
            answer_call(self, code);
    }
    finish(self);
    return 1;
}
