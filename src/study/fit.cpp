#include "study/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "study/fit_runs.h"

namespace grm::study {
namespace {

namespace fs = std::filesystem;

class Fit {
 public:
  Fit(const FitRequest& request, const FitHooks& hooks)
      : request_(request), hooks_(hooks), search_runs_(request, hooks) {}

  FitResult plan() {
    const Level level = find_dataset(request_.data).level;
    result_.level = level;
    std::vector<double> seconds;
    for (const Candidate& candidate :
         request_.candidates.empty() ? portfolio(level) : request_.candidates) {
      configs_.push_back(configured(candidate, TestScoring::never));
      Tried tried;
      tried.candidate = candidate;
      const Task& task = search_runs_.task(configs_.back());
      tried.counted = counted_seconds(configs_.back(), task);
      seconds.push_back(tried.counted);
      result_.tried.push_back(tried);
      result_.name = task.name;
      result_.metric = to_string(task.metric);
      result_.errors = smaller_is_better(task.metric);
    }
    if (search_runs_.task(configs_.front()).validation.empty()) {
      fail(ErrorKind::data,
           "{}: has no validation domain, and nothing else may choose a method; name one under "
           "[validation] in dataset.toml",
           request_.data);
    }
    result_.plan = plan_fit(seconds, request_.minutes);
    for (const size_t k : result_.plan.left_out) {
      result_.tried[k].problem = fmt::format(
          "left out: a run is counted at {:.0f} s, too long for {:g} minutes; give more --minutes",
          result_.tried[k].counted, request_.minutes);
    }
    return result_;
  }

  FitResult operator()() {
    plan();
    check_folder();
    search();
    result_.why = why();
    finish();
    return result_;
  }

 private:
  RunConfig configured(const Candidate& candidate, TestScoring test) const {
    RunConfig config = config_of(candidate, request_.data, test);
    if (!request_.device.empty()) config.set("train.device", request_.device);
    return config;
  }

  // A folder belongs to one data set: numbers of two are not compared.
  void check_folder() {
    const std::string path = request_.out + "/fit-data.json";
    const Hashes& now = search_runs_.task(configs_.front()).hashes;
    std::error_code code;
    if (fs::exists(path, code)) {
      const auto known = parse_json<nlohmann::json>(read_file(path), path);
      const std::vector<DataChange> changes = data_changes(known.get<Hashes>(), now);
      if (!changes.empty()) {
        fail(ErrorKind::data,
             "{}: was made with other data than is there now: {}; name another folder: --out DIR",
             request_.out, changes_text(changes));
      }
      return;
    }
    fs::create_directories(request_.out, code);
    if (code) fail(ErrorKind::io, "{}: folder cannot be made: {}", request_.out, code.message());
    write_file_atomic(path, json_text(nlohmann::json(now), 2) + "\n");
  }

  void search() {
    std::vector<size_t> live = result_.plan.candidates;
    for (size_t r = 0; r < result_.plan.rungs.size(); ++r) {
      const Rung& rung = result_.plan.rungs[r];
      std::vector<size_t> ended;
      try {
        for (size_t k = 0; k < live.size(); ++k) {
          if (climb(live[k], rung, r, k, live.size())) ended.push_back(live[k]);
        }
      } catch (const TimeIsUp&) {
        result_.complete = false;
        // Candidates are compared at the same length: those of a rung that all of them finished.
        if (r == 0) live = ended;
        break;
      }
      live = best_of(ended, static_cast<size_t>(rung.keep));
      if (live.empty()) break;
    }
    for (size_t k = 0; k < live.size() && !result_.complete; ++k) {
      // What some candidates did of a rung that was cut off does not count.
      Tried& tried = result_.tried[live[k]];
      size_t common = tried.rung;
      for (const size_t other : live) common = std::min(common, result_.tried[other].rung);
      if (tried.rung > common) restore(live[k], common);
    }
    if (live.empty()) {
      std::string problems;
      for (const Tried& tried : result_.tried) {
        if (tried.problem.empty()) continue;
        problems += fmt::format("{}{}: {}", problems.empty() ? "" : "; ", tried.candidate.name,
                                tried.problem);
      }
      if (problems.empty()) problems = "time was up before the first candidate was evaluated";
      fail(ErrorKind::config, "{}: nothing could be trained: {}", request_.data, problems);
    }
    result_.chosen = best_of(live, 1).front();
  }

  // Trains a candidate to the end of a rung. False: it cannot be trained.
  bool climb(size_t index, const Rung& rung, size_t r, size_t done, size_t all) {
    Tried& tried = result_.tried[index];
    const RunConfig& config = configs_[index];
    const int64_t first = config.train.first_seed;
    try {
      for (int64_t s = 0; s < rung.seeds; ++s) {
        if (hooks_.on_run) hooks_.on_run(tried.candidate.name, first + s, done, all, r + 1);
        search_runs_.train_to(config, first + s, epochs_at(config, rung.share));
        if (hooks_.on_run_end) hooks_.on_run_end();
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      tried.problem = error.what();
      log_warning("{}: {}", tried.candidate.name, error.what());
      return false;
    }
    take_scores(index, rung, r + 1);
    return true;
  }

  // Means over the seeds of what was found by the end of a rung.
  void take_scores(size_t index, const Rung& rung, size_t number) {
    Tried& tried = result_.tried[index];
    const RunConfig& config = configs_[index];
    tried.rung = number;
    tried.seeds = rung.seeds;
    tried.epochs = epochs_at(config, rung.share);
    tried.validation = tried.loss = 0.0;
    for (int64_t s = 0; s < rung.seeds; ++s) {
      const RunFolder folder = search_runs_.folder_of(config, config.train.first_seed + s);
      const std::string path = folder.file("metrics.jsonl");
      const FoundBy found = found_by(read_file(path), tried.epochs, path, result_.errors);
      ensure(found.any, "fit: a rung without an evaluation");
      tried.validation += found.validation / static_cast<double>(rung.seeds);
      tried.loss += found.loss / static_cast<double>(rung.seeds);
    }
  }

  void restore(size_t index, size_t number) {
    take_scores(index, result_.plan.rungs[number - 1], number);
  }

  // More is better; what is shown and kept is the number itself.
  double merit(double validation) const { return result_.errors ? -validation : validation; }

  std::vector<size_t> best_of(std::vector<size_t> live, size_t keep) const {
    std::vector<size_t> best;
    while (!live.empty() && best.size() < keep) {
      std::vector<double> validation, losses;
      for (const size_t k : live) {
        validation.push_back(merit(result_.tried[k].validation));
        losses.push_back(result_.tried[k].loss);
      }
      const size_t at = choose_by_validation(validation, losses);
      best.push_back(live[at]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::sort(best.begin(), best.end());  // the order of the portfolio
    return best;
  }

  std::string why() const {
    const Tried& chosen = result_.tried[result_.chosen];
    const Tried* next = nullptr;
    size_t compared = 0;
    for (size_t k = 0; k < result_.tried.size(); ++k) {
      const Tried& each = result_.tried[k];
      if (each.rung == 0) continue;
      ++compared;
      if (k == result_.chosen || each.rung != chosen.rung) continue;
      if (!next || merit(each.validation) > merit(next->validation)) next = &each;
    }
    std::string text = fmt::format(
        "{} has the best validation {} of {} candidates, {} (mean of {} seed{}, {} epochs)",
        chosen.candidate.name, result_.metric, compared, shown_score(result_, chosen.validation),
        chosen.seeds, chosen.seeds == 1 ? "" : "s", chosen.epochs);
    if (next) {
      text += fmt::format("; the next is {} with {}", next->candidate.name,
                          shown_score(result_, next->validation));
      if (next->validation == chosen.validation) {
        text += fmt::format(", and of equal scores the smaller loss decides, {:.3g} against {:.3g}",
                            chosen.loss, next->loss);
      }
    }
    return text;
  }

  // The chosen candidate with test scores: its search runs, or as much of them as there is, get
  // their end in folders of their own. Test labels are read here for the first time.
  void finish() {
    const Tried& chosen = result_.tried[result_.chosen];
    const RunConfig& search = configs_[result_.chosen];
    const RunConfig config = configured(chosen.candidate, TestScoring::selected);
    const std::string root = request_.out + (result_.complete ? "/runs" : "/partial");
    std::error_code ignored;
    fs::remove_all(request_.out + "/partial", ignored);
    int64_t seeds = chosen.seeds;
    if (result_.complete && result_.plan.seconds + 2.0 * chosen.counted <= result_.plan.budget) {
      seeds = std::max<int64_t>(seeds, 3);
    }
    for (int64_t s = 0; s < seeds; ++s) {
      result_.runs.push_back(finish_run(search, config, config.train.first_seed + s, root));
    }
    std::vector<double> validation, losses;
    for (const RunRecord& run : result_.runs) {
      const Chosen& by = run.chosen.at(to_string(config.train.selection));
      validation.push_back(merit(by.validation));
      losses.push_back(by.validation_loss);
    }
    result_.best_run = choose_by_validation(validation, losses);
    result_.model = request_.out + "/model.safetensors";
    write_file_atomic(result_.model,
                      read_file(result_.runs[result_.best_run].folder + "/model.safetensors"));
  }

  RunRecord finish_run(const RunConfig& search, const RunConfig& config, int64_t seed,
                       const std::string& root) {
    const Task& task = search_runs_.task_with_test(config);
    RunFolder folder = find_run_folder(root, config, seed, &task.hashes);
    if (folder.path().empty()) folder = create_run_folder(root, config, seed);
    const RunFolder from = search_runs_.folder_of(search, seed);
    if (!folder.has("state.safetensors") && from.has("state.safetensors")) {
      for (const char* name : {"env.json", "metrics.jsonl", "state.safetensors"}) {
        write_file_atomic(folder.file(name), read_file(from.file(name)));
      }
    }
    if (hooks_.on_run) hooks_.on_run(result_.tried[result_.chosen].candidate.name, seed, 0, 1, 0);
    RunHooks hooks;
    hooks.on_epoch = hooks_.on_epoch;
    hooks.interrupted = hooks_.interrupted;
    if (!result_.complete) hooks.enough = [] { return true; };
    const RunRecord record = train_run(config, task, seed, folder, hooks);
    if (hooks_.on_run_end) hooks_.on_run_end();
    return record;
  }

  const FitRequest& request_;
  const FitHooks& hooks_;
  SearchRuns search_runs_;
  std::vector<RunConfig> configs_;  // of the candidates
  FitResult result_;
};

}  // namespace

std::string shown_score(const FitResult& result, double score) {
  return result.errors ? fmt::format("{:.4g}", score) : fmt::format("{:.2f}", score);
}

std::string default_fit_folder(const std::string& data) {
  return "fits/" + find_dataset(data).short_name();
}

FitResult plan_of(const FitRequest& request) {
  return Fit(request, {}).plan();
}

FitResult fit(const FitRequest& request, const FitHooks& hooks) {
  return Fit(request, hooks)();
}

}  // namespace grm::study
