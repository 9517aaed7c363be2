// One table, several renderers. Expected texts are written by hand.
#include "core/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace grm {
namespace {

using testing::HasSubstr;

Table two_rows() {
  Table table;
  table.title = "Scores";
  table.head = {"method", "Min", "Avg"};
  table.groups = {{"cora", 2}};
  table.rows = {{"erm", "1.0", "2.0"}, {"grm", {"3.0 ± 0.1", true}, {"4.0", true, 1}}};
  table.notes = {"A note."};
  return table;
}

TEST(Tables, LatexSpecialCharactersAreEscaped) {
  EXPECT_EQ(escape_latex("a_b & 5% #1 {x} $ ~ ^ \\ ±"),
            "a\\_b \\& 5\\% \\#1 \\{x\\} \\$ \\textasciitilde{} \\textasciicircum{} "
            "\\textbackslash{} $\\pm$");
}

TEST(Tables, MarkdownPipesDoNotEndACell) {
  EXPECT_EQ(escape_markdown("a|b*_<\n"), "a\\|b\\*\\_&lt; ");
}

TEST(Tables, WideTextTablesAreCutBetweenGroups) {
  Table table;
  table.head = {"method", "a", "b", "c", "d"};
  table.groups = {{"one", 2}, {"two", 2}};
  table.rows = {{{"erm"}, {"11111111"}, {"2"}, {"33333333"}, {"4"}}};
  EXPECT_EQ(text_table(table, 22),
            "        one\n"
            "method         a  b\n"
            "-------------------\n"
            "erm     11111111  2\n"
            "\n"
            "        two\n"
            "method         c  d\n"
            "-------------------\n"
            "erm     33333333  4\n");
}

TEST(Tables, TextHasStarsAndMarks) {
  EXPECT_EQ(text_table(two_rows()),
            "Scores\n"
            "        cora\n"
            "method         Min    Avg\n"
            "-------------------------\n"
            "erm            1.0    2.0\n"
            "grm     *3.0 ± 0.1  *4.0▲\n"
            "A note.\n");
  EXPECT_THAT(text_table(two_rows(), 0, true), HasSubstr("  \033[1m*4.0▲\033[0m\n"));
}

TEST(Tables, NarrowLinesWrapSentencesAndKeepNumbersWhole) {
  Table table;
  table.head = {"name", "items", "what it is"};
  table.rows = {{"sbm", "1234567", "a sentence that is longer than the line"}};
  EXPECT_EQ(text_table(table, 40),
            "name    items  what it is\n"
            "----------------------------------------\n"
            "sbm   1234567  a sentence that is longer\n"
            "               than the line\n");
  EXPECT_EQ(text_table(table),
            "name    items                               what it is\n"
            "------------------------------------------------------\n"
            "sbm   1234567  a sentence that is longer than the line\n");
}

TEST(Tables, GroupsThatDoNotFitAreCutBetweenColumns) {
  EXPECT_EQ(text_table(two_rows(), 22),
            "Scores\n"
            "method    cora Min\n"
            "------------------\n"
            "erm            1.0\n"
            "grm     *3.0 ± 0.1\n"
            "\n"
            "method  cora Avg\n"
            "----------------\n"
            "erm          2.0\n"
            "grm        *4.0▲\n"
            "A note.\n");
}

TEST(Tables, NothingOnATerminalIsObeyed) {
  Table table;
  table.head = {"name"};
  table.rows = {{"a\x1b[2Jb\nc"}};
  EXPECT_EQ(text_table(table), "name\n------------\na\\x1b[2Jb\\nc\n");
}

TEST(Tables, MarkdownNamesTheGroupOnce) {
  EXPECT_EQ(markdown_table(two_rows()),
            "### Scores\n\n"
            "| method | cora Min | Avg |\n"
            "| :-- | --: | --: |\n"
            "| erm | 1.0 | 2.0 |\n"
            "| grm | **3.0 ± 0.1** | **4.0**▲ |\n\n"
            "* A note.\n");
}

TEST(Tables, LatexHasRulesAndACaption) {
  EXPECT_EQ(latex_table(two_rows()),
            "\\begin{table}\n\\centering\n\\begin{tabular}{lrr}\n\\toprule\n"
            " & \\multicolumn{2}{c}{cora} \\\\\n\\cmidrule(lr){2-3}\n"
            "method & Min & Avg \\\\\n\\midrule\n"
            "erm & 1.0 & 2.0 \\\\\n"
            "grm & \\textbf{3.0 $\\pm$ 0.1} & \\textbf{4.0}$^{\\uparrow}$ \\\\\n"
            "\\bottomrule\n\\end{tabular}\n\\caption{Scores A note.}\n\\end{table}\n");
}

TEST(Tables, CsvQuotesWhatItMust) {
  Table table;
  table.head = {"a", "b,c"};
  table.rows = {{"=1", "2"}, {"x\"y", ""}};
  EXPECT_EQ(csv_table(table), "a,\"b,c\"\n'=1,2\n\"x\"\"y\",\n");
}

TEST(Tables, HtmlEscapes) {
  Table table;
  table.head = {"a<b"};
  table.rows = {{{"<i>", true, -1}}};
  EXPECT_THAT(html_table(table), HasSubstr("<th scope=\"col\" class=\"text\">a&lt;b</th>"));
  EXPECT_THAT(html_table(table), HasSubstr("<strong>&lt;i&gt;</strong> <span class=\"worse\""));
}

}  // namespace
}  // namespace grm
