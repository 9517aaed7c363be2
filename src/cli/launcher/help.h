#pragma once

#include <string>
#include <vector>

namespace grm::launcher {

/// The name under which the help file has the text that these words (without the program's name)
/// ask for: "help" for bare `grm`, `grm help` and `grm --help`, "help study run" for
/// `grm study run -h`, "print --version", "print completion bash". False if they ask for work.
bool asks_for_text(const std::vector<std::string>& words, std::string& name);

/// The text of that name in a help file; false if there is none. The file is a line "grm help 1"
/// and, for each text, a line "LENGTH NAME" with its bytes below.
bool find_text(const std::string& file, const std::string& name, std::string& text);

}  // namespace grm::launcher
