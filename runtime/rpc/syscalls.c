/* SPDX-License-Identifier: Apache-2.0 */
/* The device and copy packets of a session. The device is the CPU. */
#include <string.h>

#include "../common/dtype.h"
#include "../common/error.h"
#include "session.h"

typedef struct
{
    tenon_rpc_session* session;
    tenon_rpc_seq seq;
    tenon_writer* reply;
} syscall_context;

static int check_device(const syscall_context* at, int index)
{
    if (index >= at->seq.count || at->seq.codes[index] != kDLDevice)
        return tenon_fail("expected a device");
    DLDevice device = at->seq.values[index].v_device;
    if (device.device_type == kDLCPU && device.device_id == 0) return 0;
    return tenon_fail("there is no device type %d id %d here", device.device_type,
                      device.device_id);
}

static int allocate(const syscall_context* at, size_t bytes)
{
    tenon_rpc_session* session = at->session;
    if (bytes > session->memory_limit - session->memory_used)
        return tenon_fail("%zu bytes exceed the memory of the session", bytes);
    char* data = tenon_aligned_alloc(bytes);
    if (!data) return tenon_fail("out of memory for %zu bytes", bytes);
    memset(data, 0, bytes); /* never show the client what was there before */
    uint64_t handle = tenon_handles_add(&session->handles, kTenonHandleData, data, data, bytes);
    if (!handle) return -1;
    session->memory_used += bytes;
    tenon_reply(at->reply, (TVMValue){.v_int64 = (int64_t)handle}, kTVMOpaqueHandle);
    return 0;
}

/* [device, bytes, alignment, type hint] */
static int alloc_data(const syscall_context* at)
{
    const tenon_rpc_seq* seq = &at->seq;
    if (check_device(at, 0) != 0) return -1;
    if (seq->count < 3 || seq->codes[1] != kTVMArgInt || seq->codes[2] != kTVMArgInt ||
        seq->values[1].v_int64 < 0 || seq->values[2].v_int64 > 64)
        return tenon_fail("memory must have a size and an alignment of at most 64");
    if ((uint64_t)seq->values[1].v_int64 > SIZE_MAX)
        return tenon_fail("this board cannot address %lld bytes",
                          (long long)seq->values[1].v_int64);
    return allocate(at, (size_t)seq->values[1].v_int64);
}

/* [tensor without data, scope] */
static int alloc_with_scope(const syscall_context* at)
{
    const tenon_rpc_seq* seq = &at->seq;
    size_t bytes;
    if (seq->count != 2 || seq->codes[0] != kTVMDLTensorHandle)
        return tenon_fail("expected a tensor and a scope");
    const DLTensor* tensor = seq->values[0].v_handle;
    bool is_plain = seq->codes[1] == kTVMNullptr ||
                    (seq->codes[1] == kTVMStr &&
                     (seq->values[1].v_str[0] == 0 || strcmp(seq->values[1].v_str, "global") == 0));
    if (!is_plain || tensor->device.device_type != kDLCPU || tensor->device.device_id != 0)
        return tenon_fail("there is no such device or memory scope here");
    if (!tenon_tensor_bytes(tensor->shape, tensor->ndim, tensor->dtype, &bytes))
        return tenon_fail("a tensor has an impossible shape");
    return allocate(at, bytes);
}

/* [device, memory] */
static int free_data(const syscall_context* at)
{
    if (check_device(at, 0) != 0) return -1;
    if (at->seq.count != 2 || at->seq.codes[1] != kTVMOpaqueHandle)
        return tenon_fail("expected memory to free");
    uint64_t handle = (uint64_t)at->seq.values[1].v_int64;
    const tenon_handle_entry* entry =
        tenon_handles_find(&at->session->handles, handle, kTenonHandleData);
    if (!entry) return -1;
    at->session->memory_used -= entry->bytes;
    tenon_handles_remove(&at->session->handles, handle, kTenonHandleData);
    tenon_reply_none(at->reply);
    return 0;
}

/* [device, kind]: only that the device exists (kind 0) is known; 0 for the rest. */
static int get_attr(const syscall_context* at)
{
    if (at->seq.count != 2 || at->seq.codes[0] != kDLDevice || at->seq.codes[1] != kTVMArgInt)
        return tenon_fail("expected a device and an attribute");
    DLDevice device = at->seq.values[0].v_device;
    bool exists = device.device_type == kDLCPU && device.device_id == 0;
    int64_t value = at->seq.values[1].v_int64 == 0 && exists;
    tenon_reply(at->reply, (TVMValue){.v_int64 = value}, kTVMArgInt);
    return 0;
}

static int copy_among(const syscall_context* at)
{
    const tenon_rpc_seq* seq = &at->seq;
    if (seq->count < 2 || seq->codes[0] != kTVMDLTensorHandle ||
        seq->codes[1] != kTVMDLTensorHandle)
        return tenon_fail("expected two tensors");
    DLTensor* from = seq->values[0].v_handle;
    DLTensor* to = seq->values[1].v_handle;
    if (tenon_rpc_resolve_tensor(at->session, from) != 0 ||
        tenon_rpc_resolve_tensor(at->session, to) != 0 || tenon_tensor_copy(from, to) != 0)
        return -1;
    tenon_reply_none(at->reply);
    return 0;
}

/* Tensor and byte count; the bytes must lie inside the tensor. */
static int read_copy(tenon_rpc_session* session, tenon_reader* body, tenon_arena* arena,
                     DLTensor* tensor, uint64_t* bytes)
{
    size_t most = 0;
    if (tenon_read_tensor(body, arena, tensor) != 0) return -1;
    *bytes = tenon_read_u64(body);
    if (body->failed) return tenon_fail("a copy is cut off");
    if (tenon_rpc_resolve_tensor(session, tensor) != 0) return -1;
    tenon_tensor_bytes(tensor->shape, tensor->ndim, tensor->dtype, &most);
    return *bytes <= most ? 0 : tenon_fail("a copy is larger than its tensor");
}

static int copy_to_remote(tenon_rpc_session* session, tenon_reader* body, tenon_arena* arena,
                          tenon_writer* reply)
{
    DLTensor tensor;
    uint64_t bytes;
    if (read_copy(session, body, arena, &tensor, &bytes) != 0) return -1;
    const uint8_t* data = tenon_read_bytes(body, bytes);
    if (!data) return tenon_fail("a copy is cut off");
    if (bytes) memcpy(tenon_tensor_data(&tensor), data, (size_t)bytes);
    tenon_reply_none(reply);
    return 0;
}

static int copy_from_remote(tenon_rpc_session* session, tenon_reader* body, tenon_arena* arena,
                            tenon_writer* reply)
{
    DLTensor tensor;
    uint64_t bytes;
    if (read_copy(session, body, arena, &tensor, &bytes) != 0) return -1;
    size_t start = tenon_packet_begin(reply, kTenonRpcCopyAck);
    tenon_write_bytes(reply, tenon_tensor_data(&tensor), (size_t)bytes);
    tenon_packet_end(reply, start);
    return 0;
}

/* [device, ...]: streams do nothing here. */
static int ignore(const syscall_context* at)
{
    if (check_device(at, 0) != 0) return -1;
    tenon_reply_none(at->reply);
    return 0;
}

static int no_stream(const syscall_context* at)
{
    if (check_device(at, 0) != 0) return -1;
    tenon_reply(at->reply, (TVMValue){.v_int64 = 0}, kTVMOpaqueHandle);
    return 0;
}

static int (*handler_of(tenon_rpc_code code))(const syscall_context*)
{
    switch (code) {
    case kTenonRpcDevSetDevice:
    case kTenonRpcDevStreamSync:
    case kTenonRpcDevFreeStream:
    case kTenonRpcDevSetStream: return ignore;
    case kTenonRpcDevCreateStream:
    case kTenonRpcDevGetCurrentStream: return no_stream;
    case kTenonRpcDevGetAttr: return get_attr;
    case kTenonRpcDevAllocData: return alloc_data;
    case kTenonRpcDevAllocDataWithScope: return alloc_with_scope;
    case kTenonRpcDevFreeData: return free_data;
    case kTenonRpcCopyAmongRemote: return copy_among;
    default: return NULL;
    }
}

int tenon_rpc_syscall(tenon_rpc_session* session, tenon_rpc_code code, tenon_reader* body,
                      tenon_arena* arena, tenon_writer* reply)
{
    if (code == kTenonRpcCopyToRemote) return copy_to_remote(session, body, arena, reply);
    if (code == kTenonRpcCopyFromRemote) return copy_from_remote(session, body, arena, reply);
    int (*handler)(const syscall_context*) = handler_of(code);
    if (!handler) return tenon_fail("unknown packet code %d", (int)code);
    syscall_context at = {.session = session, .reply = reply};
    return tenon_read_seq(body, arena, &at.seq) == 0 ? handler(&at) : -1;
}
