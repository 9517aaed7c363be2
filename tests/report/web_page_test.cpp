// The page as one file: modules put together, the policy that lets them run, data that cannot leave its place.
#include "report/web_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

namespace grm::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(WebPage, ModulesStandInTheOrderOfNeedAndOnce) {
  const std::vector<EmbeddedFile> files = {
      {"a.js",
       "import { b } from './b.js';\nimport { c } from './c.js';\nexport const a = b + c;\n"},
      {"b.js", "import { c } from './c.js';\nexport function f() {}\nconst b = c;\n"},
      {"c.js", "export const c = 'export of import';\n"},
      {"other.js", "nobody needs this\n"}};
  EXPECT_EQ(bundled(files, "a.js"),
            "// c.js\nconst c = 'export of import';\n"
            "// b.js\nfunction f() {}\nconst b = c;\n"
            "// a.js\nconst a = b + c;\n");
}

TEST(WebPage, DataCannotEndItsElement) {
  const std::string page =
      offline_page("<b>&", "{\"a\": \"</script><script>alert(1)</script><!--\"}", "<p>plain</p>");
  EXPECT_THAT(page, HasSubstr("<title>&lt;b&gt;&amp;</title>"));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"));
  EXPECT_THAT(page, HasSubstr("<noscript>\n<p>plain</p></noscript>"));
}

TEST(WebPage, LoadsNothingAndNamesItsOneScriptAndStyle) {
  const std::string page = offline_page("t", "{}", "");
  for (const char* word :
       {"<link", "<iframe", "srcset", "@import", "url(", "import {", "studio.js"}) {
    EXPECT_THAT(page, Not(HasSubstr(word))) << word;
  }
  EXPECT_FALSE(std::regex_search(page, std::regex("<(script|img)[^>]* src=")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe")));
}

TEST(WebPage, EveryModuleIsReachedOrBelongsToTheStudio) {
  const std::string script = bundled(web_files(), "report.js");
  for (const EmbeddedFile& file : web_files()) {
    const bool module = file.name.size() > 3 && file.name.substr(file.name.size() - 3) == ".js";
    if (!module || file.name.rfind("studio", 0) == 0) continue;
    EXPECT_THAT(script, HasSubstr("// " + file.name + "\n"));
  }
}

// The page has no way to make elements out of text.
TEST(WebPage, NoModuleReadsHtml) {
  for (const EmbeddedFile& file : web_files()) {
    for (const char* word :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
          "setAttribute('style'", "createContextualFragment", "DOMParser"}) {
      EXPECT_THAT(file.text, Not(HasSubstr(word))) << file.name;
    }
  }
}

}  // namespace
}  // namespace grm::report
