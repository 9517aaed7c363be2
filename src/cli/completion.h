#pragma once

#include <string>
#include <vector>

namespace grm::cli {

/// What may be typed in one place of a command line.
struct Typed {
  std::vector<std::string> words;
  bool files = false;  // names of files and folders, too
  bool list = false;   // several words with commas between them

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

/// The script that a shell reads to complete the words of `grm`.
std::string bash_completion(const std::vector<CompletedVerb>& verbs);
std::string zsh_completion(const std::vector<CompletedVerb>& verbs);
std::string fish_completion(const std::vector<CompletedVerb>& verbs);

}  // namespace grm::cli
