// SPDX-License-Identifier: Apache-2.0
// Model Library Format archives as models: Tenon's own hold the model as text and its constants.
#include "compiler/frontend/importer.h"

#include "compiler/executor/params.h"
#include "compiler/frontend/mlf/archive_members.h"
#include "compiler/frontend/mlf/metadata.h"
#include "compiler/frontend/text/graph_text_model.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

constexpr const char* kMetadata = "metadata.json";

bool isWanted(const std::string& path) { return path == kMetadata || path.starts_with("src/"); }

Result<std::string> memberOf(ArchiveMembers& members, const std::string& name)
{
    const auto found = members.find(name);
    if (found == members.end())
        return makeError(DiagnosticCode::BadModel,
                         "the archive has no member " + core::quoted(name));
    return std::move(found->second);
}

Result<ConstantPool> constantsIn(ArchiveMembers& members, const std::string& name)
{
    ConstantPool pool;
    const auto bytes = memberOf(members, name);
    if (!bytes) return bytes.error();
    auto constants = readParamsBlob(*bytes);
    if (!constants) {
        Diagnostic error = constants.error();
        error.code = DiagnosticCode::BadModel;
        error.location.detail = name;
        return error;
    }
    for (auto& [hash, tensor] : *constants) {
        if (tensor.hash().hex() != hash)
            return makeError(DiagnosticCode::BadModel,
                             "a constant is not the one that its name " + core::quoted(hash) +
                                 " says",
                             {.detail = name});
        pool.emplace(hash, std::make_shared<const Tensor>(std::move(tensor)));
    }
    return pool;
}

/// What others write there is Relay, which only TVM reads: what the archive says of itself is
/// shown, and that the model cannot be.
Result<Loaded> describedOnly(const LibraryMetadata& metadata)
{
    auto module = parseModule("def @main() {\n  return\n}\n");
    if (!module) return module.error();
    Loaded loaded;
    loaded.module = std::move(*module);
    loaded.facts.inputs = metadata.inputs;
    loaded.facts.outputs = metadata.outputs;
    loaded.diagnostics.push_back(makeError(
        DiagnosticCode::UnsupportedFeature,
        "the model is in the archive as Relay of another tool, which Tenon does not read; "
        "open the model file that it was made from",
        {.detail = "src/" + metadata.module + ".relay"}));
    return loaded;
}

Result<Loaded> readLibrary(std::string_view bytes)
{
    auto members = readArchive(bytes, isWanted);
    if (!members) return members.error();
    if (!members->contains(kMetadata))
        return makeError(DiagnosticCode::BadModel,
                         "the archive has no member `metadata.json`, as Model Library Format "
                         "archives do; archives of objects and of sources hold no model");
    const auto metadata = readLibraryMetadata((*members)[kMetadata]);
    if (!metadata) return metadata.error();
    const std::string source = "src/" + metadata->module;
    auto loaded = describedOnly(*metadata);
    if (metadata->producer == "Tenon") {
        const auto text = memberOf(*members, source + ".relay");
        if (!text) return text.error();
        const auto constants = constantsIn(*members, source + ".constants");
        if (!constants) return constants.error();
        loaded = loadedFromText(*text, *constants);
    }
    if (!loaded) return loaded;
    loaded->facts.graphName = metadata->module;
    loaded->facts.producer = metadata->producer;
    loaded->facts.producerVersion = metadata->producerVersion;
    loaded->facts.metadata = metadata->rows;
    return loaded;
}

Result<Loaded> loadLibrary(const std::string& path, std::shared_ptr<const MappedFile> file,
                           const ImportOptions&)
{
    auto loaded = readLibrary(file->text());
    if (loaded) return loaded;
    Diagnostic error = loaded.error();
    error.location.file = path;
    return error;
}

} // namespace

extern const Importer mlfImporter;
const Importer mlfImporter{
    .format = "mlf",
    .title = "Model Library Format",
    .suffix = ".tar",
    .files = "Model Library Format archive",
    .takesOptions = false,
    .isMine = looksLikeTar,
    .load = loadLibrary,
};

} // namespace tenon::compiler
