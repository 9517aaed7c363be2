#include <fmt/format.h>

#include "cli/completion.h"
#include "core/text.h"

namespace grm::cli {
namespace {

constexpr char kFish[] = R"fish(# True where the verbs on the line so far are these.
function __grm_at
    set -l at
    set -l typed (commandline -opc)
    for word in $typed[2..-1]
        string match -q -- '-*' $word; and continue
        set at $at $word
        contains -- "$at" @parents@; or break
    end
    test "$at" = "$argv"
end

# Words that may stand behind others and a comma.
function __grm_list
    set -l before (string match -r '.*,' -- (commandline -ct)); or set before ''
    printf '%s\n' $before$argv
end

# Keys of --set in these sections; behind a key and '=', its values.
function __grm_keys
    set -l typed (string replace -r '^--set=' '' -- (commandline -ct))
    switch $typed
@cases@
    end
    if string match -q '*=*' -- $typed
        return
    else if string match -q '*.*' -- $typed
        for section in $argv
            __grm_section $section
        end
    else
        printf '%s\n' $argv
    end
end

function __grm_section
    switch $argv
@sections@
    end
end

complete -c grm -f
)fish";

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(text, {{"'", "\\'"}, {"\\", "\\\\"}}) + "'";
}

std::string fish_values(const Typed& typed) {
  std::string text;
  if (typed.files) text += " -F";
  if (typed.words.empty()) return text;
  if (typed.keys)
    return text + " -a " + fish_quoted("(__grm_keys " + joined(typed.words, " ") + ")");
  return text + " -a " +
         fish_quoted(typed.list ? "(__grm_list " + joined(typed.words, " ") + ")"
                                : joined(typed.words, " "));
}

// Lines of a switch of fish: what is typed, and the words that may come of it.
std::string fish_case(const std::string& pattern, const std::string& words) {
  return fmt::format("        case '{}'\n            printf '%s\\n' {}\n", pattern, words);
}

std::string fish_key_cases(const std::vector<SettingKey>& keys) {
  std::string text;
  for (const SettingKey& key : keys) {
    std::string words;
    for (const std::string& value : key.values) words += " " + key.name + "=" + value;
    if (!words.empty()) text += fish_case(key.name + "=*", words.substr(1));
  }
  return text;
}

std::string fish_sections(const std::vector<SettingKey>& keys) {
  std::string text;
  for (const auto& [section, words] : sections_of(keys)) text += fish_case(section, words);
  return text;
}

}  // namespace

std::string fish_completion(const std::vector<CompletedVerb>& verbs,
                            const std::vector<SettingKey>& keys) {
  std::vector<std::string> parents;
  for (const CompletedVerb& verb : verbs) {
    if (!verb.path.empty() && !verb.verbs.empty()) parents.push_back(verb.path);
  }
  std::string text = kFish;
  const auto fill = [&](const std::string& mark, const std::string& words) {
    text.replace(text.find(mark), mark.size(), words);
  };
  fill("@parents@", joined(parents, " "));
  fill("@cases@", fish_key_cases(keys));
  fill("@sections@", fish_sections(keys));
  for (const CompletedVerb& verb : verbs) {
    const std::string head = fmt::format(
        "complete -c grm -n {}",
        fish_quoted("__grm_at" + std::string(verb.path.empty() ? "" : " ") + verb.path));
    for (const auto& sub : verb.verbs) {
      text += fmt::format("{} -a {} -d {}\n", head, sub.name, fish_quoted(sub.help));
    }
    for (const auto& flag : verb.flags) {
      text += head;
      for (const std::string& name : flag.names) {
        text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (flag.takes_value) text += (flag.value.files ? " -r" : " -x") + fish_values(flag.value);
      text += fmt::format(" -d {}\n", fish_quoted(flag.help));
    }
    if (!verb.arguments.nothing()) text += head + fish_values(verb.arguments) + "\n";
  }
  return "# Completion of grm for fish, made by 'grm completion fish'.\n" + text;
}

}  // namespace grm::cli
