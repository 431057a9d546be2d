// SPDX-License-Identifier: Apache-2.0
// Names of a model's tensors in its file, and references that know tensors by name.
#pragma once

#include "compiler/compare/compare.h"

namespace tenon::compiler {

/// Names that a value of the module as imported goes by, the likeliest first: its own; of a
/// quantized tensor also those of the real values before and behind it, and of one that is reshaped
/// those of what that makes.
using TensorNames = std::map<ValueRef, std::vector<std::string>>;

/// Of the results of main's nodes; `path` is the file that was loaded.
Result<TensorNames> tensorNames(const Loaded& loaded, const std::string& path);

/// Tensors of a file, the same for every data set. Names that the model does not have are of no
/// use; error UnknownName where none of the wanted values is among them.
ReferenceSource namedReference(TensorNames names, const NamedValues& tensors);

/// Another model, at level 0: its tensors stand for those of the same name. Error UnknownName as
/// above.
ReferenceSource modelReference(TensorNames names, std::shared_ptr<const Loaded> other,
                               const TensorNames& otherNames, CompileOptions options,
                               ProgramRunner here);

} // namespace tenon::compiler
