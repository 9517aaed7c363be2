// The frame of an HTML report: escaping, head, contents and sections.
#include "grm/core/error.h"
#include "report/html.h"
#include "report/html_style.h"

namespace grm::report {
namespace {

bool is_anchor(const std::string& id) {
  return !id.empty() && id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
}

}  // namespace

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
