#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/study.h"
#include "cli/terminal.h"
#include "core/text.h"

namespace grm::cli {

namespace {

constexpr size_t kStudyBar = 20;  // columns

int64_t count(const study::Progress& progress, const char* state) {
  const auto found = progress.states.find(state);
  return found == progress.states.end() ? 0 : found->second;
}

int64_t ended_count(const study::Progress& p) {
  return p.total - count(p, "todo") - count(p, "running");
}

std::string left_text(const study::Progress& progress) {
  return progress.left < 0 ? "" : fmt::format(", about {} left", duration_text(progress.left));
}

std::string result_text(const study::CellRow& cell) {
  if (cell.state == "failed") {
    return ink(STDERR_FILENO, Ink::red, "failed:") + " " + terminal_text(cell.message);
  }
  if (cell.state == "no_data") return "no data: " + cell.message.substr(0, cell.message.find('\n'));
  if (cell.state != "done") return "stopped";
  const RunRecord record = cell.run_record();
  const auto chosen = record.chosen.find("val");
  if (chosen == record.chosen.end()) return "done";
  std::string text = fmt::format("validation {:.1f}", chosen->second.validation);
  if (!chosen->second.test.empty()) {
    text += fmt::format(", test min {:.1f} avg {:.1f}", min_score(chosen->second.test),
                        mean_score(chosen->second.test));
  }
  return text + fmt::format(", {}", duration_text(cell.seconds));
}

}  // namespace

StudyProgress::StudyProgress(bool quiet) : quiet_(quiet), terminal_(can_redraw(STDERR_FILENO)) {}

study::RunnerHooks StudyProgress::hooks() {
  study::RunnerHooks hooks;
  hooks.interrupted = interrupted;
  hooks.on_start = [this](const study::Forecast& ahead) { start(ahead); };
  hooks.on_cell = [this](const study::CellRow& cell, const study::Progress& progress) {
    ended(cell, progress);
  };
  hooks.on_message = [this](const std::string& text) {
    clear();
    say(terminal_text(text) + "\n");
  };
  if (terminal_ && !quiet_) {
    hooks.on_tick = [this](const study::Progress& progress) { tick(progress); };
  }
  return hooks;
}

void StudyProgress::clear() {
  if (terminal_ && !quiet_) say(kFreshLine);
}

void StudyProgress::start(const study::Forecast& ahead) {
  if (quiet_) return;
  const char* what = ahead.phase == "trial"   ? "trials: "
                     : ahead.phase == "final" ? "winners on fresh seeds: "
                                              : "";
  const int64_t cells = static_cast<int64_t>(ahead.cells.size());
  say(fmt::format("{}{} cells, {} done already, expected duration {}\n", what, cells, ahead.done,
                  ahead.seconds < 0 ? "unknown" : "about " + duration_text(ahead.seconds)));
  if (ahead.done < cells) {
    say(fmt::format("{} processes of {} thread{}, {:.1f} GiB of memory for all\n", ahead.jobs,
                    ahead.threads, ahead.threads == 1 ? "" : "s", ahead.memory_mib / 1024));
  }
}

void StudyProgress::ended(const study::CellRow& cell, const study::Progress& progress) {
  if (quiet_ && cell.state != "failed") return;
  clear();
  say(fmt::format("{}/{}  {}: {}{}\n", ended_count(progress), progress.total,
                  terminal_text(study::cell_title(cell)), result_text(cell), left_text(progress)));
}

void StudyProgress::tick(const study::Progress& progress) {
  std::string running;
  for (const std::string& title : progress.running) {
    running += (running.empty() ? "" : "; ") + title;
  }
  const int64_t ended = ended_count(progress);
  const double share =
      progress.total > 0 ? static_cast<double>(ended) / static_cast<double>(progress.total) : 0.0;
  const std::string drawn = bar(share, kStudyBar);
  const std::string line =
      fmt::format(" {:3.0f}%  {}/{}  {}{}  [{}]", 100 * share, ended, progress.total,
                  duration_text(progress.elapsed), left_text(progress), running);
  // A line that wraps cannot be drawn again.
  const size_t width = line_width(STDERR_FILENO);
  say(kFreshLine + ink(STDERR_FILENO, Ink::green, drawn) +
      shortened(terminal_text(line), (width == 0 ? kUsualWidth : width) - kStudyBar - 1));
}

}  // namespace grm::cli
