#include <fmt/format.h>

#include "completion.h"

namespace grm::cli {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string marked(const Typed& typed) {
  std::vector<std::string> words;
  if (typed.files) words.emplace_back("@files");
  if (typed.list) words.emplace_back("@list");
  words.insert(words.end(), typed.words.begin(), typed.words.end());
  return joined(words);
}

// One line of a case for each place where words are known: "data check --set", "data verbs".
// verbs, flags, with (flags that take a value), arguments, and the values of each flag.
void add_case(std::string& text, const std::string& key, const std::string& words) {
  if (!words.empty()) text += fmt::format("    {}) echo {} ;;\n", quoted(key), quoted(words));
}

std::string word_table(const std::vector<CompletedVerb>& verbs) {
  std::string text =
      "# Words of one place, as in 'train --method'. @files: files, too; @list: with commas.\n"
      "_grm_words() {\n  case \"$1\" in\n";
  for (const CompletedVerb& verb : verbs) {
    std::vector<std::string> names, flags, with;
    for (const auto& sub : verb.verbs) names.push_back(sub.name);
    for (const auto& flag : verb.flags) {
      flags.insert(flags.end(), flag.names.begin(), flag.names.end());
      if (flag.takes_value) with.insert(with.end(), flag.names.begin(), flag.names.end());
    }
    add_case(text, verb.path + " verbs", joined(names));
    add_case(text, verb.path + " flags", joined(flags));
    add_case(text, verb.path + " with", joined(with));
    add_case(text, verb.path + " arguments", marked(verb.arguments));
    for (const auto& flag : verb.flags) {
      for (const std::string& name : flag.names) {
        add_case(text, verb.path + " " + name, marked(flag.value));
      }
    }
  }
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
  if [[ $words == *" @list "* && $cur == *,* ]]; then before=${cur%,*},; fi
  if [[ $words == *" @files "* ]]; then
    compopt -o filenames 2> /dev/null
    while IFS= read -r word; do COMPREPLY+=("$before$word"); done \
      < <(compgen -f -- "${cur#"$before"}")
  fi
  words=${words/ @files / }
  words=${words/ @list / }
  while IFS= read -r word; do COMPREPLY+=("$before$word"); done \
    < <(compgen -W "$words" -- "${cur#"$before"}")
  # What stands before the last ':' is, for bash, a word that is done.
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
  fi
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
        flags += fmt::format(" {}", quoted(name + ":" + flag.help));
      }
    }
    for (const auto& sub : verb.verbs) {
      names += fmt::format(" {}", quoted(sub.name + ":" + sub.help));
    }
    for (const auto& [key, lines] :
         {std::pair<std::string, std::string>{" verbs", names}, {" flags", flags}}) {
      if (lines.empty()) continue;
      text += fmt::format("    {}) print -rl --{} ;;\n", quoted(verb.path + key), lines);
    }
  }
  return text + "  esac\n}\n\n";
}

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

complete -c grm -f
)fish";

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_values(const Typed& typed) {
  std::string text;
  if (typed.files) text += " -F";
  if (typed.words.empty()) return text;
  return text + " -a " +
         fish_quoted(typed.list ? "(__grm_list " + joined(typed.words) + ")" : joined(typed.words));
}

}  // namespace

std::string bash_completion(const std::vector<CompletedVerb>& verbs) {
  return "# Completion of grm for bash, made by 'grm completion bash'.\n" + word_table(verbs) +
         kBash;
}

std::string zsh_completion(const std::vector<CompletedVerb>& verbs) {
  return "#compdef grm\n# Completion of grm for zsh, made by 'grm completion zsh'.\n" +
         word_table(verbs) + about_table(verbs) + kZsh;
}

std::string fish_completion(const std::vector<CompletedVerb>& verbs) {
  std::vector<std::string> parents;
  for (const CompletedVerb& verb : verbs) {
    if (!verb.path.empty() && !verb.verbs.empty()) parents.push_back(verb.path);
  }
  std::string text = kFish;
  const std::string mark = "@parents@";
  text.replace(text.find(mark), mark.size(), joined(parents));
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
