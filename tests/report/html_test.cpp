#include "report/html.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "core/files.h"
#include "grm/train/config.h"
#include "report/html_report.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm::report {
namespace {

using study::ResultRow;
using study::TableOptions;
using testing::ElementsAre;
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

// The points "x,y" of the first path of a chart.
std::vector<std::pair<double, double>> path_of(const std::string& html) {
  std::smatch found;
  std::regex_search(html, found, std::regex(" d=\"M([^\"]*)\"/></g>\n"));
  std::vector<std::pair<double, double>> points;
  const std::string path = found[1];
  const std::regex point("([0-9.]+),([0-9.]+)");
  for (std::sregex_iterator it(path.begin(), path.end(), point), end; it != end; ++it) {
    points.emplace_back(std::stod((*it)[1]), std::stod((*it)[2]));
  }
  return points;
}

TEST(HtmlChart, PlacesPointsInProportion) {
  Figure figure;
  figure.title = "t";
  figure.series = {{"a", {{0, 10, 0, 1}, {1, 20, 0, 1}, {4, 30, 0, 1}}}};
  const auto points = path_of(html_chart(figure));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_NEAR((points[1].first - points[0].first) / (points[2].first - points[0].first), 0.25,
              1e-3);
  EXPECT_NEAR(points[0].second - points[1].second, points[1].second - points[2].second, 0.11);
  EXPECT_GT(points[0].second, points[2].second);  // larger numbers stand higher
}

TEST(HtmlChart, ALogarithmicAxisGivesEqualRoomToEveryDecade) {
  Figure figure;
  figure.logarithmic = true;
  figure.series = {{"a", {{0, 1e-3, 0, 1}, {1, 1e-1, 0, 1}, {2, 10, 0, 1}}}};
  const auto points = path_of(html_chart(figure));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_NEAR(points[0].second - points[1].second, points[1].second - points[2].second, 0.11);
}

// Found by attack: a loss of 1e308 in the records of a run kept the report busy for ever.
TEST(HtmlChart, NumbersAtTheEdgeOfTheirTypeHaveAxes) {
  const std::vector<std::pair<double, double>> cases = {
      {0.4, 1e308}, {1e308, 1e308}, {1e17, 1e17 + 16}, {1e-320, 1e-310}, {-1e308, 1e308}};
  for (const auto& [low, high] : cases) {
    for (const bool logarithmic : {false, true}) {
      Figure figure;
      figure.logarithmic = logarithmic;
      figure.series = {{"a", {{0, low, 0, 1}, {1, high, 0, 1}}}};
      const std::string html = html_chart(figure);
      EXPECT_LT(html.size(), 10000u) << low << " " << high;
      EXPECT_EQ(path_of(html).size(), 2u) << low << " " << high;
    }
  }
}

TEST(HtmlChart, LongLinesAreThinnedButKeepTheirSpikes) {
  Figure figure;
  figure.series = {{"a", {}}};
  for (int k = 0; k < 5000; ++k) {
    figure.series[0].points.push_back({static_cast<double>(k), k == 3333 ? 9.0 : 1.0, 0, 1});
  }
  const std::string html = html_chart(figure);
  const auto points = path_of(html);
  EXPECT_LE(points.size(), 240u);
  double highest = 1e9;  // y grows downwards
  for (const auto& [x, y] : points) highest = std::min(highest, y);
  EXPECT_LT(highest, points.front().second - 100);
  EXPECT_THAT(html, HasSubstr(">9</td>\n<td>3333</td>"));  // also in the table of numbers
}

TEST(HtmlChart, DegenerateFiguresAreStillPages) {
  Figure nothing;
  nothing.title = kAttack;
  EXPECT_THAT(html_chart(nothing), HasSubstr("no numbers to draw"));
  Figure flat;
  flat.series = {{kAttack, {{1, 5, 0, 1}}}, {"b", {{1, std::nan(""), 0, 1}}}};
  flat.y_label = flat.x_label = kAttack;
  Figure zero;
  zero.categories = {kAttack, "a name that is longer than the room below the axis"};
  zero.series = {{"s", {{0, 0, 0, 3}, {1, 0, 0, 3}, {7, 1, 0, 1}}}};
  for (const Figure& figure : {nothing, flat, zero}) {
    const std::string html = html_chart(figure);
    EXPECT_EQ(unbalanced(html), "");
    EXPECT_THAT(html, Not(HasSubstr("<img")));
    EXPECT_THAT(html, Not(HasSubstr("nan")));
    EXPECT_THAT(html, Not(HasSubstr("inf")));
  }
}

TEST(HtmlGraph, PlacesAreRepeatableDistinctAndInTheUnitSquare) {
  using Edge = GraphPicture::Edge;
  const std::vector<Edge> path = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 4}};
  const std::vector<Place> places = place_nodes(6, path);  // node 5 hangs on nothing
  const std::vector<Place> again = place_nodes(6, path);
  for (size_t a = 0; a < places.size(); ++a) {
    EXPECT_EQ(places[a].x, again[a].x);
    EXPECT_EQ(places[a].y, again[a].y);
    EXPECT_GE(std::min(places[a].x, places[a].y), -1e-9);
    EXPECT_LE(std::max(places[a].x, places[a].y), 1 + 1e-9);
    for (size_t b = 0; b < a; ++b) {
      EXPECT_GT(std::hypot(places[a].x - places[b].x, places[a].y - places[b].y), 0.05);
    }
  }
  // The ends of a path lie farther apart than neighbours.
  const auto distance = [&](size_t a, size_t b) {
    return std::hypot(places[a].x - places[b].x, places[a].y - places[b].y);
  };
  EXPECT_GT(distance(0, 4), 1.5 * distance(0, 1));
}

TEST(HtmlGraph, DrawsEveryEdgeAndNodeOnBothSides) {
  GraphPicture picture;
  picture.nodes = {kAttack, "b", "c"};
  picture.target = 0;
  picture.caption = kAttack;
  picture.facts = {kAttack};
  picture.sides = {{"observed", {{0, 1}, {1, 2}, {2, 2}}},
                   {"generated", {{0, 2, 0.5, 0.123, GraphPicture::Kind::added}}}};
  const std::string html = html_graph(picture);
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  const auto count = [&](const std::string& word) {
    size_t n = 0;
    for (size_t at = 0; (at = html.find(word, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count("<line class=\"plain\""), 2u);       // a loop is not drawn
  EXPECT_EQ(count("<path class=\"added bent\""), 1u);  // around b, which lies in between
  EXPECT_EQ(count("<circle "), 6u);
  EXPECT_EQ(count("<circle class=\"target\""), 2u);
  EXPECT_THAT(html, HasSubstr("– c: 0.123</title>"));
}

TEST(HtmlGraph, LinesGoAroundNodesThatAreInTheirWay) {
  const std::vector<Place> places = {{0, 0}, {1, 0.05}, {2, 0}, {1, 3}};
  EXPECT_EQ(bend_of(places, 0, 1, 0.2), 0.0);  // free
  const double bend = bend_of(places, 0, 2, 0.2);
  EXPECT_NE(bend, 0.0);
  const Place middle = on_line(places[0], places[2], bend, 0.5);
  EXPECT_NEAR(std::hypot(middle.x - 1, middle.y), std::abs(bend), 1e-12);
  EXPECT_NEAR(on_line(places[0], places[2], bend, 1.0).x, 2.0, 1e-12);
  for (double t = 0; t <= 1; t += 0.01) {
    const Place at = on_line(places[0], places[2], bend, t);
    EXPECT_GE(std::hypot(at.x - 1, at.y - 0.05), 0.19) << t;
  }
}

TEST(HtmlEscape, ShortTextsStayAndLongOnesAreCutBetweenCharacters) {
  EXPECT_EQ(shortened("äöü", 3), "äöü");
  EXPECT_EQ(shortened("äöüß", 3), "äöü…");
  EXPECT_EQ(shortened("a b c", 2), "a…");
}

// A finished run of `method` with these test scores.
ResultRow finished(const std::string& method, int64_t seed, const std::vector<double>& scores) {
  RunConfig config("sbm", method);
  config.set("method.lr", "0.25");
  ResultRow row;
  row.dataset = "sbm";
  row.method = method;
  row.seed = seed;
  row.metric = "accuracy";
  row.config = config.to_toml(seed);
  row.environment = R"({"grm": "0.1.0", "threads": 2, "host": "secret-host",
    "data_hashes": {"a<b.bin": "abc123"}, "missing": [], "notes": ["a note & more"]})";
  Chosen chosen{7, method == "grm" ? 49.0 : 50.0, {}};
  for (size_t k = 0; k < scores.size(); ++k) {
    chosen.test.push_back({"T" + std::to_string(k + 1), scores[k]});
    row.record.constant.push_back({"T" + std::to_string(k + 1), 25.0});
  }
  row.record.chosen["val"] = chosen;
  row.record.epochs = 10;
  return row;
}

HtmlReport two_methods() {
  HtmlReport report;
  report.title = kAttack;
  report.command = "grm report runs";
  for (int64_t seed = 1000; seed < 1003; ++seed) {
    const double s = static_cast<double>(seed - 1000);
    report.results.rows.push_back(finished("erm", seed, {60 + s, 70 + s}));
    report.results.rows.push_back(finished("grm", seed, {70 + 2 * s, 81 - s}));
  }
  report.results.missing = {{"sbm", "grm", "", 1003, "not finished " + kAttack}};
  return report;
}

// Expected numbers by hand: erm 61 and 71 with deviation 1; grm 72 (2) and 80 (1), the averages of
// its runs are 75.5, 76, 76.5. Differences of the runs: 10.5, 10, 9.5; t = 10 / (0.5 / sqrt 3).
TEST(HtmlReport, ShowsDomainsDeviationsMinAvgConstantAnswerAndComparison) {
  const HtmlPage page = make_page(two_methods(), TableOptions(), Published::embedded());
  const std::string& html = page.text;
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("secret-host")));
  EXPECT_THAT(html, HasSubstr("erm</th>\n<td>61.0 ± 1.0</td>\n<td>71.0 ± 1.0</td>\n"  // T1, T2
                              "<td>61.0 ± 1.0</td>\n<td>66.0 ± 1.0</td>\n"            // Min, Avg
                              "<td><strong>50.0 ± 0.0</strong></td>\n<td>3</td>"));   // validation
  EXPECT_THAT(
      html,
      HasSubstr("grm</th>\n<td><strong>72.0 ± 2.0</strong></td>\n<td><strong>80.0 ± 1.0</strong>"
                "</td>\n<td><strong>72.0 ± 2.0</strong></td>\n<td><strong>76.0 ± 0.5</strong> "
                "<span class=\"better\""));
  EXPECT_THAT(html, HasSubstr("<td>49.0 ± 0.0</td>\n<td>3/4</td>"));
  EXPECT_THAT(html, HasSubstr("train majority</th>\n<td>25.0</td>\n<td>25.0</td>\n<td>25.0</td>"));
  // The choice is validation's, though grm is higher on test.
  EXPECT_THAT(html, HasSubstr("sbm: of 2 candidates, validation chooses erm (50.0 ± 0.0 there). On "
                              "test it has accuracy 66.0 ± 1.0 on average over 2 test domains"));
  EXPECT_THAT(html, HasSubstr("grm has 76.0 ± 0.5 on test, but 49.0 ± 0.0 on validation"));
  EXPECT_THAT(html, HasSubstr("grm against erm: +10.0 points, p = 0.001"));
  EXPECT_THAT(html, HasSubstr("not finished &lt;img"));
  EXPECT_THAT(html, HasSubstr("a note &amp; more"));
  EXPECT_THAT(html, HasSubstr("abc123"));
  std::vector<std::string> ids;
  for (const HtmlSection& section : page.sections) ids.push_back(section.id);
  EXPECT_THAT(ids, ElementsAre("summary", "results", "comparison", "repeat", "left-out"));
}

TEST(HtmlReport, LoadsNothingAndHasNoScript) {
  const std::string html = make_page(two_methods(), TableOptions(), Published::embedded()).text;
  for (const char* word : {"<script", "url(", "@import", "<link", "<iframe", "srcset"}) {
    EXPECT_THAT(html, Not(HasSubstr(word))) << word;
  }
  EXPECT_FALSE(std::regex_search(html, std::regex("<[^>]* src=")));  // of a tag, not of a text
  EXPECT_FALSE(std::regex_search(html, std::regex("href=\"[^#]")));  // anchors in the page alone
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(HtmlReport, PublishedValuesStandBesideOursForBuiltInDataOnly) {
  HtmlReport report = two_methods();
  for (ResultRow& row : report.results.rows) {
    row.dataset = "cora";
    row.config =
        "seed = 1\n\n[dataset]\nname = \"cora\"\n[method]\nname = \"" + row.method + "\"\n";
  }
  // The paper prints 81.2 ± 1.5 for GRM's Avg on Cora; 76.0 - 81.2 = -5.2.
  const std::string html = make_page(report, TableOptions(), Published::embedded()).text;
  EXPECT_THAT(html, HasSubstr("<td>76.0 ± 0.5</td>\n<td>81.2 ± 1.5</td>\n<td>-5.2</td>"));
  for (ResultRow& row : report.results.rows) {
    row.config =
        "seed = 1\n\n[dataset]\nname = \"my/cora\"\n[method]\nname = \"" + row.method + "\"\n";
  }
  EXPECT_THAT(make_page(report, TableOptions(), Published::embedded()).text,
              Not(HasSubstr("id=\"published\"")));
}

TEST(HtmlReport, CommandsLeadBackToTheSameConfiguration) {
  HtmlReport report = two_methods();
  report.results.rows.push_back(finished("erm", 1010, {1, 2}));
  const std::vector<report::Setup> setups = setups_of(report.results.rows);
  ASSERT_EQ(setups.size(), 2u);
  EXPECT_THAT(train_commands(setups[0]),
              ElementsAre(HasSubstr("--set method.lr=0.25 --set train.first_seed=1000 --seeds 3 "
                                    "--threads 2"),
                          HasSubstr("--set train.first_seed=1010 --seeds 1 --threads 2")));
  EXPECT_THAT(train_commands(setups[0])[0], HasSubstr("grm train --dataset sbm --method erm"));
  report::Setup foreign = setups[0];
  ResultRow row = *foreign.rows.front();
  row.config += "an_option_of_another_version = 1\n";
  foreign.rows = {&row};
  EXPECT_THAT(train_commands(foreign)[0], HasSubstr("grm train --config config.toml --set"));
}

TEST(HtmlReport, WordsForTheShellAreQuotedWhereNeeded) {
  EXPECT_EQ(shell_word("runs/a-b.c:d=1"), "runs/a-b.c:d=1");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(HtmlReport, RunFoldersBecomeRowsAndUnfinishedOnesAreNamed) {
  const test::TempFolder folder;
  const ResultRow row = finished("erm", 1000, {60, 70});
  const auto write = [&](const std::string& name, const std::string& config) {
    folder.write(name + "/config.toml", config);
    folder.write(name + "/metrics.jsonl",
                 "{\"epoch\":1,\"loss\":{\"total\":2.0},\"validation\":40}\n"
                 "{\"epoch\":2,\"loss\":{\"total\":1.0},\"validation\":50}\n");
    folder.write(name + "/env.json", row.environment);
  };
  write("a", row.config);
  folder.write("a/summary.json", to_json_text(row.record));
  RunConfig other("sbm", "erm");
  write("b", other.to_toml(1000));
  const HtmlReport report = report_of_runs({folder.path()}, TableOptions());
  ASSERT_EQ(report.results.rows.size(), 1u);
  const std::string preset = other.method.preset();
  EXPECT_EQ(report.results.rows[0].method, "erm:" + preset);
  EXPECT_EQ(report.results.rows[0].record.chosen.at("val").test[1].value, 70.0);
  ASSERT_EQ(report.results.missing.size(), 1u);
  EXPECT_EQ(report.results.missing[0].method, "erm:" + preset);
  EXPECT_THAT(report.results.missing[0].variant, HasSubstr("lr="));
  EXPECT_THAT(report.results.missing[0].reason, HasSubstr("not finished: 2 epochs"));
  ASSERT_EQ(report.curves.size(), 1u);
  EXPECT_EQ(report.curves[0].figures.size(), 3u);  // the losses of each, validation of both
  const HtmlPage page = make_page(report, TableOptions(), Published::embedded());
  EXPECT_EQ(unbalanced(page.text), "");
  EXPECT_THAT(page.text, HasSubstr("id=\"curves\""));

  // Other data of the same name is a dataset of its own, with a note on what differs.
  RunConfig small("sbm", "erm");
  small.set("dataset.nodes", "120");
  write("c", small.to_toml(1000));
  folder.write("c/summary.json", to_json_text(row.record));
  const HtmlReport mixed = report_of_runs({folder.path()}, TableOptions());
  ASSERT_EQ(mixed.results.rows.size(), 2u);
  EXPECT_EQ(mixed.results.rows[1].dataset, "sbm #2");
  EXPECT_EQ(mixed.results.rows[1].method, "erm:" + preset);
  EXPECT_THAT(mixed.notes, ElementsAre(HasSubstr("sbm #2 is other data than sbm: nodes = 120")));

  TableOptions none;
  none.methods = {"grm"};
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { report_of_runs({folder.path()}, none); }),
              HasSubstr("nothing is left"));
}

TEST(Trust05Choice, CentringIsAVariantOfTheMethodAndNotOtherData) {
  const test::TempFolder folder;
  const auto write = [&](const std::string& name, const RunConfig& config) {
    folder.write(name + "/config.toml", config.to_toml(1000));
    folder.write(name + "/metrics.jsonl", "{\"epoch\":1}\n");
    folder.write(name + "/summary.json", to_json_text(finished("erm", 1000, {60, 70}).record));
  };
  RunConfig plain("sbm", "erm"), centred("sbm", "erm"), fast("sbm", "erm");
  centred.set("dataset.centre", "domain");
  fast.set("dataset.centre", "domain");
  fast.set("method.lr", "0.25");
  write("a", centred);
  write("b", fast);
  write("c", plain);
  const HtmlReport report = report_of_runs({folder.path()}, TableOptions());
  ASSERT_EQ(report.results.rows.size(), 3u);
  for (const ResultRow& row : report.results.rows) EXPECT_EQ(row.dataset, "sbm");
  EXPECT_EQ(report.results.rows[0].variant, "centre=domain");
  EXPECT_EQ(report.results.rows[1].variant, "centre=domain, lr=0.25");
  EXPECT_EQ(report.results.rows[2].variant, "");
  EXPECT_TRUE(report.notes.empty());
}

}  // namespace
}  // namespace grm::report
