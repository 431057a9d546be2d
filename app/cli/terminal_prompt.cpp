// SPDX-License-Identifier: Apache-2.0
// Questions on the terminal.
#include "app/cli/terminal_prompt.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

namespace tenon::cli {
namespace {

class Terminal
{
public:
    explicit Terminal(bool isEchoing)
        : m_fd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
    {
        if (m_fd < 0 || isEchoing || ::tcgetattr(m_fd, &m_before) != 0) return;
        termios silent = m_before;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        m_isChanged = ::tcsetattr(m_fd, TCSAFLUSH, &silent) == 0;
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal()
    {
        if (m_isChanged) ::tcsetattr(m_fd, TCSAFLUSH, &m_before);
        if (m_isChanged) say("\n");
        if (m_fd >= 0) ::close(m_fd);
    }
    bool isThere() const { return m_fd >= 0; }
    void say(const std::string& text) const
    {
        // A terminal that is gone has nobody to answer either.
        [[maybe_unused]] const ssize_t written = ::write(m_fd, text.data(), text.size());
    }
    std::optional<std::string> line() const
    {
        std::string out;
        for (char c = 0;;) {
            const ssize_t got = ::read(m_fd, &c, 1);
            if (got < 0 && errno == EINTR) return std::nullopt;
            if (got <= 0) return std::nullopt;
            if (c == '\n') return out;
            out.push_back(c);
        }
    }

private:
    int m_fd;
    termios m_before{};
    bool m_isChanged = false;
};

/// A server's text must not write to the terminal what it likes.
std::string printable(std::string text)
{
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return text;
}

} // namespace

bool TerminalPrompt::acceptHostKey(const remote::HostKeyQuestion& question)
{
    const Terminal terminal(true);
    if (!terminal.isThere()) return false;
    terminal.say("first contact with " + printable(question.host) + "\n  its " + question.keyType +
                 " key has the fingerprint " + question.fingerprint +
                 "\nIs that the board's own? Type `yes` to trust it, anything else to cancel: ");
    return terminal.line() == "yes";
}

std::optional<std::string> TerminalPrompt::secret(const remote::SecretQuestion& question)
{
    const Terminal terminal(question.mayBeShown);
    if (!terminal.isThere()) return std::nullopt;
    std::string text = printable(question.text);
    while (!text.empty() && (text.back() == ' ' || text.back() == ':')) text.pop_back();
    terminal.say(text + ": ");
    return terminal.line();
}

} // namespace tenon::cli
