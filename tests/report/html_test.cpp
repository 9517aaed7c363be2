// Escaping and tables of the part of a report that needs no script.
#include <gtest/gtest.h>

#include <regex>

#include "core/table.h"
#include "core/text.h"

namespace grm::html_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kAttack = "<img src=x onerror='alert(\"1\")'>&";
const std::string kEscaped = "&lt;img src=x onerror=&#39;alert(&quot;1&quot;)&#39;&gt;&amp;";

// Every start tag has its end tag, in the right order. Enough for what we write: attributes never
// hold '>' because it is escaped.
std::string unbalanced(const std::string& html) {
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-zA-Z][a-zA-Z0-9]*)[^>]*?(/?)>");
  for (std::sregex_iterator it(html.begin(), html.end(), tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if (name == "meta" || (*it)[3] == "/") continue;
    if ((*it)[1] != "/") {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> after <" + (open.empty() ? "" : open.back()) + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is left open";
}

TEST(HtmlEscape, LeavesNothingThatABrowserActsOn) {
  EXPECT_EQ(html_escape(kAttack), kEscaped);
  EXPECT_EQ(html_escape("é ± 漢 😀"), "é ± 漢 😀");
  EXPECT_EQ(html_escape(std::string("a\0b\x1b", 4)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

// The ill-formed sequences of RFC 3629, section 3 and 10.
TEST(HtmlEscape, BytesThatAreNoUtf8AreReplaced) {
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(html_escape("\xC0\x80"), replaced + replaced);                 // overlong
  EXPECT_EQ(html_escape("\xED\xA0\x80"), replaced + replaced + replaced);  // a surrogate
  EXPECT_EQ(html_escape("a\xE2\x82"), "a" + replaced + replaced);          // cut short
  EXPECT_EQ(html_escape("\xFF<"), replaced + "&lt;");
}

TEST(HtmlTable, MarksHeadersForScreenReadersAndEscapesCells) {
  Table layout;
  layout.title = "Title " + kAttack;
  layout.head = {"method", "Avg"};
  layout.groups = {{"cora", 1}};
  layout.rows = {{{kAttack}, {"81.2 ± 0.5", true, 1}}, {{"Avg"}, {"1", false, -1}}};
  layout.notes = {kAttack};
  layout.totals = 1;
  const std::string html = html_table(layout);
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\">Avg</th>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\" class=\"text\">" + kEscaped + "</th>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"colgroup\" class=\"group\" colspan=\"1\">cora</th>"));
  EXPECT_THAT(html, HasSubstr("<strong>81.2 ± 0.5</strong> <span class=\"better\""));
  EXPECT_THAT(html, HasSubstr("<tr class=\"total first\">"));
}

}  // namespace
}  // namespace grm::html_tests
