#include "data/own/problems.h"

#include <algorithm>
#include <charconv>

namespace grm {

std::string Problem::text() const {
  std::string place = file;
  if (line > 0) place += fmt::format(":{}", line);
  if (line > 0 && column > 0) place += fmt::format(":{}", column);
  return fmt::format("{}: {}{}{}", place, what, fix.empty() ? "" : "; fix: ", fix);
}

namespace own {
namespace {
constexpr int64_t kMostOfAFile = 100;
}

void Problems::add(Problem problem) {
  if (!collect_) throw FirstProblem(problem);
  ++count_;
  int64_t& of_file = of_file_[problem.file];
  if (of_file++ >= kMostOfAFile) return;
  for (const Problem& known : list_) {  // one label may be wrong in several domains of a table
    if (known.text() != problem.text()) continue;
    --of_file;
    return;
  }
  list_.push_back(std::move(problem));
}

void Problems::warn(Problem warning) {
  const auto same = [&](const Problem& known) { return known.text() == warning.text(); };
  if (warnings_.size() >= kMostOfAFile) return;
  if (std::none_of(warnings_.begin(), warnings_.end(), same)) {
    warnings_.push_back(std::move(warning));
  }
}

void Problems::stop(Problem problem) {
  add(std::move(problem));
  throw Stopped{};
}

void Problems::stop(const std::string& file, const Error& error, const std::string& fix) {
  std::string_view text = error.what();
  Problem problem{file, 0, 0, "", fix};
  if (text.substr(0, file.size()) == file) {  // "FILE:LINE: what" or "FILE: what"
    text.remove_prefix(file.size());
    if (!text.empty() && text[0] == ':') {
      const auto [end, code] =
          std::from_chars(text.data() + 1, text.data() + text.size(), problem.line);
      if (code == std::errc()) text.remove_prefix(static_cast<size_t>(end - text.data()));
    }
    if (text.substr(0, 2) == ": ") text.remove_prefix(2);
  }
  problem.what = text;
  stop(std::move(problem));
}

std::vector<Problem> Problems::take() {
  for (const auto& [file, count] : of_file_) {
    if (count <= kMostOfAFile) continue;
    list_.push_back({file, 0, 0, fmt::format("{} more problems", count - kMostOfAFile),
                     "correct those above and check again"});
  }
  return std::move(list_);
}

std::string shown(std::string_view text) {
  constexpr size_t kMost = 60;
  if (text.size() <= kMost) return std::string(text);
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole letters
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace own
}  // namespace grm
