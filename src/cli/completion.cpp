// Shell completion, read off the parser itself: a verb or flag that exists is completed.
#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/checks.h"
#include "cli/cli.h"
#include "core/json.h"
#include "core/lists.h"
#include "grm/methods/method.h"
#include "report/reproduce.h"
#include "study/spec.h"

namespace grm::cli {
namespace {

std::vector<std::string> method_names(bool with_presets) {
  std::vector<std::string> words;
  for (const MethodEntry& entry : methods()) {
    add_once(words, entry.name);
    if (!with_presets) continue;
    for (const Preset& preset : entry.presets) add_once(words, entry.name + ":" + preset.name);
  }
  return words;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> words;
  for (const MethodEntry& entry : methods()) {
    for (const Preset& preset : entry.presets) add_once(words, preset.name);
  }
  return words;
}

std::vector<std::string> dataset_names() {
  std::vector<std::string> words;
  for (const DatasetEntry& entry : datasets()) words.push_back(entry.name);
  return words;
}

std::vector<std::string> target_names() {
  std::vector<std::string> words;
  for (const report::Target& target : report::targets()) words.push_back(target.name);
  return words;
}

// "TEXT:{text,csv}": a value that is one of these.
std::vector<std::string> allowed_words(const std::string& type) {
  const size_t begin = type.find('{'), end = type.rfind('}');
  std::vector<std::string> words;
  if (begin == std::string::npos || end == std::string::npos) return words;
  for (size_t at = begin + 1; at <= end;) {
    const size_t next = std::min(type.find(',', at), end);
    words.push_back(type.substr(at, next - at));
    at = next + 1;
  }
  return words;
}

bool is_text(const std::string& type) {
  return type.rfind("TEXT", 0) == 0;
}

// Values that the registries know; other texts are names of files, numbers are left to the user.
Typed values_of(const CLI::Option& option, const std::string& verb) {
  const std::string name = option.get_name();
  const bool training =
      verb == "train" || verb == "predict" || verb == "explain" || verb == "attribute";
  Typed typed;
  typed.list = option.get_delimiter() != '\0';
  if (const auto allowed = allowed_words(option.get_type_name()); !allowed.empty()) {
    typed.words = allowed;
  } else if (name == "--method" || name == "--against") {
    typed.words = method_names(true);
    typed.list = name == "--method";
  } else if (name == "--preset") {
    typed.words = preset_names();
  } else if (name == "--dataset" || name == "--data" ||
             (name == "name" && verb.find("data ") == 0)) {
    typed.words = dataset_names();
    typed.files = training || name == "name";
  } else if (name == "--device") {
    typed.words = {"cpu"};
  } else if (name == "--set") {
    typed.keys = true;
    typed.words = {"dataset."};
    if (verb.find("data ") != 0) typed.words.insert(typed.words.end(), {"method.", "train."});
  } else if (name == "--level") {
    typed.words = {"node", "graph"};
  } else if (name == "target") {
    typed.words = target_names();
  } else if (name == "study") {
    const bool runs = verb == "study run" || verb == "study tune";
    if (runs) typed.words = study::ready_studies();
    typed.files = runs;
  } else {
    const bool own_words = name == "--item" || name == "--domain" || name == "--title" ||
                           name == "--block" || name == "--study" || name == "--job" ||
                           name == "--partition" || name == "--time" || name == "--sbatch";
    typed.files = is_text(option.get_type_name()) && !own_words;
  }
  return typed;
}

void add_option(const CLI::Option& option, CompletedVerb& into) {
  if (option.get_positional()) {
    if (into.arguments.nothing()) into.arguments = values_of(option, into.path);
    return;
  }
  if (option.get_group().empty()) return;
  CompletedVerb::Flag flag;
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  flag.help = option.get_description();
  flag.takes_value = option.get_items_expected_max() > 0;
  if (flag.takes_value) flag.value = values_of(option, into.path);
  into.flags.push_back(std::move(flag));
}

void collect(const CLI::App& app, const std::string& path, std::vector<CompletedVerb>& into) {
  CompletedVerb verb;
  verb.path = path;
  const auto shown = [](const CLI::App* sub) { return !sub->get_group().empty(); };
  const std::vector<const CLI::App*> subs = app.get_subcommands(shown);
  for (const CLI::App* sub : subs) verb.verbs.push_back({sub->get_name(), sub->get_description()});
  for (const CLI::Option* option : app.get_options()) add_option(*option, verb);
  into.push_back(std::move(verb));
  for (const CLI::App* sub : subs) {
    collect(*sub, path + (path.empty() ? "" : " ") + sub->get_name(), into);
  }
}

int print(const CLI::App& app, const std::string& shell, const Common& common) {
  const std::string script = completion_script(app, shell);
  if (common.json) {
    print_json({{"shell", shell}, {"script", script}});
  } else {
    std::fputs(script.c_str(), stdout);
  }
  return 0;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  std::vector<CompletedVerb> verbs;
  collect(app, "", verbs);
  const std::vector<SettingKey> keys = setting_keys();
  return shell == "bash"  ? bash_completion(verbs, keys)
         : shell == "zsh" ? zsh_completion(verbs, keys)
                          : fish_completion(verbs, keys);
}

void add_completion(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("completion", "a script that makes a shell complete grm");
  auto shell = std::make_shared<std::string>();
  add_common(*verb, common, false);
  verb->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  verb->footer(
      "Examples:\n"
      "  grm completion bash > ~/.local/share/bash-completion/completions/grm\n"
      "  grm completion zsh > ~/.zfunc/_grm            with fpath+=~/.zfunc before compinit\n"
      "  grm completion fish > ~/.config/fish/completions/grm.fish\n\n"
      "For this shell only: eval \"$(grm completion bash)\"");
  set_call(*verb, action, [=, &app, &common] { return print(app, *shell, common); });
}

}  // namespace grm::cli
