#pragma once

#include <string>
#include <vector>

#include "cli/settings.h"

namespace grm::cli {

/// What may be typed in one place of a command line.
struct Typed {
  std::vector<std::string> words;
  bool files = false;  // names of files and folders, too
  bool list = false;   // several words with commas between them
  bool keys = false;   // the beginning of a key of --set: "method."; then the key, "=", a value

  bool nothing() const { return words.empty() && !files; }
};

/// One verb, or the program itself: its words for a shell.
struct CompletedVerb {
  struct Verb {
    std::string name, help;
  };
  struct Flag {
    std::vector<std::string> names;  // "--quiet", "-q"
    std::string help;
    bool takes_value = false;
    Typed value;
  };
  std::string path;  // "data check"; the program itself is ""
  std::vector<Verb> verbs;
  std::vector<Flag> flags;
  Typed arguments;
};

/// Sections with a dot at their end, "method.", and the keys of each with "=" at theirs.
std::vector<std::pair<std::string, std::string>> sections_of(const std::vector<SettingKey>& keys);

/// The script that a shell reads to complete the words of `grm`.
std::string bash_completion(const std::vector<CompletedVerb>& verbs,
                            const std::vector<SettingKey>& keys);
std::string zsh_completion(const std::vector<CompletedVerb>& verbs,
                           const std::vector<SettingKey>& keys);
std::string fish_completion(const std::vector<CompletedVerb>& verbs,
                            const std::vector<SettingKey>& keys);

}  // namespace grm::cli
