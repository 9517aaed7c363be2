// Scores of any labelled data, and thresholds for decisions.
#include "cli/eval_scores.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <set>

#include "cli/checks.h"
#include "cli/eval_report.h"
#include "cli/eval_targets.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/data/own_data.h"
#include "train/labelled.h"
#include "train/memory_input.h"
#include "train/trainer.h"

namespace grm::cli {
namespace {

// Labelled items with their logits, wherever they come from.
struct Scored {
  std::vector<GroupLogits> groups;
  int64_t unlabelled = 0;
  std::vector<std::string> notes;
};

// A score on data that the model has seen says little about data it has not.
void note_known_files(const ModelAbout& about, const std::string& data, Scored& scored) {
  if (!is_own_data(data)) return;
  std::set<std::string> known;
  for (const auto& [file, hash] : about.data_hashes) known.insert(hash);
  std::string list;
  int64_t count = 0;
  for (const std::string& file : own_input_files(data)) {
    if (file.size() > 5 && file.substr(file.size() - 5) == ".toml") continue;
    if (known.count(sha256_file(file)) == 0) continue;
    ++count;
    if (count <= 3) list += (list.empty() ? "" : ", ") + file;
  }
  if (count == 0) return;
  scored.notes.push_back(fmt::format(
      "{} file{} of {} belong{} to the data that the run was made with ({}{}): scores on training "
      "and validation domains are better than on new ones",
      count, count == 1 ? "" : "s", data, count == 1 ? "s" : "", list, count > 3 ? ", ..." : ""));
}

Scored scores_of_data(Model& model, const EvalFlags& flags, const Common& common) {
  const LabelledLogits labelled = labelled_logits(model, flags.data, common.data_context());
  Scored scored;
  scored.unlabelled = labelled.unlabelled();
  for (const GroupLogits& group : labelled.groups()) {
    const int64_t largest = group.y.max().item<int64_t>();
    if (largest < model.classes()) {
      scored.groups.push_back(group);
      continue;
    }
    scored.notes.push_back(
        fmt::format("{}: not scored, a label is {} but the model knows the classes 0..{}",
                    group.name, largest, model.classes() - 1));
  }
  if (scored.groups.empty()) {
    fail(ErrorKind::data,
         "{}: none of its {} items has a label that the model knows; scores need labels, 'grm "
         "predict' does without",
         flags.data, labelled.labelled() + labelled.unlabelled());
  }
  note_known_files(model.about(), flags.data, scored);
  return scored;
}

int64_t positive_class(const EvalReport& report, const std::string& word) {
  const auto classes = static_cast<int64_t>(report.labels.size());
  if (word.empty()) {
    if (classes == 2) return 1;
    fail(ErrorKind::config,
         "a threshold is for one class, and the model knows {}; name it: --class {}", classes,
         report.labels.front());
  }
  for (int64_t c = 0; c < classes; ++c) {
    if (report.labels[static_cast<size_t>(c)] == word) return c;
  }
  fail(ErrorKind::config, "--class {}: the model knows no such class{}; it knows: {}", word,
       did_you_mean(word, report.labels), joined(report.labels, ", "));
}

// By the probabilities as `grm predict` writes them, in the shortest decimals that read back to the
// same float: the threshold can be compared with the numbers of its file.
Ranking ranking_of(const GroupLogits& group, int64_t positive, double temperature) {
  const torch::Tensor p = tempered_probabilities(group.logits, temperature).contiguous();
  std::vector<double> scores;
  std::vector<uint8_t> is_positive;
  for (int64_t i = 0; i < p.size(0); ++i) {
    const std::string text = fmt::format("{}", p.data_ptr<float>()[i * p.size(1) + positive]);
    scores.push_back(std::strtod(text.c_str(), nullptr));
    is_positive.push_back(group.y[i].item<int64_t>() == positive);
  }
  return {std::move(scores), std::move(is_positive)};
}

// Validation items of the run, if its data is at hand and unchanged enough to be read.
std::vector<GroupLogits> validation_items(const EvalFlags& flags, const Common& common,
                                          std::string& why_not) {
  try {
    LoadedModel model = load_model(flags.run, common.data_context());
    std::vector<GroupLogits> groups = group_logits(*model.method, model.task, Role::validation);
    if (groups.empty()) why_not = "the run has no validation data";
    return groups;
  } catch (const Error& error) {
    why_not = error.what();
    return {};
  }
}

EvalThreshold threshold_for(const EvalFlags& flags, const Common& common, const EvalReport& report,
                            const std::vector<GroupLogits>& groups) {
  EvalThreshold result;
  result.wanted = flags.precision > 0.0 ? Wanted::precision : Wanted::recall;
  result.value = flags.precision > 0.0 ? flags.precision : flags.recall;
  result.positive = positive_class(report, flags.positive);
  const std::vector<GroupLogits> validation = validation_items(flags, common, result.why_not);
  const auto ranking = [&](const GroupLogits& group) {
    return ranking_of(group, result.positive, report.about.temperature);
  };
  result.on_validation = !validation.empty();
  const Ranking chosen_on = ranking(joined_groups(result.on_validation ? validation : groups));
  if (chosen_on.positives() == 0) {
    fail(ErrorKind::data,
         "no threshold can be chosen: none of the {} items has the class '{}'; give data with "
         "items of that class, or another --class",
         result.on_validation ? "validation" : "scored",
         report.labels[static_cast<size_t>(result.positive)]);
  }
  result.choice = choose_threshold(chosen_on, result.wanted, result.value);
  const double threshold = result.choice.called.threshold;
  for (const GroupLogits& group : groups) {
    result.domains.push_back(called_at(ranking(group), threshold));
  }
  result.together = called_at(ranking(joined_groups(groups)), threshold);
  return result;
}

}  // namespace

int eval_scores(const EvalFlags& flags, const Common& common) {
  if (flags.precision > 0.0 && flags.recall > 0.0) {
    fail(ErrorKind::config, "--precision and --recall: one of them is chosen, the other follows");
  }
  common.use_device();
  const Stopwatch watch;
  EvalReport report;
  report.run = flags.run;
  Model model = load(flags.run);
  if (target_of(model.about().loss) != Target::classes) return eval_targets(model, flags, common);
  report.about = model.about();
  for (int64_t c = 0; c < model.classes(); ++c) report.labels.push_back(model.label(c));
  if (flags.wants_threshold()) positive_class(report, flags.positive);  // before the work
  Scored scored;
  if (flags.data.empty()) {
    LoadedModel whole = load_model(flags.run, common.data_context());
    scored.groups = group_logits(*whole.method, whole.task, Role::test);
    report.data = "test domains of the run";
    if (scored.groups.empty()) {
      fail(ErrorKind::data, "{}: its data has no test domain; name labelled data: --data PATH",
           flags.run);
    }
  } else {
    scored = scores_of_data(model, flags, common);
    report.data = flags.data;
  }
  report.unlabelled = scored.unlabelled;
  report.notes = scored.notes;
  const double temperature = report.about.temperature;
  for (const GroupLogits& group : scored.groups) {
    report.domains.push_back(group.name);
    report.groups.emplace_back(group.logits, group.y, temperature);
    report.values.push_back(score_or_nan(report.about.metric, group));
    report.ece.push_back(reliability(group.logits, group.y, temperature).ece);
  }
  const GroupLogits all = joined_groups(scored.groups);
  report.together.emplace_back(all.logits, all.y, temperature);
  report.ece_together = reliability(all.logits, all.y, temperature).ece;
  report.options = {flags.resamples, flags.level, 0};
  if (flags.resamples > 0) {
    report.intervals = bootstrap(report.groups, report.together.front(), report.options);
  }
  if (flags.wants_threshold()) {
    report.threshold = threshold_for(flags, common, report, scored.groups);
    if (!report.threshold->on_validation) {
      report.notes.push_back(fmt::format(
          "the threshold was chosen on the scored data itself, so its precision and recall there "
          "are too good; validation data was not at hand: {}",
          report.threshold->why_not));
    }
  }
  report.seconds = watch.seconds();
  for (const std::string& note : report.notes) log_warning("{}", note);
  if (common.json) {
    print_json(eval_json(report));
  } else {
    print_eval(report);
  }
  return 0;
}

void add_eval_flags(CLI::App& verb, EvalFlags& flags) {
  verb.add_option("run", flags.run, "run folder or model.safetensors")->required();
  verb.add_option("--data", flags.data,
                  "labelled data to score: a folder of own data, one .npz, or the name of a "
                  "built-in dataset, whose test domains are scored (default: the domains of the "
                  "run)");
  verb.add_option("--precision", flags.precision,
                  "wanted precision, as 0.9: the threshold with the most recall that reaches it")
      ->check(number_above(0, 1));
  verb.add_option("--recall", flags.recall,
                  "wanted recall, as 0.8: the threshold with the most precision that reaches it")
      ->check(number_above(0, 1));
  verb.add_option("--class", flags.positive,
                  "the class that the threshold is for (default: the second of two)");
  verb.add_option("--bootstrap", flags.resamples,
                  "resamples that intervals are computed from; 0: no intervals")
      ->check(whole_number(0, 1000000))
      ->capture_default_str();
  verb.add_option("--level", flags.level, "percent of the resamples that an interval holds")
      ->check(number_from(1, 99.99))
      ->capture_default_str();
}

}  // namespace grm::cli
