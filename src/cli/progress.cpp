#include "progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <numeric>

#include "cli.h"

namespace grm::cli {
namespace {

constexpr int kBar = 20;
// As long as "val 12.3 (best 12.3)".
const std::string kScoreToCome(20, ' ');
constexpr double kRedraw = 0.1;  // seconds between two drawings

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string rate_text(double seconds_per_epoch) {
  if (seconds_per_epoch >= 1.0) return fmt::format("{:.1f} s/epoch", seconds_per_epoch);
  const double rate = 1.0 / std::max(seconds_per_epoch, 1e-6);
  return fmt::format("{:.{}f} epochs/s", rate, rate < 10 ? 1 : 0);
}

}  // namespace

Progress::Progress(std::string title, bool quiet)
    : title_(std::move(title)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

// Pieces in the order of the line, each with its rank: they are taken by rank as long as they fit.
std::string Progress::line(const EpochReport& r, size_t width) const {
  struct Piece {
    int rank;
    std::string text;
  };
  std::vector<Piece> pieces = {{0, title_}};
  if (terminal_) {
    const int filled = static_cast<int>(r.epoch * kBar / std::max<int64_t>(r.epochs, 1));
    pieces.push_back(
        {6, fmt::format("[{}{}]", std::string(filled, '#'), std::string(kBar - filled, '.'))});
  }
  pieces.push_back({1, fmt::format("{}/{}", r.epoch, r.epochs)});
  const int64_t timed = r.epoch - first_epoch_;
  const double rate = timed > 0 ? (now_ - first_time_) / static_cast<double>(timed) : 0.0;
  if (timed > 0) pieces.push_back({4, rate_text(rate)});
  for (size_t k = 0; k < r.terms.size(); ++k) {
    const std::string name = k == 0 && r.terms[k].name == "total" ? "loss" : r.terms[k].name;
    pieces.push_back(
        {k == 0 ? 3 : 7 + static_cast<int>(k), fmt::format("{} {:.4g}", name, r.terms[k].value)});
  }
  if (scored_) {
    pieces.push_back({2, fmt::format("val {:.1f} (best {:.1f})", r.validation, r.best_validation)});
  } else if (terminal_) {
    pieces.push_back({2, kScoreToCome});  // takes room, so that nothing jumps when it arrives
  }
  const double left = rate * static_cast<double>(r.epochs - r.epoch);
  if (r.epoch == r.epochs) {
    pieces.push_back({5, "took " + duration_text(now_)});
  } else if (timed > 0) {
    pieces.push_back({5, (left < 1.0 ? "<1 s" : duration_text(left)) + " left"});
  }
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return pieces[a].rank < pieces[b].rank; });
  size_t used = 0;
  for (const size_t k : order) {
    const size_t more = pieces[k].text.size() + (used > 0 ? 2 : 0);
    if (k > 0 && more > width - std::min(used, width)) {
      pieces[k].text.clear();
    } else {
      used += more;
    }
  }
  std::string text;
  for (const Piece& piece : pieces) {
    if (piece.text == kScoreToCome) continue;
    if (!piece.text.empty()) text += (text.empty() ? "" : "  ") + piece.text;
  }
  return text.substr(0, width);
}

void Progress::show(const EpochReport& r) {
  if (quiet_) return;
  now_ = watch_.seconds();
  if (first_epoch_ == 0) {
    first_epoch_ = r.epoch;
    first_time_ = now_;
  }
  scored_ = scored_ || r.evaluated || r.best_validation > 0;
  const bool last = r.epoch == r.epochs;
  const bool tenth = (r.epoch * 10) / r.epochs != ((r.epoch - 1) * 10) / r.epochs;
  if (terminal_ ? (!last && last_drawn_ >= 0 && now_ - last_drawn_ < kRedraw) : !tenth) return;
  last_drawn_ = now_;
  if (terminal_) {
    // The last column stays free: a full line makes some terminals wrap.
    say("\r\033[K" + line(r, terminal_width() - 1));
  } else {
    say(line(r, std::numeric_limits<size_t>::max()) + "\n");
  }
}

void Progress::done() {
  if (!quiet_ && terminal_) say("\r\033[K");
}

}  // namespace grm::cli
