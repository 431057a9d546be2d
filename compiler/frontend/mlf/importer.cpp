// SPDX-License-Identifier: Apache-2.0
// Model Library Format archives as models: Tenon's own hold the model as text and its constants;
// of others the graph executor's graph is shown.
#include "compiler/frontend/importer.h"

#include "compiler/executor/params.h"
#include "compiler/frontend/mlf/archive_members.h"
#include "compiler/frontend/mlf/library_graph_model.h"
#include "compiler/frontend/mlf/metadata.h"
#include "compiler/frontend/text/graph_text_model.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

constexpr const char* kMetadata = "metadata.json";

bool isWanted(const std::string& path)
{
    return path == kMetadata || path.starts_with("src/") || path.starts_with("executor-config/");
}

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

/// Of the graph executor; nothing where the archive is of another one.
Result<std::optional<LibraryGraph>> graphIn(const ArchiveMembers& members,
                                            const LibraryMetadata& metadata)
{
    const std::string name = "executor-config/graph/" + metadata.module + ".graph";
    const auto member = members.find(name);
    if (member == members.end()) {
        if (!metadata.hasGraph) return std::optional<LibraryGraph>();
        return makeError(DiagnosticCode::BadModel,
                         "the archive is of the graph executor and has no member " +
                             core::quoted(name));
    }
    auto graph = readLibraryGraph(member->second);
    if (graph) return std::optional<LibraryGraph>(std::move(*graph));
    Diagnostic error = graph.error();
    error.location.detail = name;
    return error;
}

/// Only what others wrote needs them: they may be large, and Tenon's stand with the text.
Result<NamedTensors> parametersIn(std::string_view bytes, const std::string& module)
{
    const std::string name = "parameters/" + module + ".params";
    const auto members = readArchive(bytes, [&](const std::string& path) { return path == name; });
    if (!members) return members.error();
    const auto found = members->find(name);
    if (found == members->end()) return NamedTensors();
    auto tensors = readParamsBlob(found->second);
    if (tensors) return tensors;
    Diagnostic error = tensors.error();
    error.code = DiagnosticCode::BadModel;
    error.location.detail = name;
    return error;
}

Result<Loaded> emptyModel(const LibraryMetadata& metadata)
{
    auto module = parseModule("def @main() {\n  return\n}\n");
    if (!module) return module.error();
    Loaded loaded;
    loaded.module = std::move(*module);
    loaded.facts.inputs = metadata.inputs;
    loaded.facts.outputs = metadata.outputs;
    return loaded;
}

/// The model of others is Relay, which only TVM reads: what the archive says of itself is shown,
/// with the graph of its kernels where it has one, and that the model cannot be compiled.
Result<Loaded> shownOnly(std::string_view bytes, const LibraryMetadata& metadata,
                         const std::optional<LibraryGraph>& graph)
{
    auto params = graph ? parametersIn(bytes, metadata.module) : NamedTensors();
    if (!params) return params.error();
    auto loaded = graph ? shownGraph(*graph, std::move(*params)) : emptyModel(metadata);
    if (!loaded) return loaded;
    // The graph calls its results by their nodes; which is which of several, nobody tells.
    if (loaded->facts.outputs.size() == 1 && metadata.outputs.size() == 1)
        loaded->facts.outputs[0].name = metadata.outputs[0].name;
    loaded->diagnostics.push_back(makeError(
        DiagnosticCode::UnsupportedFeature,
        std::string("the model is in the archive as Relay of another tool, which Tenon does not "
                    "read; ") +
            (graph ? "the kernels that were made of it are shown; to compile, " : "") +
            "open the model file that it was made from",
        {.detail = "src/" + metadata.module + ".relay"}));
    return loaded;
}

/// What Tenon wrote.
Result<Loaded> ownModel(ArchiveMembers& members, const LibraryMetadata& metadata)
{
    const std::string source = "src/" + metadata.module;
    const auto text = memberOf(members, source + ".relay");
    if (!text) return text.error();
    const auto constants = constantsIn(members, source + ".constants");
    if (!constants) return constants.error();
    return loadedFromText(*text, *constants);
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
    const auto graph = graphIn(*members, *metadata);
    if (!graph) return graph.error();
    auto loaded = metadata->producer == "Tenon" ? ownModel(*members, *metadata)
                                                : shownOnly(bytes, *metadata, *graph);
    if (!loaded) return loaded;
    loaded->facts.graphName = metadata->module;
    loaded->facts.producer = metadata->producer;
    loaded->facts.producerVersion = metadata->producerVersion;
    loaded->facts.metadata = metadata->rows;
    if (*graph) loaded->facts.metadata.emplace_back("graph", countsText(**graph));
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
