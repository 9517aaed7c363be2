#include "report/web_page.h"

#include <algorithm>
#include <sstream>

#include "core/files.h"
#include "core/text.h"
#include "grm/core/error.h"

namespace grm {
const std::vector<EmbeddedFile>& page_files();
}

namespace grm::report {
namespace {

const EmbeddedFile& file_of(const std::vector<EmbeddedFile>& files, const std::string& name) {
  const auto at = std::find_if(files.begin(), files.end(),
                               [&](const EmbeddedFile& file) { return file.name == name; });
  ensure(at != files.end(), "a module of the page is missing");
  return *at;
}

bool starts(const std::string& text, const char* with) {
  return text.rfind(with, 0) == 0;
}

// "./chart.js" of: import { a, b } from './chart.js';
std::string imported(const std::string& line) {
  const size_t from = line.find("'./"), to = line.rfind('\'');
  ensure(from != std::string::npos && to > from, "an import of the page that is not one line");
  return line.substr(from + 3, to - from - 3);
}

void add_module(const std::vector<EmbeddedFile>& files, const std::string& name,
                std::vector<std::string>& done, std::string& out) {
  if (std::find(done.begin(), done.end(), name) != done.end()) return;
  done.push_back(name);
  std::string body;
  std::istringstream lines(file_of(files, name).text);
  for (std::string line; std::getline(lines, line);) {
    if (starts(line, "import ")) {
      add_module(files, imported(line), done, out);
    } else {
      body += (starts(line, "export ") ? line.substr(7) : line) + "\n";
    }
  }
  out += "// " + name + "\n" + body;
}

// A hash in hexadecimal digits as base64: 256 bits are 42 digits of six and one of four.
std::string base64(const std::string& hex) {
  const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned value = 0, bits = 0;
  for (const char c : hex) {
    value = (value << 4u | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10)) & 0xFFFu;
    bits += 4;
    if (bits < 6) continue;
    bits -= 6;
    out += digits[value >> bits & 63u];
  }
  if (bits > 0) out += digits[value << (6 - bits) & 63u];
  return out + std::string((4 - out.size() % 4) % 4, '=');
}

std::string hash_source(const std::string& text) {
  return "'sha256-" + base64(sha256(text)) + "'";
}

// In place of the first `what`.
void put(std::string& page, const std::string& what, const std::string& text) {
  const size_t at = page.find(what);
  ensure(at != std::string::npos, "the template of the page lacks a place");
  page.replace(at, what.size(), text);
}

// No text inside can end the element or open a comment.
std::string script_safe(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

const std::vector<EmbeddedFile>& web_files() {
  return page_files();
}

std::string bundled(const std::vector<EmbeddedFile>& files, const std::string& entry) {
  std::string out;
  std::vector<std::string> done;
  add_module(files, entry, done, out);
  return out;
}

std::string offline_page(const std::string& title, const std::string& document,
                         const std::string& plain) {
  const std::vector<EmbeddedFile>& files = web_files();
  const std::string style = "\n" + file_of(files, "style.css").text;
  const std::string script = "\n" + bundled(files, "report.js");
  std::string page = file_of(files, "index.html").text;
  // What comes from outside is put in last, so that no place is looked for in it.
  put(page, "<link rel=\"stylesheet\" href=\"style.css\">", "<style>" + style + "</style>");
  put(page, "<!-- policy -->",
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src " +
          hash_source(script) + "; style-src " + hash_source(style) +
          "; base-uri 'none'; form-action 'none'\">");
  const size_t at = page.find("<script type=\"module\" src=\"studio.js\"></script>");
  ensure(at != std::string::npos, "the template of the page lacks its script");
  std::string tail = page.substr(at);
  page.resize(at);
  put(page, "<title>GRM</title>", "<title>" + html_escape(title) + "</title>");
  put(tail, "<script type=\"module\" src=\"studio.js\"></script>",
      "<script type=\"module\">" + script + "</script>");
  return page + "<noscript>\n" + plain + "</noscript>\n" +
         "<script type=\"application/json\" id=\"document\">" + script_safe(document) +
         "</script>\n" + tail;
}

}  // namespace grm::report
