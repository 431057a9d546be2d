/* SPDX-License-Identifier: Apache-2.0 */
/* The functions tvm.rpc.server.*: files of the session and modules loaded from them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../common/args.h"
#include "../common/error.h"
#include "measure.h"
#include "probe.h"
#include "session.h"

/* Made when a file needs it, unless whoever serves the session has made one, or means none. */
static int make_folder(tenon_rpc_session* session)
{
    if (session->folder.path[0]) return 0;
    if (!session->owns_folder)
        return tenon_fail("this session has no folder: its client names files by absolute path");
    return tenon_folder_make(&session->folder);
}

/* Argument 0, a file name, as a path in the session's folder. */
static int file_argument(tenon_rpc_session* session, const tenon_args* args, char* path)
{
    const char* name;
    if (tenon_arg_str(args, 0, &name) != 0 || make_folder(session) != 0) return -1;
    return tenon_file_path(session->folder.path, name, path);
}

/* (name, bytes) */
static int upload(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("upload");
    char path[kTenonPathCapacity];
    TVMByteArray bytes;
    if (file_argument(resource, &args, path) != 0 || tenon_arg_bytes(&args, 1, &bytes) != 0 ||
        tenon_file_write(path, bytes.data, bytes.size) != 0)
        return -1;
    return tenon_return_none(result);
}

static int download(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("download");
    char path[kTenonPathCapacity];
    void* data;
    size_t size;
    if (file_argument(resource, &args, path) != 0 ||
        tenon_file_read(path, TENON_RPC_MAX_PACKET / 2, &data, &size) != 0)
        return -1;
    int status = tenon_return_bytes(result, data, size);
    free(data);
    return status;
}

static int remove_file(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("remove");
    char path[kTenonPathCapacity];
    if (file_argument(resource, &args, path) != 0 || tenon_file_remove(path) != 0) return -1;
    return tenon_return_none(result);
}

static int workpath(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("workpath");
    char path[kTenonPathCapacity];
    if (file_argument(resource, &args, path) != 0) return -1;
    return tenon_return_str(result, path);
}

static int listdir(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("listdir");
    tenon_rpc_session* session = resource;
    char* names = make_folder(session) == 0 ? tenon_folder_list(session->folder.path) : NULL;
    if (!names) return -1;
    int status = tenon_return_str(result, names);
    free(names);
    return status;
}

/* `path` is `allowed` or below it, and says so plainly. */
static bool is_within(const char* path, const char* allowed)
{
    const size_t size = strlen(allowed);
    if (strcmp(allowed, "/") == 0) return true;
    return strncmp(path, allowed, size) == 0 && (path[size] == 0 || path[size] == '/') &&
           !strstr(path, "/../");
}

/* Where links and dots lead, too. */
static int check_within(const char* path, const char* allowed)
{
    char* real = is_within(path, allowed) ? realpath(path, NULL) : NULL;
    const bool is_missing = is_within(path, allowed) && !real;
    if (is_missing) return tenon_fail("cannot read `%s`: %s", path, strerror(errno));
    char* real_allowed = realpath(allowed, NULL);
    const bool is_fine = real && real_allowed && is_within(real, real_allowed);
    free(real);
    free(real_allowed);
    if (is_fine) return 0;
    return tenon_fail("`%s` is not in `%s`, which is all that may be loaded here", path, allowed);
}

/* Argument 0: an uploaded file, or (for a client of our own user) a file by absolute path. */
static int path_argument(tenon_rpc_session* session, const tenon_args* args, char* path)
{
    const char* name;
    if (tenon_arg_str(args, 0, &name) != 0) return -1;
    if (!session->readable || name[0] != '/')
        return make_folder(session) == 0 ? tenon_file_path(session->folder.path, name, path) : -1;
    if (strlen(name) >= kTenonPathCapacity) return tenon_fail("the file name is too long");
    if (check_within(name, session->readable) != 0) return -1;
    strcpy(path, name);
    return 0;
}

/* (path, format) */
static int load_module(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("load_module");
    char path[kTenonPathCapacity];
    const char* format = "";
    TVMModuleHandle module;
    if (path_argument(resource, &args, path) != 0 ||
        (args.count > 1 && tenon_arg_str(&args, 1, &format) != 0) ||
        TVMModLoadFromFile(path, format, &module) != 0)
        return -1;
    return tenon_return_module(result, module);
}

/* What the machine is and how it feels, as text. */
static int probe(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("probe");
    const tenon_rpc_session* session = resource;
    tenon_writer text = tenon_writer_of(1 << 20);
    tenon_probe(&text, session->folder.path[0] ? session->folder.path : tenon_folder_parent(),
                session->abilities);
    int status = text.failed ? tenon_fail("the machine says too much")
                             : tenon_return_str(result, (const char*)text.data);
    tenon_writer_free(&text);
    return status;
}

/* How fast the machine is, as text. */
static int measure(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("measure");
    tenon_writer text = tenon_writer_of(1 << 12);
    tenon_measure(&text);
    int status = text.failed ? tenon_fail("measure: not enough memory")
                             : tenon_return_str(result, (const char*)text.data);
    tenon_writer_free(&text);
    return status;
}

/* (interval in ms): signs of life while a call takes long. */
static int heartbeat(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("heartbeat");
    const tenon_rpc_session* session = resource;
    int64_t interval_ms;
    if (tenon_arg_int(&args, 0, &interval_ms) != 0) return -1;
    if (!session->heart) return tenon_fail("heartbeat: this session has no link");
    return tenon_heart_start(session->heart, interval_ms) == 0 ? tenon_return_none(result) : -1;
}

/* (module, name, query imports): a function or nothing. */
static int module_get_function(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("ModuleGetFunction");
    tenon_module* module;
    const char* name;
    int64_t query_imports;
    tenon_func* func;
    if (tenon_arg_module(&args, 0, &module) != 0 || tenon_arg_str(&args, 1, &name) != 0 ||
        tenon_arg_int(&args, 2, &query_imports) != 0 ||
        tenon_module_find(module, name, query_imports != 0, &func) != 0)
        return -1;
    return tenon_return_func(result, func);
}

/* (parent, child) */
static int import_module(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("ImportModule");
    tenon_module* parent;
    tenon_module* child;
    if (tenon_arg_module(&args, 0, &parent) != 0 || tenon_arg_module(&args, 1, &child) != 0 ||
        tenon_module_import(parent, child) != 0)
        return -1;
    return tenon_return_none(result);
}

/* Bytes of four i64: voluntary and involuntary context switches, minor and major page faults. */
static int usage(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("usage");
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0) return tenon_fail("usage: not available");
    int64_t counts[4] = {used.ru_nvcsw, used.ru_nivcsw, used.ru_minflt, used.ru_majflt};
    return tenon_return_bytes(result, counts, sizeof counts);
}

static const tenon_method kFunctions[] = {
    /* The runtime's own would take any path. */
    {"runtime.ModuleLoadFromFile", load_module},
    {"tenon.rpc.server.heartbeat", heartbeat},
    {"tenon.rpc.server.measure", measure},
    {"tenon.rpc.server.probe", probe},
    {"tenon.rpc.server.usage", usage},
    {"tvm.rpc.server.ImportModule", import_module},
    {"tvm.rpc.server.ModuleGetFunction", module_get_function},
    {"tvm.rpc.server.download", download},
    {"tvm.rpc.server.listdir", listdir},
    {"tvm.rpc.server.load_module", load_module},
    {"tvm.rpc.server.remove", remove_file},
    {"tvm.rpc.server.upload", upload},
    {"tvm.rpc.server.workpath", workpath},
};

TVMBackendPackedCFunc tenon_rpc_server_function(const char* name)
{
    for (size_t i = 0; i < sizeof kFunctions / sizeof kFunctions[0]; ++i)
        if (strcmp(kFunctions[i].name, name) == 0) return kFunctions[i].call;
    return NULL;
}
