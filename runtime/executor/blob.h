/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of imported modules inside a library. */
#ifndef TENON_RUNTIME_BLOB_H
#define TENON_RUNTIME_BLOB_H

#include "../common/bytes.h"
#include "../common/object.h"

/** Reads `size` bytes of stream (after the leading byte count) into a tree of modules in which
 * `library` stands for "_lib". The bytes must live as long as the library. */
int tenon_blob_load(const void* stream, size_t size, tenon_module* library, tenon_module** out);

/** Readers of the module kinds; each keeps its own reference to `library`. */
int tenon_graph_factory_read(tenon_reader* reader, tenon_module* library, tenon_module** out);
int tenon_aot_factory_read(tenon_reader* reader, tenon_module* library, tenon_module** out);
int tenon_vm_executable_read(tenon_reader* reader, tenon_module* library, tenon_module** out);

#endif
