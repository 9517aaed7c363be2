#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli.h"

namespace grm::cli {
Progress::Progress(std::string title, bool quiet)
    : title_(std::move(title)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show(const EpochReport& r) {
  if (quiet_) return;
  if (first_epoch_ == 0) first_epoch_ = r.epoch;
  const double now = watch_.seconds();
  const bool last = r.epoch == r.epochs;
  const bool tenth = (r.epoch * 10) / r.epochs != ((r.epoch - 1) * 10) / r.epochs;
  if (terminal_ ? (!last && now - last_drawn_ < 0.1) : !tenth) return;
  last_drawn_ = now;
  const double rate = now / static_cast<double>(r.epoch - first_epoch_ + 1);
  const double left = rate * static_cast<double>(r.epochs - r.epoch);
  std::string text = fmt::format("{}  {}/{}", title_, r.epoch, r.epochs);
  if (terminal_) {
    const int width = 24;
    const int filled = static_cast<int>(r.epoch * width / r.epochs);
    text = fmt::format("{}  [{}{}] {}/{}", title_, std::string(filled, '#'),
                       std::string(width - filled, '.'), r.epoch, r.epochs);
  }
  if (!r.terms.empty()) text += fmt::format("  loss {:.4f}", r.terms.front().value);
  if (r.best_validation > 0) {
    text += fmt::format("  val {:.1f} (best {:.1f})", r.validation, r.best_validation);
  }
  text += fmt::format("  {} left", duration_text(left));
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

void Progress::done() {
  if (!quiet_ && terminal_) fmt::print(stderr, "\r\033[K");
}

}  // namespace grm::cli
