// SPDX-License-Identifier: Apache-2.0
// Verifying the host's key.
#include "remote/ssh/host_key.h"

#include "core/base/board_code.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "remote/ssh/ssh_config.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Status;

namespace {

constexpr const char* kSystemFile = "/etc/ssh/ssh_known_hosts";

std::string userFile(const SshOptions& options)
{
    return options.userKnownHostsFile.empty() ? homeFolder() + "/.ssh/known_hosts"
                                              : options.userKnownHostsFile;
}

void useFile(ssh_session session, const std::string& path)
{
    ssh_options_set(session, SSH_OPTIONS_KNOWNHOSTS, path.c_str());
    ssh_options_set(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
}

std::vector<std::string> readableFiles(const SshOptions& options)
{
    std::vector<std::string> out;
    for (const std::string& path :
         {options.knownHostsFile, userFile(options), std::string(kSystemFile)})
        if (!path.empty() && access(path.c_str(), R_OK) == 0) out.push_back(path);
    return out;
}

/// The fingerprints a file has for the host, for a message.
std::string knownFingerprints(const std::string& path, const std::string& host)
{
    const auto text = core::readFile(path);
    std::vector<std::string> out;
    for (const std::string& line : core::split(text ? *text : "", '\n')) {
        ssh_knownhosts_entry* entry = nullptr;
        if (ssh_known_hosts_parse_line(host.c_str(), line.c_str(), &entry) == SSH_OK && entry)
            out.push_back(fingerprintOf(entry->publickey));
        ssh_knownhosts_entry_free(entry);
    }
    return core::join(out, " or ");
}

/// "host" or, with another port than the usual one, "[host]:port".
std::string hostPattern(ssh_session session)
{
    char* host = nullptr;
    unsigned port = 22;
    ssh_options_get(session, SSH_OPTIONS_HOST, &host);
    ssh_options_get_port(session, &port);
    std::string out = host ? host : "";
    ssh_string_free_char(host);
    return port == 22 ? out : "[" + out + "]:" + std::to_string(port);
}

/// What one file says about the host's present key.
ssh_known_hosts_e judge(ssh_session session, const std::string& path)
{
    useFile(session, path);
    ssh_knownhosts_entry* entry = nullptr;
    const ssh_known_hosts_e verdict = ssh_session_get_known_hosts_entry(session, &entry);
    ssh_knownhosts_entry_free(entry);
    return verdict;
}

core::Diagnostic changed(const std::string& peer, const std::string& file, const std::string& known,
                         const std::string& seen)
{
    return makeError(BoardCode::HostKeyChanged,
                     "the host key of " + core::quoted(peer) + " is not the known one: known " +
                         known + ", seen now " + seen +
                         "; somebody may be in between. If the board was set up anew, remove its "
                         "line from " +
                         core::quoted(file) + " and connect again");
}

/// Appends to our own file; the user's is only read.
Status remember(SshTransport& transport, const std::string& path)
{
    char* line = nullptr;
    {
        const std::scoped_lock lock(transport.mutex());
        if (ssh_session_export_known_hosts_entry(transport.session(), &line) != SSH_OK)
            return makeError(DiagnosticCode::IoFailure, "cannot write down the host key");
    }
    std::string content;
    if (access(path.c_str(), F_OK) == 0) {
        const auto old = core::readFile(path);
        if (!old) {
            ssh_string_free_char(line);
            return old.error();
        }
        content = *old;
        if (!content.empty() && content.back() != '\n') content += '\n';
    }
    content += std::string(line) + (std::string_view(line).ends_with('\n') ? "" : "\n");
    ssh_string_free_char(line);
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    return core::writeFileAtomically(path, content);
}

Status askAboutNewKey(SshTransport& transport, const SshOptions& options,
                      const HostKeyQuestion& question, Deadline& deadline)
{
    bool isAccepted = question.fingerprint == options.acceptedFingerprint;
    if (!isAccepted && options.prompt) {
        const auto asked = std::chrono::steady_clock::now();
        isAccepted = options.prompt->acceptHostKey(question);
        deadline.extend(std::chrono::steady_clock::now() - asked);
    }
    if (!isAccepted)
        return makeError(BoardCode::HostKeyUnknown,
                         "nobody has vouched for the host key of " + core::quoted(question.host) +
                             ": " + question.keyType + " " + question.fingerprint +
                             "; compare it with the board's own (`ssh-keygen -lf` there), then "
                             "accept it: --accept-host-key with this fingerprint");
    return options.knownHostsFile.empty() ? Status(core::kDone)
                                          : remember(transport, options.knownHostsFile);
}

} // namespace

std::string fingerprintOf(ssh_key key)
{
    unsigned char* hash = nullptr;
    size_t size = 0;
    if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != SSH_OK) return {};
    char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
    std::string out = text ? text : "";
    ssh_string_free_char(text);
    ssh_clean_pubkey_hash(&hash);
    return out;
}

void preferKnownKeyTypes(ssh_session session, const SshOptions& options)
{
    for (const std::string& path : readableFiles(options)) {
        useFile(session, path);
        if (ssh_session_has_known_hosts_entry(session) == SSH_KNOWN_HOSTS_OK) return;
    }
    useFile(session, "/dev/null");
}

Status verifyHostKey(SshTransport& transport, const SshOptions& options, Deadline& deadline)
{
    HostKeyQuestion question{.host = transport.peer().substr(transport.peer().find('@') + 1)};
    bool isKnown = false;
    {
        const std::scoped_lock lock(transport.mutex());
        ssh_session session = transport.session();
        ssh_key key = nullptr;
        if (ssh_get_server_publickey(session, &key) != SSH_OK)
            return makeError(BoardCode::HostKeyUnknown, "the host shows no key");
        question.fingerprint = fingerprintOf(key);
        question.keyType = ssh_key_type_to_char(ssh_key_type(key));
        ssh_key_free(key);
        for (const std::string& path : readableFiles(options)) {
            const ssh_known_hosts_e verdict = judge(session, path);
            if (verdict == SSH_KNOWN_HOSTS_CHANGED || verdict == SSH_KNOWN_HOSTS_OTHER)
                return changed(question.host, path, knownFingerprints(path, hostPattern(session)),
                               question.fingerprint);
            isKnown = isKnown || verdict == SSH_KNOWN_HOSTS_OK;
        }
    }
    return isKnown ? Status(core::kDone) : askAboutNewKey(transport, options, question, deadline);
}

} // namespace tenon::remote
