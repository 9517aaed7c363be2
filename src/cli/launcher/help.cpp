#include "cli/launcher/help.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace grm::launcher {

bool asks_for_text(const std::vector<std::string>& words, std::string& name) {
  size_t begin = 0, end = words.size();
  name = "help";
  if (words.empty()) return true;
  if (words.front() == "help") {
    begin = 1;
  } else if (words.back() == "--help" || words.back() == "-h") {
    --end;
  } else if (words.front() == "--version" || words.front() == "completion") {
    name = "print";
  } else {
    return false;
  }
  for (size_t k = begin; k < end; ++k) name += " " + words[k];
  return true;
}

bool find_text(const std::string& file, const std::string& name, std::string& text) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  const std::string all = content.str();
  const std::string head = "grm help 1\n";
  if (all.rfind(head, 0) != 0) return false;
  for (size_t at = head.size(); at < all.size();) {
    const size_t space = all.find(' ', at), line = all.find('\n', at);
    if (space == std::string::npos || line == std::string::npos || space > line) return false;
    const size_t length = std::strtoull(all.c_str() + at, nullptr, 10);
    if (length > all.size() - line - 1) return false;
    if (all.compare(space + 1, line - space - 1, name) == 0) {
      text = all.substr(line + 1, length);
      return true;
    }
    at = line + 1 + length;
  }
  return false;
}

}  // namespace grm::launcher
