#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli/cli.h"
#include "cli/run_flags.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/train/predict.h"
#include "train/memory_input.h"

namespace grm::cli {
namespace {

struct PredictFlags {
  std::string run, data, out;
  bool raw = false;
};

struct Stopped {};  // thrown between two pieces of work after Ctrl-C

// Where the lines go: nowhere, to stdout, or to a file that gets its name when it is whole.
class Output {
 public:
  Output(const std::string& path, bool to_stdout) : path_(path) {
    if (path.empty()) {
      file_ = to_stdout ? stdout : nullptr;
      return;
    }
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    std::error_code code;
    if (!parent.empty()) std::filesystem::create_directories(parent, code);
    if (std::filesystem::is_directory(path, code)) {
      fail(ErrorKind::io, "{}: is a folder, --out takes a file", path);
    }
    const Temporary made = create_temporary(path);
    temporary_ = made.path;
    file_ = fdopen(made.descriptor, "w");
    if (!file_) fail(ErrorKind::io, "{}: cannot be written: {}", path, std::strerror(errno));
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (temporary_.empty()) return;
    if (file_) std::fclose(file_);
    unlink(temporary_.c_str());
  }

  void write(const std::string& text) {
    if (file_ && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) give_up();
  }

  void finish() {
    if (!file_) return;
    if (std::fflush(file_) != 0) give_up();
    if (temporary_.empty()) return;
    if (fsync(fileno(file_)) != 0) give_up();
    std::FILE* whole = file_;
    file_ = nullptr;
    if (std::fclose(whole) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) give_up();
    temporary_.clear();
  }

 private:
  [[noreturn]] void give_up() {
    fail(ErrorKind::io, "{}: writing failed: {}{}", path_.empty() ? "standard output" : path_,
         std::strerror(errno), path_.empty() ? "" : " (the old content, if any, is untouched)");
  }

  std::string path_, temporary_;
  std::FILE* file_ = nullptr;
};

// A line on stderr now and then.
class Shown {
 public:
  explicit Shown(bool quiet) : quiet_(quiet), terminal_(can_redraw(STDERR_FILENO)) {}
  void operator()(int64_t done, int64_t all) {
    if (interrupted()) throw Stopped();
    const double now = watch_.seconds();
    if (quiet_ || done == 0 || (done < all && now - last_ < (terminal_ ? 0.1 : 5.0))) return;
    last_ = now;
    const double left = now * static_cast<double>(all - done) / static_cast<double>(done);
    if (terminal_) {
      const double share = static_cast<double>(done) / static_cast<double>(all);
      const std::string drawn = ink(STDERR_FILENO, Ink::green, bar(share, 20));
      say(kFreshLine + (done == all ? ""
                                    : fmt::format("{} {:3.0f}%  {}/{} predicted, {} left", drawn,
                                                  100 * share, done, all, duration_text(left))));
    } else if (done < all) {
      fmt::print(stderr, "{}/{} predicted, {} left\n", done, all, duration_text(left));
    }
  }

 private:
  bool quiet_, terminal_;
  Stopwatch watch_;
  double last_ = 0.0;
};

ordered_json to_json(const PredictFlags& flags, const Model& model, size_t domains,
                     const PredictionSummary& s) {
  const ModelAbout& about = model.about();
  ordered_json out = {{"model", model.path()},
                      {"model_sha256", sha256_file(model.path())},
                      {"dataset", about.dataset},
                      {"method", about.method},
                      {"preset", about.preset},
                      {"seed", about.seed},
                      {"epoch", about.epoch},
                      {"temperature", model.temperature()},
                      {"data", flags.data},
                      {"out", flags.out.empty() ? ordered_json() : ordered_json(flags.out)},
                      {"domains", domains},
                      {"items", s.items},
                      {"classes", ordered_json::array()}};
  for (size_t c = 0; c < s.count.size(); ++c) {
    out["classes"].push_back(
        {{"class", c}, {"label", model.label(static_cast<int64_t>(c))}, {"count", s.count[c]}});
  }
  out["mean_spread"] = s.sampled ? ordered_json(s.mean_spread) : ordered_json();
  out["mean_entropy"] = s.mean_entropy;
  out["metric"] = to_string(about.metric);
  out["unit"] = smaller_is_better(about.metric) ? "target" : "percent";
  out["target"] = to_string(target_of(about.loss));
  out["scores"] = ordered_json::array();
  for (const PredictionScore& score : s.scores) {
    out["scores"].push_back({{"domain", score.domain},
                             {"labelled", score.labelled},
                             {"value", score.value},
                             {"ece", score.ece}});
  }
  out["notes"] = s.notes;
  return out;
}

void tell(const PredictFlags& flags, const Model& model, const PredictionSummary& s) {
  std::string counts;
  for (size_t c = 0; c < s.count.size(); ++c) {
    if (s.count[c] == 0) continue;
    counts += fmt::format("{}{} of {}", counts.empty() ? "" : ", ", s.count[c],
                          model.label(static_cast<int64_t>(c)));
  }
  log_info("{} {} predicted: {}", s.items, model.about().level == Level::graph ? "graphs" : "nodes",
           counts);
  if (s.sampled) log_info("mean spread over samples {:.4f}", s.mean_spread);
  for (const PredictionScore& score : s.scores) {
    log_info("{}: {} {:.2f} on {} labels, calibration error {:.2f}", score.domain,
             to_string(model.about().metric), score.value, score.labelled, score.ece);
  }
  if (!flags.out.empty()) log_info("written to {}", flags.out);
}

int predict(const PredictFlags& flags, const Common& common) {
  watch_interrupt();
  const Stopwatch watch;
  common.use_device();
  Model model = load(flags.run);
  if (flags.raw) model.set_temperature(1.0);
  const std::vector<Asked> data = data_to_predict(model, flags.data, common.data_context());
  check_memory_to_predict(model, data);
  Output output(flags.out, /*to_stdout=*/!common.json);
  PredictionSummary summary;
  try {
    summary = predict_csv(
        model, data, [&](const std::string& text) { output.write(text); }, Shown(common.quiet));
  } catch (const Stopped&) {
    fmt::print(stderr, "grm: stopped; nothing was written\n");
    return 130;
  }
  output.finish();
  for (const std::string& note : summary.notes) log_warning("{}", note);
  tell(flags, model, summary);
  if (common.json) {
    ordered_json out = to_json(flags, model, data.size(), summary);
    out["seconds"] = watch.seconds();
    print_json(out);
  }
  return 0;
}

}  // namespace

void add_predict(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "predict", "classes, probabilities and their spread for new graphs, as CSV");
  auto flags = std::make_shared<PredictFlags>();
  add_common(*verb, common, true);
  add_memory_limit(*verb);
  verb->add_option("run", flags->run, "run folder or model.safetensors")->required();
  verb->add_option(
          "--data", flags->data,
          "folder of own data, with or without labels, or one .npz; the name of a built-in "
          "dataset, whose test domains are predicted; or new graphs as the publisher of "
          "the model's dataset writes them (fb100: a .mat file)")
      ->required();
  verb->add_option("--out", flags->out,
                   "CSV file (default: standard output; with --json: no lines, the summary alone)");
  verb->add_flag(
      "--raw", flags->raw,
      "probabilities as the model computes them, without the temperature that was fitted "
      "on validation; classes are the same");
  verb->footer(
      "Columns: domain, id, class, label, p_LABEL for each class, spread (standard deviation over\n"
      "the samples of the probability of the predicted class; empty for methods that do not\n"
      "sample), entropy (of the probabilities, in nats).\n"
      "Examples:\n"
      "  grm predict runs/payments/grm/20260131T120000-1000 --data new_month/ --out "
      "predictions.csv\n"
      "  grm predict model.safetensors --data graph.npz | head\n"
      "  grm predict runs/fb100/erm/20260131T120000-1000 --data Reed98.mat --out reed.csv\n"
      "  grm predict model.safetensors --data new_month/ --out predictions.csv --json");
  set_call(*verb, action, [=, &common] { return predict(*flags, common); });
}

}  // namespace grm::cli
