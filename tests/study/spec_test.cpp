// Specification files: what they expand to, and where their mistakes are.
#include "study/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm::study {
namespace {

using test::error_of;
using testing::HasSubstr;

const std::string kHead = R"(name = "s"
seeds = 2
methods = ["erm", "grm:centred"]
datasets = ["sbm", {name = "sbm", label = "small", set = {"dataset.nodes" = 50}}]
)";

std::string message_of(const std::string& text) {
  return error_of(ErrorKind::config, [&] { expand(parse_spec(text, "s.toml")); });
}

std::string value(const PlannedCell& cell, const std::string& line) {
  const size_t at = cell.config.find("\n" + line + " = ");
  if (at == std::string::npos) return "none";
  const size_t begin = at + line.size() + 4;
  return cell.config.substr(begin, cell.config.find('\n', begin) - begin);
}

TEST(Spec, AVariantCanBeForSomeMethodsOnly) {
  const StudySpec spec = parse_spec(kHead + R"(
[[variant]]
name = "all"
[[variant]]
name = "some"
method = ["erm"]
)",
                                    "s.toml");
  int64_t all = 0, some = 0;
  for (const PlannedCell& c : expand(spec)) {
    all += c.variant == "all";
    some += c.variant == "some";
    EXPECT_TRUE(c.variant == "all" || c.method == "erm");
  }
  EXPECT_EQ(all, 2 * 2 * 2);
  EXPECT_EQ(some, 2 * 2);
}

TEST(Spec, ExpandsBySeedDatasetMethodAndVariant) {
  const StudySpec spec = parse_spec(kHead + R"(
[[variant]]
name = "narrow"
set.method.hidden = 8
[[variant]]
name = "wide"
)",
                                    "s.toml");
  const std::vector<PlannedCell> cells = expand(spec);
  ASSERT_EQ(cells.size(), 2u * 2 * 2 * 2);
  std::vector<std::string> names;
  for (const PlannedCell& c : cells) {
    names.push_back(c.dataset + " " + c.method + " " + c.variant + " " + std::to_string(c.seed));
  }
  EXPECT_EQ(names[0], "sbm erm narrow 1000");
  EXPECT_EQ(names[1], "sbm erm wide 1000");
  EXPECT_EQ(names[2], "sbm grm:centred narrow 1000");
  EXPECT_EQ(names[4], "small erm narrow 1000");
  EXPECT_EQ(names[8], "sbm erm narrow 1001");
  EXPECT_EQ(names[15], "small grm:centred wide 1001");
  EXPECT_EQ(value(cells[0], "hidden"), "8");
  EXPECT_EQ(value(cells[0], "name"), "\"sbm\"");
  EXPECT_EQ(value(cells[4], "nodes"), "50");
  EXPECT_EQ(value(cells[2], "preset"), "\"centred\"");
  EXPECT_EQ(cells[8].config.substr(0, 11), "seed = 1001");
}

TEST(Spec, LaterValuesGoOverEarlierOnesAndConditionsChooseTheirCells) {
  const std::vector<PlannedCell> cells = expand(parse_spec(kHead + R"(
[set]
train.epochs = 5
"method.lr" = 0.5
[set.dataset]
nodes = 70
[[variant]]
name = "v"
set = {"method.lr" = 0.25}
[[when]]
method = "grm"
set.train.epochs = 6
[[when]]
dataset = ["small"]
method = ["grm:centred", "erm"]
variant = "v"
set.method.lr = 0.125
)",
                                                           "s.toml"));
  ASSERT_EQ(cells.size(), 8u);
  EXPECT_EQ(value(cells[0], "lr"), "0.25");
  EXPECT_EQ(value(cells[0], "epochs"), "5");
  EXPECT_EQ(value(cells[0], "nodes"), "70");
  EXPECT_EQ(value(cells[1], "epochs"), "6");  // sbm grm:centred
  EXPECT_EQ(value(cells[2], "lr"), "0.125");  // small erm
  EXPECT_EQ(value(cells[2], "nodes"), "50");  // the dataset's own value
  EXPECT_EQ(value(cells[3], "epochs"), "6");  // small grm:centred
}

TEST(Spec, ReadsTheSearch) {
  const StudySpec spec = parse_spec(kHead + R"(
[tune]
trials = 4
seeds = 3
[tune.space]
"method.lr" = [1e-3, 1e-2]
[tune.methods.grm]
method.beta = { low = 0.5, high = 2, log = true }
method.fanout = { low = 2, high = 4 }
)",
                                    "s.toml");
  ASSERT_TRUE(spec.tune);
  EXPECT_EQ(spec.tune->search, "random");
  EXPECT_EQ(spec.tune->trials, 4);
  EXPECT_EQ(spec.tune->first_seed, 5000);
  ASSERT_EQ(spec.tune->space.size(), 1u);
  EXPECT_EQ(spec.tune->space[0].choices, (std::vector<std::string>{"0.001", "0.01"}));
  ASSERT_EQ(spec.tune->by_method.size(), 1u);
  const std::vector<SpaceSpec>& own = spec.tune->by_method[0].second;
  ASSERT_EQ(own.size(), 2u);
  EXPECT_EQ(own[0].key, "method.beta");
  EXPECT_TRUE(own[0].log);
  EXPECT_FALSE(own[0].whole);
  EXPECT_TRUE(own[1].whole);
}

TEST(Spec, MistakesNameTheirPlaceAndTheNearestWord) {
  const auto broken = [](const std::string& rest) { return message_of(kHead + rest); };
  EXPECT_THAT(message_of("name = \"s\"\nmethods = [\"emr\"]\ndatasets = [\"sbm\"]"),
              AllOf(HasSubstr("s.toml:2:12:"), HasSubstr("did you mean 'erm'")));
  EXPECT_THAT(message_of("name = \"s\"\nmethods = [\"erm\"]\ndatasets = [\"smb\"]"),
              AllOf(HasSubstr("s.toml:3:13:"), HasSubstr("did you mean 'sbm'")));
  EXPECT_THAT(broken("sets = 3"), AllOf(HasSubstr("s.toml:5:1:"), HasSubstr("did you mean 'set'")));
  EXPECT_THAT(broken("[set]\nmethod.lr = 1\nmethod.hiden = 3"),
              AllOf(HasSubstr("s.toml:7:16:"), HasSubstr("did you mean 'hidden'")));
  EXPECT_THAT(broken("[set]\nmethod.beta = 1"),  // GRM has it, ERM has not
              AllOf(HasSubstr("s.toml:6:15:"), HasSubstr("(for erm on sbm)")));
  EXPECT_THAT(broken("[[when]]\ndataset = \"smal\"\nset.method.lr = 1"),
              AllOf(HasSubstr("s.toml:6:11:"), HasSubstr("did you mean 'small'")));
  EXPECT_THAT(broken("[[variant]]\nset.method.lr = 1"), HasSubstr("s.toml:5:1:"));
  EXPECT_THAT(broken("[[variant]]\nname = 'v'\nmethod = 'ern'"), HasSubstr("did you mean 'erm'"));
  EXPECT_THAT(broken("[set]\ntrain.seeds = 3"), HasSubstr("the study's own 'seeds'"));
  EXPECT_THAT(broken("[tune]\ntrials = 2\nfirst_seed = 1001"), HasSubstr("overlap"));
  EXPECT_THAT(broken("[tune]\nsearch = \"gird\"\ntrials = 2"), HasSubstr("did you mean 'grid'"));
  EXPECT_THAT(broken("[tune]\ntrials = 2\nspace.method.lr = { low = 2, high = 1 }"),
              HasSubstr("'low' is not below 'high'"));
  EXPECT_THAT(broken("name = \"t\""), HasSubstr("s.toml:5:"));  // TOML itself: a key twice
  EXPECT_THAT(message_of("name = \"s\"\nseeds = 0"), HasSubstr("s.toml:2:9:"));
  EXPECT_THAT(message_of("name = \"s\"\nseeds = 1000000000"),
              AllOf(HasSubstr("s.toml:2:9:"), HasSubstr("from 1 to 100000")));
  EXPECT_THAT(message_of("name = \"s\""), HasSubstr("no datasets"));
  EXPECT_THAT(broken("[set]\ntrain.test = \"never\""), HasSubstr("no scores to report"));
}

TEST(Spec, IncludedStudiesAddTheirCellsOnce) {
  const test::TempFolder folder;
  folder.write("a.toml", "name = \"a\"\nmethods = [\"erm\"]\ndatasets = [\"sbm\"]\nseeds = 2\n");
  folder.write("b.toml",
               "name = \"b\"\nmethods = [\"erm\", \"grm\"]\ndatasets = [\"sbm\"]\nseeds = 2\n");
  const std::string all =
      folder.write("all.toml", "name = \"all\"\ninclude = [\"a.toml\", \"b.toml\"]\n");
  EXPECT_EQ(expand(load_spec(all)).size(), 4u);
  folder.write("b.toml",
               "name = \"b\"\nmethods = [\"erm\"]\ndatasets = [\"sbm\"]\n[set]\nmethod.lr = 1\n");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { expand(load_spec(all)); }),
              HasSubstr("a variant name of its own"));
  folder.write("a.toml", "name = \"a\"\ninclude = [\"all.toml\"]\n");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_spec(all); }), HasSubstr("includes itself"));
  folder.write("a.toml", "name = \"a\"\ninclude = [\"nowhere.toml\"]\n");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_spec(all); }),
              HasSubstr("a.toml:2:12: there is no study 'nowhere.toml'"));
}

TEST(Spec, EveryReadyStudyCanBeExpandedAndItsConfigurationsReadBack) {
  for (const std::string& name : ready_studies()) {
    const std::vector<PlannedCell> cells = expand(load_spec(name));
    EXPECT_FALSE(cells.empty()) << name;
    for (const PlannedCell& cell : cells) {
      EXPECT_EQ(config_from_toml(cell.config, name).to_toml(cell.seed), cell.config);
    }
  }
  EXPECT_THAT(error_of(ErrorKind::config, [] { load_spec("no such study"); }),
              HasSubstr("neither a file nor a ready study"));
}

// Folders of own data with these names; their labels in a study.
std::vector<std::string> labels_of(const test::TempFolder& folder,
                                   const std::vector<std::pair<std::string, std::string>>& data,
                                   const std::string& more = "") {
  std::string list;
  for (const auto& [path, name] : data) {
    folder.write(
        path + "/dataset.toml",
        "name = \"" + name + "\"\n[train]\ndomains = [\"a\"]\n[validation]\ndomains = [\"b\"]\n");
    list += "\"" + folder.file(path) + "\", ";
  }
  std::vector<std::string> labels;
  for (const DatasetSpec& each :
       parse_spec("name = \"s\"\nmethods = [\"erm\"]\ndatasets = [" + list + "]\n" + more, "s.toml")
           .datasets) {
    labels.push_back(each.label);
  }
  return labels;
}

TEST(Trust01Names, OwnDataIsCalledAsItsDescriptionSays) {
  const test::TempFolder folder;
  EXPECT_THAT(labels_of(folder, {{"a", "payments"}, {"b", "loans"}, {"c/", "x.y"}}),
              testing::ElementsAre("payments", "loans", "x.y"));
}

TEST(Trust01Names, FoldersTellEqualNamesApart) {
  const test::TempFolder folder;
  EXPECT_THAT(labels_of(folder, {{"a", "payments"}, {"b", "payments"}, {"d", "loans"}}),
              testing::ElementsAre("payments (a)", "payments (b)", "loans"));
  EXPECT_THAT(labels_of(folder, {{"x/1", "n"}, {"y/1", "n"}, {"y/2", "n"}}),
              testing::ElementsAre("n (x/1)", "n (y/1)", "n (y/2)"));
  // Names of built-in datasets and labels that are given.
  EXPECT_THAT(labels_of(folder, {{"mine", "cora"}, {"a", "payments"}},
                        "[[dataset]]\nname = \"sbm\"\nlabel = \"payments\"\n"),
              testing::ElementsAre("cora (mine)", "payments (a)", "payments"));
}

TEST(Trust01Names, OneFolderIsOneDatasetHoweverItIsWritten) {
  const test::TempFolder folder;
  EXPECT_THAT(error_of(ErrorKind::config,
                       [&] {
                         labels_of(folder, {{"a", "payments"}, {"a/../a", "payments"}});
                       }),
              HasSubstr("s.toml:3:"));
  EXPECT_THAT(error_of(ErrorKind::config,
                       [&] {
                         labels_of(folder, {{"a", "payments"}, {"a/", "payments"}});
                       }),
              HasSubstr("the dataset 'payments' is here already; give it another label"));
}

}  // namespace
}  // namespace grm::study
