/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of one session: functions, calls and handles. */
#include "session.h"

#include <stdio.h>
#include <string.h>

#include "../common/dtype.h"
#include "../common/error.h"

void tenon_rpc_session_start(tenon_rpc_session* session, const char* folder)
{
    uint64_t limit = (uint64_t)8 << 30;
    *session =
        (tenon_rpc_session){.memory_limit = limit < SIZE_MAX / 2 ? (size_t)limit : SIZE_MAX / 2};
    session->folder.lock = -1;
    snprintf(session->folder.path, sizeof session->folder.path, "%s", folder);
    session->owns_folder = folder[0] == 0;
}

void tenon_rpc_session_end(tenon_rpc_session* session)
{
    tenon_handles_clear(&session->handles);
    if (session->owns_folder) tenon_folder_discard(&session->folder);
}

void tenon_reply(tenon_writer* reply, TVMValue value, int code)
{
    size_t start = tenon_packet_begin(reply, kTenonRpcReturn);
    tenon_write_seq(reply, &value, &code, 1);
    tenon_packet_end(reply, start);
}

void tenon_reply_none(tenon_writer* reply) { tenon_reply(reply, (TVMValue){0}, kTVMNullptr); }

static int init_server(tenon_rpc_session* session, tenon_reader* body, tenon_arena* arena,
                       tenon_writer* reply)
{
    size_t length;
    const char* version = tenon_read_string(body, &length);
    tenon_rpc_seq arguments;
    if (!version) return tenon_fail("the greeting is cut off");
    if (length != strlen(TENON_RPC_VERSION) || memcmp(version, TENON_RPC_VERSION, length) != 0)
        return tenon_fail("the client speaks protocol %.*s, this server " TENON_RPC_VERSION,
                          (int)(length > 32 ? 32 : length), version);
    if (tenon_read_seq(body, arena, &arguments) != 0) return -1;
    if (arguments.count != 0) return tenon_fail("this server has only plain sessions");
    session->is_open = true;
    tenon_reply_none(reply);
    return 0;
}

static int get_global_func(tenon_rpc_session* session, tenon_reader* body, tenon_arena* arena,
                           tenon_writer* reply)
{
    tenon_rpc_seq seq;
    if (tenon_read_seq(body, arena, &seq) != 0) return -1;
    if (seq.count != 1 || seq.codes[0] != kTVMStr)
        return tenon_fail("expected the name of a function");
    const char* name = seq.values[0].v_str;
    TVMBackendPackedCFunc own = tenon_rpc_server_function(name);
    TVMFunctionHandle func = NULL;
    if (own)
        func = tenon_func_new(own, session, NULL);
    else if (TVMFuncGetGlobal(name, &func) != 0)
        return -1;
    if (own && !func) return -1;
    uint64_t handle =
        func ? tenon_handles_add(&session->handles, kTenonHandleFunc, func, NULL, 0) : 0;
    if (func && !handle) return -1;
    tenon_reply(reply, (TVMValue){.v_int64 = (int64_t)handle}, kTVMOpaqueHandle);
    return 0;
}

int tenon_rpc_resolve_tensor(const tenon_rpc_session* session, DLTensor* tensor)
{
    uint64_t handle = (uint64_t)(uintptr_t)tensor->data;
    const tenon_handle_entry* entry =
        tenon_handles_find(&session->handles, handle, kTenonHandleFree);
    size_t bytes = 0;
    if (!entry) return -1;
    if (entry->kind != kTenonHandleArray && entry->kind != kTenonHandleData)
        return tenon_fail("a tensor's data is neither memory nor an array");
    if (tensor->device.device_type != kDLCPU || tensor->device.device_id != 0)
        return tenon_fail("there is no device type %d id %d here", tensor->device.device_type,
                          tensor->device.device_id);
    tenon_tensor_bytes(tensor->shape, tensor->ndim, tensor->dtype, &bytes);
    if (tensor->byte_offset > entry->bytes || bytes > entry->bytes - tensor->byte_offset)
        return tenon_fail("a tensor reaches beyond its memory");
    tensor->data = entry->data;
    return 0;
}

/* Replaces the handles in arguments by what they stand for. */
static int resolve_argument(tenon_rpc_session* session, TVMValue* value, int code)
{
    tenon_handle_kind kind = code == kTVMModuleHandle ? kTenonHandleModule : kTenonHandleFunc;
    const tenon_handle_entry* entry;
    switch (code) {
    case kTVMModuleHandle:
    case kTVMPackedFuncHandle:
        entry = tenon_handles_find(&session->handles, (uint64_t)value->v_int64, kind);
        if (!entry) return -1;
        value->v_handle = entry->object;
        return 0;
    case kTVMDLTensorHandle: return tenon_rpc_resolve_tensor(session, value->v_handle);
    case kTVMOpaqueHandle: return tenon_fail("plain handles are not passed to functions here");
    default: return 0;
    }
}

/* Return values of functions are a type code followed by the value. */
static void reply_pair(tenon_writer* reply, int code, TVMValue value, int wire_code)
{
    TVMValue values[2] = {{.v_int64 = code}, value};
    int codes[2] = {kTVMArgInt, wire_code};
    size_t start = tenon_packet_begin(reply, kTenonRpcReturn);
    tenon_write_seq(reply, values, codes, 2);
    tenon_packet_end(reply, start);
}

static int reply_array(tenon_rpc_session* session, tenon_array* array, tenon_writer* reply)
{
    DLTensor tensor = array->tensor;
    size_t bytes = 0;
    tenon_tensor_bytes(tensor.shape, tensor.ndim, tensor.dtype, &bytes);
    uint64_t handle = tenon_handles_add(&session->handles, kTenonHandleArray, array,
                                        tenon_tensor_data(&tensor), bytes);
    if (!handle) return -1;
    tensor.data = (void*)(uintptr_t)handle;
    tensor.byte_offset = 0; /* the handle's memory starts at the first element */
    TVMValue values[3] = {
        {.v_int64 = kTVMNDArrayHandle}, {.v_handle = &tensor}, {.v_int64 = (int64_t)handle}};
    int codes[3] = {kTVMArgInt, kTVMDLTensorHandle, kTVMOpaqueHandle};
    size_t start = tenon_packet_begin(reply, kTenonRpcReturn);
    tenon_write_seq(reply, values, codes, 3);
    tenon_packet_end(reply, start);
    return 0;
}

static int reply_result(tenon_rpc_session* session, TVMValue value, int code, tenon_writer* reply)
{
    switch (code) {
    case kTVMNDArrayHandle: return reply_array(session, value.v_handle, reply);
    case kTVMModuleHandle:
    case kTVMPackedFuncHandle: {
        tenon_handle_kind kind = code == kTVMModuleHandle ? kTenonHandleModule : kTenonHandleFunc;
        uint64_t handle = tenon_handles_add(&session->handles, kind, value.v_handle, NULL, 0);
        if (!handle) return -1;
        reply_pair(reply, code, (TVMValue){.v_int64 = (int64_t)handle}, kTVMOpaqueHandle);
        return 0;
    }
    case kTVMOpaqueHandle:
    case kTVMDLTensorHandle:
        return tenon_fail("the function returns an address, which means nothing elsewhere");
    default: reply_pair(reply, code, value, code); return 0;
    }
}

static int call_func(tenon_rpc_session* session, tenon_reader* body, tenon_arena* arena,
                     tenon_writer* reply)
{
    tenon_rpc_seq seq;
    uint64_t handle = tenon_read_u64(body);
    if (tenon_read_seq(body, arena, &seq) != 0) return -1;
    const tenon_handle_entry* entry =
        tenon_handles_find(&session->handles, handle, kTenonHandleFunc);
    if (!entry) return -1;
    for (int i = 0; i < seq.count; ++i)
        if (resolve_argument(session, &seq.values[i], seq.codes[i]) != 0) return -1;
    TVMValue value;
    int code;
    tenon_func* func = tenon_func_ref(entry->object); /* a call may free its own handle */
    TVMAPISetLastError("");
    int status = TVMFuncCall(func, seq.values, seq.codes, seq.count, &value, &code);
    if (status == 0) status = reply_result(session, value, code, reply);
    tenon_func_unref(func);
    return status;
}

static int free_handle(tenon_rpc_session* session, tenon_reader* body, tenon_arena* arena,
                       tenon_writer* reply)
{
    tenon_rpc_seq seq;
    if (tenon_read_seq(body, arena, &seq) != 0) return -1;
    if (seq.count != 2 || seq.codes[0] != kTVMOpaqueHandle || seq.codes[1] != kTVMArgInt)
        return tenon_fail("expected a handle and its type code");
    tenon_handle_kind kind = kTenonHandleArray;
    if (seq.values[1].v_int64 == kTVMPackedFuncHandle) kind = kTenonHandleFunc;
    if (seq.values[1].v_int64 == kTVMModuleHandle) kind = kTenonHandleModule;
    if (tenon_handles_remove(&session->handles, (uint64_t)seq.values[0].v_int64, kind) != 0)
        return -1;
    tenon_reply_none(reply);
    return 0;
}

static int dispatch(tenon_rpc_session* session, tenon_rpc_code code, tenon_reader* body,
                    tenon_arena* arena, tenon_writer* reply)
{
    if (!session->is_open && code != kTenonRpcInitServer)
        return tenon_fail("the session was not opened with a greeting");
    switch (code) {
    case kTenonRpcInitServer: return init_server(session, body, arena, reply);
    case kTenonRpcCallFunc: return call_func(session, body, arena, reply);
    case kTenonRpcGetGlobalFunc: return get_global_func(session, body, arena, reply);
    case kTenonRpcFreeHandle: return free_handle(session, body, arena, reply);
    default: return tenon_rpc_syscall(session, code, body, arena, reply);
    }
}

bool tenon_rpc_session_handle(tenon_rpc_session* session, const uint8_t* packet, size_t size,
                              tenon_writer* reply)
{
    tenon_reader reader = tenon_reader_of(packet, size);
    tenon_rpc_code code = (tenon_rpc_code)tenon_read_i32(&reader);
    if (reader.failed || code == kTenonRpcShutdown) return false;
    tenon_arena arena = {NULL};
    size_t before = reply->size;
    int status = dispatch(session, code, &reader, &arena, reply);
    if (status == 0 && reply->failed) status = tenon_fail("the reply is too large");
    if (status != 0) {
        reply->failed = false;
        reply->size = before;
        TVMValue text = {.v_str = TVMGetLastError()};
        int text_code = kTVMStr;
        size_t start = tenon_packet_begin(reply, kTenonRpcException);
        tenon_write_seq(reply, &text, &text_code, 1);
        tenon_packet_end(reply, start);
    }
    tenon_arena_free(&arena);
    return !reply->failed;
}
