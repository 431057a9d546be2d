/* SPDX-License-Identifier: Apache-2.0 */
/* Shared libraries as modules. */
#ifndef TENON_RUNTIME_LIBRARY_H
#define TENON_RUNTIME_LIBRARY_H

#include "../common/object.h"

/** Opens the library, gives it the runtime's entry points and reads its imported modules; *out is
 * the root module. */
int tenon_library_load(const char* path, tenon_module** out);

#endif
