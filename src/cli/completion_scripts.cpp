#include <fmt/format.h>

#include "cli/completion.h"
#include "core/text.h"

namespace grm::cli {

std::vector<std::pair<std::string, std::string>> sections_of(const std::vector<SettingKey>& keys) {
  std::vector<std::pair<std::string, std::string>> sections;
  for (const SettingKey& key : keys) {
    const std::string section = key.name.substr(0, key.name.find('.') + 1);
    if (sections.empty() || sections.back().first != section) sections.emplace_back(section, "");
    std::string& words = sections.back().second;
    words += (words.empty() ? "" : " ") + key.name + "=";
  }
  return sections;
}

namespace {

std::string marked(const Typed& typed) {
  std::vector<std::string> words;
  if (typed.files) words.emplace_back("@files");
  if (typed.list) words.emplace_back("@list");
  if (typed.keys) words.emplace_back("@keys");
  words.insert(words.end(), typed.words.begin(), typed.words.end());
  return joined(words, " ");
}

// One line of a case for each place where words are known: "data check --set", "data verbs".
// verbs, flags, with (flags that take a value), arguments, and the values of each flag.
void add_case(std::string& text, const std::string& key, const std::string& words) {
  if (!words.empty())
    text += fmt::format("    {}) echo {} ;;\n", shell_quoted(key), shell_quoted(words));
}

std::string word_table(const std::vector<CompletedVerb>& verbs,
                       const std::vector<SettingKey>& keys) {
  std::string text =
      "# Words of one place, as in 'train --method'. @files: files, too; @list: with commas;\n"
      "# @keys: of --set, 'key method.' and 'key method.backbone=' say how it goes on.\n"
      "_grm_words() {\n  case \"$1\" in\n";
  for (const CompletedVerb& verb : verbs) {
    std::vector<std::string> names, flags, with;
    for (const auto& sub : verb.verbs) names.push_back(sub.name);
    for (const auto& flag : verb.flags) {
      flags.insert(flags.end(), flag.names.begin(), flag.names.end());
      if (flag.takes_value) with.insert(with.end(), flag.names.begin(), flag.names.end());
    }
    add_case(text, verb.path + " verbs", joined(names, " "));
    add_case(text, verb.path + " flags", joined(flags, " "));
    add_case(text, verb.path + " with", joined(with, " "));
    add_case(text, verb.path + " arguments", marked(verb.arguments));
    for (const auto& flag : verb.flags) {
      for (const std::string& name : flag.names) {
        add_case(text, verb.path + " " + name, marked(flag.value));
      }
    }
  }
  for (const auto& [section, words] : sections_of(keys)) add_case(text, "key " + section, words);
  for (const SettingKey& key : keys)
    add_case(text, "key " + key.name + "=", joined(key.values, " "));
  return text + "  esac\n}\n\n";
}

constexpr char kBash[] = R"bash(_grm() {
  local typed=() word at= what words before= cur n=-1 i glued=
  COMPREPLY=()
  # Bash cuts words at ':' and '=' as well: put them together again.
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $n -ge 0 && ( -n $glued || $word == : || $word == = ) ]]; then
      typed[n]+=$word
    else
      typed[++n]=$word
    fi
    glued=
    if [[ $word == : || $word == = ]]; then glued=1; fi
  done
  cur=${typed[n]}
  for ((i = 1; i < n; ++i)); do
    if [[ ${typed[i]} == -* ]]; then continue; fi
    if [[ " $(_grm_words "$at verbs") " != *" ${typed[i]} "* ]]; then break; fi
    at+=${at:+ }${typed[i]}
  done
  if [[ $cur == --*=* ]]; then
    what="$at ${cur%%=*}"
    cur=${cur#*=}
  elif [[ " $(_grm_words "$at with") " == *" ${typed[n - 1]} "* ]]; then
    what="$at ${typed[n - 1]}"
  elif [[ $cur == -* ]]; then
    what="$at flags"
  elif [[ -n $(_grm_words "$at verbs") ]]; then
    what="$at verbs"
  else
    what="$at arguments"
  fi
  words=" $(_grm_words "$what") "
  if [[ $words == *" @keys "* ]]; then
    if [[ $cur == *=* ]]; then
      before=${cur%%=*}=
      words=" $(_grm_words "key $before") "
    else
      compopt -o nospace 2> /dev/null
      if [[ $cur == *.* && $words == *" ${cur%%.*}. "* ]]; then
        words=" $(_grm_words "key ${cur%%.*}.") "
      fi
    fi
  fi
  if [[ $words == *" @list "* && $cur == *,* ]]; then before=${cur%,*},; fi
  if [[ $words == *" @files "* ]]; then
    compopt -o filenames 2> /dev/null
    while IFS= read -r word; do COMPREPLY+=("$before$word"); done \
      < <(compgen -f -- "${cur#"$before"}")
  fi
  words=${words/ @files / }
  words=${words/ @list / }
  words=${words/ @keys / }
  while IFS= read -r word; do COMPREPLY+=("$before$word"); done \
    < <(compgen -W "$words" -- "${cur#"$before"}")
  # What stands before the last ':' or '=' is, for bash, a word that is done.
  for word in : =; do
    if [[ $cur == *$word* && $COMP_WORDBREAKS == *$word* ]]; then
      COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*"$word"}"}"}")
    fi
  done
}
complete -F _grm grm
)bash";

constexpr char kZsh[] = R"zsh(_grm() {
  local at= what i
  local -a list lines
  for ((i = 2; i < CURRENT; ++i)); do
    if [[ $words[i] == -* ]]; then continue; fi
    if [[ " $(_grm_words "$at verbs") " != *" $words[i] "* ]]; then break; fi
    at+=${at:+ }$words[i]
  done
  if [[ $PREFIX == --*=* ]]; then
    what="$at ${PREFIX%%=*}"
    compset -P '*='
  elif [[ " $(_grm_words "$at with") " == *" $words[CURRENT-1] "* ]]; then
    what="$at $words[CURRENT-1]"
  elif [[ $PREFIX == -* ]]; then
    what="$at flags"
  elif [[ -n $(_grm_words "$at verbs") ]]; then
    what="$at verbs"
  else
    what="$at arguments"
  fi
  lines=("${(@f)$(_grm_about "$what")}")
  if [[ -n $lines ]]; then
    if [[ $what == *flags ]]; then _describe -o flag lines; else _describe verb lines; fi
    return
  fi
  list=(${=$(_grm_words "$what")})
  if (( $list[(Ie)@keys] )); then
    if [[ $PREFIX == *=* ]]; then
      list=(${=$(_grm_words "key ${PREFIX%%=*}=")})
      compset -P '*='
      if (( $#list )); then compadd -- $list; fi
      return
    fi
    if [[ $PREFIX == *.* ]] && (( $list[(Ie)${PREFIX%%.*}.] )); then
      list=(${=$(_grm_words "key ${PREFIX%%.*}.")})
    fi
    compadd -S '' -- ${list:#@*}
    return
  fi
  if (( $list[(Ie)@list] )); then compset -P '*,'; fi
  if (( $list[(Ie)@files] )); then _files; fi
  list=(${list:#@*})
  if (( $#list )); then compadd -- $list; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _grm "$@"
else
  compdef _grm grm
fi
)zsh";

// "name:what it is", a line for each verb and flag.
std::string about_table(const std::vector<CompletedVerb>& verbs) {
  std::string text = "_grm_about() {\n  case \"$1\" in\n";
  for (const CompletedVerb& verb : verbs) {
    std::string flags, names;
    for (const auto& flag : verb.flags) {
      for (const std::string& name : flag.names) {
        flags += fmt::format(" {}", shell_quoted(name + ":" + flag.help));
      }
    }
    for (const auto& sub : verb.verbs) {
      names += fmt::format(" {}", shell_quoted(sub.name + ":" + sub.help));
    }
    for (const auto& [key, lines] :
         {std::pair<std::string, std::string>{" verbs", names}, {" flags", flags}}) {
      if (lines.empty()) continue;
      text += fmt::format("    {}) print -rl --{} ;;\n", shell_quoted(verb.path + key), lines);
    }
  }
  return text + "  esac\n}\n\n";
}

}  // namespace

std::string bash_completion(const std::vector<CompletedVerb>& verbs,
                            const std::vector<SettingKey>& keys) {
  return "# Completion of grm for bash, made by 'grm completion bash'.\n" +
         word_table(verbs, keys) + kBash;
}

std::string zsh_completion(const std::vector<CompletedVerb>& verbs,
                           const std::vector<SettingKey>& keys) {
  return "#compdef grm\n# Completion of grm for zsh, made by 'grm completion zsh'.\n" +
         word_table(verbs, keys) + about_table(verbs) + kZsh;
}

}  // namespace grm::cli
