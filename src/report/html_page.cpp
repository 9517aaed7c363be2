// The frame of an HTML report: escaping, head, contents and sections.
#include "grm/core/error.h"
#include "grm/report/html.h"
#include "html_style.h"

namespace grm::report {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Length of the UTF-8 sequence at `at`, 0 if there is none (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF).
size_t utf8_length(const std::string& text, size_t at) {
  const auto byte = [&](size_t k) {
    return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0u;
  };
  const auto follows = [&](size_t k) { return (byte(k) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    const bool overlong = lead == 0xF0 && byte(1) < 0x90;
    const bool beyond = lead == 0xF4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

bool is_anchor(const std::string& id) {
  return !id.empty() && id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
}

}  // namespace

std::string html_escape(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at);
    const char c = text[at];
    if (length == 0) {
      out += kReplacement;
      ++at;
      continue;
    }
    if (length > 1) {
      out.append(text, at, length);
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if (c == '\n' || c == '\t') {
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += kReplacement;
    } else {
      out += c;
    }
    at += length;
  }
  return out;
}

std::string shortened(const std::string& text, size_t most) {
  size_t count = 0, at = 0;
  for (; at < text.size(); ++at) {
    // Not inside of a character: bytes 10xxxxxx go on with one.
    if ((static_cast<unsigned char>(text[at]) & 0xC0u) != 0x80u && ++count > most) break;
  }
  if (at == text.size()) return text;
  while (at > 1 && text[at - 1] == ' ') --at;
  return text.substr(0, at) + "\u2026";
}

std::string html_paragraph(const std::string& text) {
  return "<p>" + html_escape(text) + "</p>\n";
}

std::string html_list(const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string out = "<ul class=\"plain\">\n";
  for (const std::string& item : items) out += "<li>" + html_escape(item) + "</li>\n";
  return out + "</ul>\n";
}

std::string html_code(const std::string& text) {
  return "<pre tabindex=\"0\"><code>" + html_escape(text) + "</code></pre>\n";
}

std::string html_details(const std::string& summary, const std::string& body, bool open) {
  return fmt::format("<details{}>\n<summary>{}</summary>\n", open ? " open" : "",
                     html_escape(summary)) +
         body + "</details>\n";
}

std::string html_page(const std::string& title, const std::string& about,
                      const std::vector<HtmlSection>& sections) {
  // The policy makes the browser refuse anything from outside, should it ever be asked to.
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>" +
      html_escape(title) + "</title>\n<style>\n" + kStyle + "</style>\n</head>\n<body>\n" +
      "<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>\n<h1>" +
      html_escape(title) + "</h1>\n";
  if (!about.empty()) out += html_paragraph(about);
  out += "<nav aria-label=\"Contents\">\n<ul>\n";
  for (const HtmlSection& section : sections) {
    ensure(is_anchor(section.id), "an anchor is made of lower-case letters and minus");
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, html_escape(section.title));
  }
  out += "</ul>\n</nav>\n</header>\n<main id=\"main\">\n";
  for (const HtmlSection& section : sections) {
    out +=
        fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n",
                    section.id, html_escape(section.title));
    out += section.body + "</section>\n";
  }
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace grm::report
