// SPDX-License-Identifier: Apache-2.0
// Owners of the C ABI's handles and a shorter way to call packed functions, for tests.
#pragma once

#include "runtime/include/tenon/c_runtime_api.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tenon::test {

struct HandleDeleter
{
    int (*release)(void*);
    void operator()(void* handle) const { release(handle); }
};
using Handle = std::unique_ptr<void, HandleDeleter>;

Handle loadModule(const std::string& path); ///< null on failure
Handle moduleFunction(const Handle& module, const std::string& name);
Handle globalFunction(const std::string& name);
Handle makeArray(const std::vector<int64_t>& shape, const std::vector<float>& values);
std::vector<float> floatsOf(const void* array);

using Argument = std::variant<int64_t, std::string, DLDevice, const Handle*>;

/// The result of a call; `handle` owns a module, function or array.
struct CallResult
{
    int status = 0;
    int code = kTVMNullptr;
    int64_t integer = 0;
    std::string text; ///< a string or bytes
    Handle handle;
    std::string error;
};

/// Calls; a Handle argument is passed with type code `handleCode` (7, 9, 10 or 13).
CallResult call(const Handle& function, const std::vector<Argument>& arguments = {},
                int handleCode = kTVMNDArrayHandle);

} // namespace tenon::test
