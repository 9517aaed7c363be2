#include "cli/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/settings.h"
#include "cli/terminal.h"
#include "grm/core/options.h"
#include "grm/data/dataset.h"
#include "grm/methods/method.h"

namespace grm::cli {
namespace {

using Words = std::vector<std::string>;
constexpr size_t kRepeated = 60;  // columns of a word that a message repeats

std::string in_quotes(const std::string& word) {
  return "'" + shortened(word, kRepeated) + "'";
}

bool is_flag(const std::string& word) {
  return word.size() > 1 && word[0] == '-';
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

Words names_of(const std::vector<const CLI::App*>& verbs) {
  Words names;
  for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
  return names;
}

// How far the words lead: the last verb that there is, and the word behind it that is none.
struct Place {
  const CLI::App* verb = nullptr;
  std::string path = "grm";  // "grm data check"
  std::string stray;         // stands where a verb belongs
};

Place place_of(const CLI::App& app, const Words& words) {
  Place place;
  place.verb = &app;
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> verbs = verbs_of(*place.verb);
    if (verbs.empty()) break;
    if (is_flag(word)) continue;
    const auto found = std::find_if(verbs.begin(), verbs.end(),
                                    [&](const CLI::App* verb) { return verb->get_name() == word; });
    if (found == verbs.end()) {
      place.stray = word;
      break;
    }
    place.verb = *found;
    place.path += " " + word;
  }
  return place;
}

// A verb of this name one level below, as in 'grm check' for 'grm data check'.
std::string verb_below(const CLI::App& app, const std::string& path, const std::string& name) {
  for (const CLI::App* verb : verbs_of(app)) {
    for (const CLI::App* sub : verbs_of(*verb)) {
      if (sub->get_name() == name) return path + " " + verb->get_name() + " " + name;
    }
  }
  return "";
}

std::string unknown_verb(const Place& place) {
  const Words verbs = names_of(verbs_of(*place.verb));
  std::string meant = verb_below(*place.verb, place.path, place.stray);
  if (meant.empty()) meant = nearest_word(place.stray, verbs);
  const std::string what =
      fmt::format("{} is not a verb{}", in_quotes(place.stray),
                  place.path == "grm" ? "" : fmt::format(" of '{}'", place.path));
  if (!meant.empty()) return fmt::format("{}, did you mean '{}'?", what, meant);
  return fmt::format("{}; there are: {}", what, fmt::join(verbs, ", "));
}

std::string bare(const std::string& flag) {
  const size_t begin = std::min(flag.find_first_not_of('-'), flag.size());
  return flag.substr(begin, flag.find('=') - begin);
}

Words flags_of(const CLI::App& verb) {
  Words names;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_group().empty()) continue;
    const Words& own = option->get_lnames();
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

// The key of --set that ends like this: 'lr' is method.lr.
std::string setting_named(const CLI::App& verb, const std::string& name) {
  if (!verb.get_option_no_throw("--set")) return "";
  std::string key = name;
  std::replace(key.begin(), key.end(), '-', '_');
  for (const SettingKey& setting : setting_keys()) {
    if (setting.name == key || setting.name.substr(setting.name.find('.') + 1) == key) {
      return setting.name;
    }
  }
  return "";
}

std::string unknown_flag(const Place& place, const std::string& word) {
  const std::string name = bare(word);
  const std::string what = fmt::format("'{}' has no flag {}", place.path,
                                       shortened(word.substr(0, word.find('=')), kRepeated));
  const Words flags = flags_of(*place.verb);
  Words beginning;  // the flags that what was typed is the beginning of
  std::copy_if(flags.begin(), flags.end(), std::back_inserter(beginning),
               [&](const auto& flag) { return name.size() > 1 && flag.rfind(name, 0) == 0; });
  if (beginning.size() == 1) return fmt::format("{}, did you mean '--{}'?", what, beginning[0]);
  if (const std::string key = setting_named(*place.verb, name); !key.empty()) {
    return fmt::format("{}; it is an option: --set {}=VALUE", what, key);
  }
  const std::string near = nearest_word(name, flags);
  return near.empty() ? what : fmt::format("{}, did you mean '--{}'?", what, near);
}

std::string unexpected_word(const Place& place, const std::string& word) {
  std::string meant;
  const auto& data = datasets();
  if (std::any_of(data.begin(), data.end(), [&](const auto& e) { return e.name == word; })) {
    meant = "--dataset";
  }
  const std::string method = word.substr(0, word.find_first_of(":,"));
  const auto& known = methods();
  if (std::any_of(known.begin(), known.end(), [&](const auto& e) { return e.name == method; })) {
    meant = "--method";
  }
  const std::string what = fmt::format("{} was not expected here", in_quotes(word));
  if (meant.empty() || !place.verb->get_option_no_throw(meant)) return what;
  return fmt::format("{}, did you mean '{} {}'?", what, meant, word);
}

// "run is required": with the words that the help has for it.
std::string missing_argument(const Place& place, const std::string& text) {
  const std::string name = text.substr(0, text.rfind(" is required"));
  const CLI::Option* option = place.verb->get_option_no_throw(name);
  if (!option) return text;
  return fmt::format("'{}' needs {}: {}", place.path, option->get_positional() ? "a " + name : name,
                     option->get_description());
}

std::string first_words(const CLI::ParseError& error, const Place& place) {
  const std::string text = error.what();
  const std::string kind = error.get_name();
  const auto ends_with = [&](const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
  };
  if (kind == "RequiredError" && ends_with(" is required")) return missing_argument(place, text);
  if (kind == "ArgumentMismatch" && ends_with(" missing")) {
    return text.substr(0, text.find(':')) + " needs a value";
  }
  const std::string convert = "Could not convert: ";
  if (kind == "ConversionError" && text.rfind(convert, 0) == 0) {
    const size_t equals = text.find(" = ");
    return fmt::format("{}: {} is not a number",
                       text.substr(convert.size(), equals - convert.size()),
                       in_quotes(text.substr(equals + 3)));
  }
  return text;
}

}  // namespace

std::string usage_message(const CLI::App& app, const CLI::ParseError& error, const Words& words) {
  const Place place = place_of(app, words);
  const auto with_help = [&](const std::string& what) {
    const bool question = !what.empty() && what.back() == '?';
    return fmt::format("{}{} see '{} --help'", what, question ? "" : ";", place.path);
  };
  if (!place.stray.empty()) return with_help(unknown_verb(place));
  // A flag that is none is the reason, whatever else the parser misses because of it.
  const Words extra = app.remaining(true);
  const auto flag = std::find_if(extra.begin(), extra.end(), is_flag);
  if (flag != extra.end()) return with_help(unknown_flag(place, *flag));
  if (!verbs_of(*place.verb).empty()) {
    return with_help(fmt::format("'{}' needs a verb: {}", place.path,
                                 fmt::join(names_of(verbs_of(*place.verb)), ", ")));
  }
  if (!extra.empty()) return with_help(unexpected_word(place, extra.front()));
  return with_help(first_words(error, place));
}

}  // namespace grm::cli
