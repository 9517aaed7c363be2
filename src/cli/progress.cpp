#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "cli/cli.h"
#include "cli/terminal.h"

namespace grm::cli {
namespace {

// Ranks of the pieces that the bar treats apart.
constexpr int kTitle = 0, kBar = 1, kScore = 3;
constexpr size_t kLeastBar = 10, kMostBar = 32;
// As long as "val 12.3 (best 12.3)": its place is kept, so that nothing jumps when it comes.
constexpr size_t kScoreWidth = 20;
constexpr double kRedraw = 0.1;  // seconds between two drawings

std::string rate_text(double seconds_per_epoch) {
  if (seconds_per_epoch >= 1.0) return fmt::format("{:.1f} s/epoch", seconds_per_epoch);
  const double rate = 1.0 / std::max(seconds_per_epoch, 1e-6);
  return fmt::format("{:.{}f} epochs/s", rate, rate < 10 ? 1 : 0);
}

}  // namespace

Progress::Progress(std::string title, bool quiet)
    : title_(std::move(title)), quiet_(quiet), terminal_(can_redraw(STDERR_FILENO)) {}

Progress::~Progress() {
  done();
}

// In the order of the line.
std::vector<Progress::Piece> Progress::pieces(const EpochReport& r) const {
  std::vector<Piece> all = {{kTitle, title_}};
  if (terminal_) all.push_back({2, fmt::format("{:3}%", r.epoch * 100 / r.epochs)});
  all.push_back({6, fmt::format("{}/{}", r.epoch, r.epochs)});
  const int64_t timed = r.epoch - first_epoch_;
  const double rate = timed > 0 ? (now_ - first_time_) / static_cast<double>(timed) : 0.0;
  if (timed > 0) all.push_back({7, rate_text(rate)});
  for (size_t k = 0; k < r.terms.size(); ++k) {
    const std::string name = k == 0 && r.terms[k].name == "total" ? "loss" : r.terms[k].name;
    all.push_back(
        {k == 0 ? 5 : 7 + static_cast<int>(k), fmt::format("{} {:.4g}", name, r.terms[k].value)});
  }
  if (scored_) {
    all.push_back({kScore, fmt::format("val {:.1f} (best {:.1f})", r.validation, r.best_validation),
                   r.validation >= r.best_validation});
  } else if (terminal_) {
    all.push_back({kScore, ""});
  }
  const double left = rate * static_cast<double>(r.epochs - r.epoch);
  if (r.epoch == r.epochs) {
    all.push_back({4, "took " + duration_text(now_)});
  } else if (timed > 0) {
    all.push_back({4, (left < 1.0 ? "<1 s" : duration_text(left)) + " left"});
  }
  return all;
}

std::string Progress::line(const EpochReport& report) const {
  std::string text;
  for (const Piece& piece : pieces(report)) text += (text.empty() ? "" : "  ") + piece.text;
  return text;
}

// The pieces that fit, by rank; the bar takes what they leave.
std::string Progress::drawn(const EpochReport& report, size_t width) {
  std::vector<Piece> all = pieces(report);
  all[0].text = shortened(title_, width);
  for (const Piece& piece : all) {
    size_t& widest = widest_[piece.rank];
    widest = std::max({widest, shown_width(piece.text), piece.rank == kScore ? kScoreWidth : 0});
  }
  std::vector<Piece> order = all;
  order.push_back({kBar, ""});
  std::sort(order.begin(), order.end(),
            [](const Piece& a, const Piece& b) { return a.rank < b.rank; });
  std::set<int> fits;
  size_t used = 0;
  for (const Piece& piece : order) {
    const size_t more = piece.rank == kBar ? kLeastBar : widest_[piece.rank];
    const size_t gap = used > 0 ? 2 : 0;
    if (used + gap + more > width) continue;
    used += gap + more;
    fits.insert(piece.rank);
  }
  std::string text, space;
  for (const Piece& piece : all) {
    if (fits.count(piece.rank)) {
      text += space + (piece.bold ? ink(STDERR_FILENO, Ink::bold, piece.text) : piece.text);
      space.assign(2 + widest_[piece.rank] - shown_width(piece.text), ' ');
    }
    if (piece.rank == kTitle && fits.count(kBar)) {
      const double share = static_cast<double>(report.epoch) / static_cast<double>(report.epochs);
      const size_t columns = std::min(kMostBar, kLeastBar + width - used);
      text += space + ink(STDERR_FILENO, Ink::green, bar(share, columns));
      space = "  ";
    }
  }
  return text;
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
    const size_t width = line_width(STDERR_FILENO);
    say(kFreshLine + drawn(r, (width == 0 ? kUsualWidth : width) - 1));
  } else {
    say(line(r) + "\n");
  }
}

void Progress::done() {
  if (last_drawn_ >= 0 && terminal_) say(kFreshLine);
  last_drawn_ = -1.0;
}

}  // namespace grm::cli
