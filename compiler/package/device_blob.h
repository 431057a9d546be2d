// SPDX-License-Identifier: Apache-2.0
// `__tvm_dev_mblob`: the modules inside one library, as the loader of TVM reads them.
#pragma once

#include "compiler/executor/params.h"

#include <string>
#include <string_view>

namespace tenon::compiler {

/// Payload of a GraphExecutorFactory: graph JSON, params, name of the creating function.
std::string graphFactoryPayload(std::string_view graphJson, const NamedTensors& params,
                                std::string_view moduleName);

/// Payload of an AotExecutorFactory.
std::string aotFactoryPayload(const NamedTensors& params, std::string_view moduleName);

/// The whole content of the symbol: u64 size, then [GraphExecutorFactory, _lib, _import_tree].
std::string graphDeviceBlob(std::string_view factoryPayload);

/// As above: [AotExecutorFactory, metadata_module, _lib, _import_tree].
std::string aotDeviceBlob(std::string_view factoryPayload);

/// As above: [TenonVmExecutable, _lib, _import_tree].
std::string vmDeviceBlob(std::string_view executablePayload);

} // namespace tenon::compiler
