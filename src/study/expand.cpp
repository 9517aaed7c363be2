// From a specification to its runs, and from names to specifications.
#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "core/files.h"
#include "core/lists.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "study/embedded.h"
#include "study/spec_reader.h"

namespace grm::study {
namespace {
namespace fs = std::filesystem;

bool is_study(const std::string& file) {
  return fs::path(file).extension() == ".toml" && file != "published.toml";
}

const EmbeddedFile* find_ready(const std::string& name) {
  for (const EmbeddedFile& file : study_files()) {
    if (is_study(file.name) && (file.name == name || file.name == name + ".toml")) return &file;
  }
  return nullptr;
}

// A study with all it includes. `open` holds the origins on the way to it. Ready studies include
// ready ones only; a file looks beside itself first.
StudySpec parse_all(const std::string& text, const std::string& origin, bool ready,
                    std::vector<std::string> open) {
  std::vector<Include> includes;
  StudySpec spec = read_spec(text, origin, includes);
  open.push_back(origin);
  for (const Include& include : includes) {
    const std::string beside = (fs::path(origin).parent_path() / include.name).string();
    const bool file = !ready && fs::is_regular_file(beside);
    const EmbeddedFile* found = file ? nullptr : find_ready(include.name);
    if (!file && !found) {
      fail(ErrorKind::config, "{}: there is no study '{}'{}", include.place, include.name,
           did_you_mean(include.name, ready_studies()));
    }
    const std::string from = file ? beside : found->name;
    if (contains(open, from)) {
      fail(ErrorKind::config, "{}: '{}' includes itself", include.place, include.name);
    }
    spec.included.push_back(parse_all(file ? read_file(beside) : found->text, from, !file, open));
  }
  return spec;
}

bool has(const std::vector<std::string>& list, const std::string& a, const std::string& b) {
  return list.empty() || contains(list, a) || contains(list, b);
}

// What a result is and what it may not depend on: see docs/studies.md.
void check_reportable(const RunConfig& config, const StudySpec& spec) {
  if (config.train.test == TestScoring::never) {
    fail(ErrorKind::config, "{}: train.test = never leaves no scores to report", spec.origin);
  }
  if (config.train.selection != Selection::val && config.train.test != TestScoring::every) {
    fail(ErrorKind::config,
         "{}: studies report the epoch chosen on validation; train.selection = {} needs "
         "train.test = every beside it",
         spec.origin, to_string(config.train.selection));
  }
}

}  // namespace

StudySpec parse_spec(const std::string& text, const std::string& origin) {
  return parse_all(text, origin, false, {});
}

StudySpec load_spec(const std::string& file_or_name) {
  if (fs::is_regular_file(file_or_name)) {
    return parse_all(read_file(file_or_name), file_or_name, false, {});
  }
  if (const EmbeddedFile* ready = find_ready(file_or_name)) {
    return parse_all(ready->text, ready->name, true, {});
  }
  const std::vector<std::string> known = ready_studies();
  fail(ErrorKind::config, "'{}' is neither a file nor a ready study{}; ready are: {}", file_or_name,
       did_you_mean(file_or_name, known), known.empty() ? "none" : joined(known));
}

std::vector<std::string> ready_studies() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : study_files()) {
    if (is_study(file.name)) names.push_back(fs::path(file.name).stem().string());
  }
  return names;
}

void apply_setting(RunConfig& config, const Setting& setting, const MethodSpec& method) {
  try {
    config.set(setting.key, setting.value);
  } catch (const Error& error) {
    fail(ErrorKind::config, "{}: {} (for {} on {})", setting.place, error.what(), method.text,
         config.dataset_name());
  }
}

bool VariantSpec::takes(const MethodSpec& method) const {
  return has(methods, method.name, method.text);
}

RunConfig configure(const StudySpec& spec, const DatasetSpec& dataset, const MethodSpec& method,
                    const VariantSpec& variant) {
  RunConfig config(dataset.name, method.name, method.preset);
  const auto apply = [&](const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) apply_setting(config, setting, method);
  };
  apply(spec.set);
  apply(dataset.set);
  apply(variant.set);
  for (const WhenSpec& when : spec.when) {
    if (has(when.datasets, dataset.name, dataset.label) &&
        has(when.methods, method.name, method.text) &&
        has(when.variants, variant.name, variant.name)) {
      apply(when.set);
    }
  }
  return config;
}

std::vector<PlannedCell> expand(const StudySpec& spec) {
  std::vector<PlannedCell> cells;
  for (const DatasetSpec& dataset : spec.datasets) {
    const int64_t seeds = dataset.seeds > 0 ? std::min(dataset.seeds, spec.seeds) : spec.seeds;
    for (const MethodSpec& method : spec.methods) {
      for (const VariantSpec& variant : spec.variants) {
        if (!variant.takes(method)) continue;
        const RunConfig config = configure(spec, dataset, method, variant);
        check_reportable(config, spec);
        for (int64_t k = 0; k < seeds; ++k) {
          const int64_t seed = spec.first_seed + k;
          cells.push_back(
              {dataset.label, method.text, variant.name, 0, seed, config.to_toml(seed)});
        }
      }
    }
  }
  // Seed by seed: a study that is stopped early has whole tables of fewer seeds.
  std::stable_sort(cells.begin(), cells.end(),
                   [](const PlannedCell& a, const PlannedCell& b) { return a.seed < b.seed; });
  if (spec.included.empty()) return cells;
  using Name = std::tuple<std::string, std::string, std::string, int64_t>;
  std::map<Name, std::string> seen;
  for (const PlannedCell& c : cells) seen[{c.dataset, c.method, c.variant, c.seed}] = c.config;
  for (const StudySpec& other : spec.included) {
    for (PlannedCell& c : expand(other)) {
      const auto [at, fresh] = seen.try_emplace({c.dataset, c.method, c.variant, c.seed}, c.config);
      if (fresh) {
        cells.push_back(std::move(c));
      } else if (at->second != c.config) {
        fail(ErrorKind::config,
             "{}: {} {} {} seed {} of {} has other option values than the cell of this name "
             "before it; give one of them a variant name of its own",
             spec.origin, c.dataset, c.method, c.variant, c.seed, other.origin);
      }
    }
  }
  return cells;
}

}  // namespace grm::study
