// SPDX-License-Identifier: Apache-2.0
// Checks of numbers whose errors can be read: CLI11's own name the largest number there is.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace tenon::cli {

inline CLI::Validator numberThat(bool (*holds)(double), const char* rule, const char* name)
{
    return CLI::Validator(
        [=](const std::string& text) {
            double number = 0;
            const bool isFine = CLI::detail::lexical_cast(text, number) && holds(number);
            return isFine ? std::string() : "Value " + text + " is no number " + rule;
        },
        name);
}

inline const CLI::Validator kPositive =
    numberThat([](double number) { return number > 0; }, "above 0", "POSITIVE");
inline const CLI::Validator kNonNegative =
    numberThat([](double number) { return number >= 0; }, "from 0 on", "NONNEGATIVE");

} // namespace tenon::cli
