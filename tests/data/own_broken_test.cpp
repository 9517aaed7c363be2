// Broken folders, and the message that each must produce: file, line, column, what is wrong. The
// loader throws what the check lists first: they are one piece of code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "own_files.h"

namespace grm {
namespace {

using test::Arrays;
using test::description;
using test::Files;
using test::float_array;
using test::int_array;
using ::testing::HasSubstr;

struct Broken {
  std::string name;
  std::function<Files()> make;
  std::string message;  // behind the folder's path
  std::string fix;
};

Files toml(const std::string& text) {
  Files files = test::table_folder();
  files["dataset.toml"] = text;
  return files;
}
Files top(const std::string& line) {
  return toml(description("node", line + "\n"));
}
Files end(const std::string& lines) {
  return toml(description("node", "", lines));
}
Files table(const std::string& file, const std::string& text) {
  Files files = test::table_folder();
  files[file] = text;
  return files;
}
Files without(Files files, const std::string& name) {
  files.erase(name);
  return files;
}
Files nodes_of_a(const std::string& rows) {
  return table("a/nodes.csv", "id,label,age,height\n" + rows);
}
Files shared(const std::string& file, const std::string& text) {
  Files files = test::shared_folder();
  files[file] = text;
  return files;
}
Files graphs(const std::string& file, const std::string& text) {
  Files files = test::graph_tables();
  files[file] = text;
  return files;
}
Files arrays(const std::string& name, const std::string& bytes) {
  Arrays a = test::node_arrays();
  a.list[name] = bytes;
  return test::array_folder(a);
}
Files renamed(const std::string& from, const std::string& to) {
  Arrays a = test::node_arrays();
  a.list[to] = a.list[from];
  a.list.erase(from);
  return test::array_folder(a);
}
Files set_arrays(const std::string& name, const std::string& bytes) {
  Arrays a = test::graph_arrays();
  a.list[name] = bytes;
  return test::graph_array_folder(a);
}

const std::vector<Broken>& broken_folders() {
  static const std::vector<Broken> list = {
      // dataset.toml
      {"NoDescription", [] { return without(test::table_folder(), "dataset.toml"); },
       "dataset.toml: there is no such file", "grm data init"},
      {"NotToml", [] { return toml("name = toy\n"); }, "dataset.toml:1:9: this is not TOML",
       "quotes"},
      {"UnknownKey", [] { return top("metrc = \"accuracy\""); },
       "dataset.toml:4:1: dataset.toml has no key 'metrc' (did you mean 'metric'", "remove it"},
      {"KeyInTheWrongSection", [] { return end("missing = \"mean\"\n"); },
       "dataset.toml:10:1: [test] has no key 'missing'", "move 'missing' above"},
      {"UnknownLevel", [] { return toml(description("nodes")); },
       "dataset.toml:2:9: level = \"nodes\" is unknown (did you mean 'node'", "node, graph"},
      {"UnknownMetric", [] { return toml("name = \"t\"\nmetric = \"auc\"\n"); },
       "dataset.toml:2:10: metric = \"auc\" is unknown", "accuracy, roc_auc, macro_f1"},
      {"NoName", [] { return toml("level = \"node\"\n"); },
       "dataset.toml:1:1: the dataset has no name", "name ="},
      {"NameThatIsNoFolder", [] { return toml("name = \"a/b\"\n"); },
       "dataset.toml:1:8: the name 'a/b'", "letters"},
      {"TextWhereTrueOrFalseIsNeeded", [] { return top("undirected = \"yes\""); },
       "dataset.toml:4:14: 'undirected' is true or false", "without quotes"},
      {"NoValidation", [] { return toml("name = \"t\"\n[train]\ndomains = [\"a\"]\n"); },
       "dataset.toml: there is no [validation]", "add [validation]"},
      {"NoDomainInTraining",
       [] {
         return toml("name = \"t\"\n[train]\ndomains = []\n[validation]\ndomains = [\"b\"]\n");
       },
       "dataset.toml:2:1: [train] names no domain", "domains ="},
      {"DomainsThatAreNoList",
       [] {
         return toml("name = \"t\"\n[train]\ndomains = \"a\"\n[validation]\ndomains = [\"b\"]\n");
       },
       "dataset.toml:3:11: 'domains' is a list", "[\"a\", \"b\"]"},
      {"DomainOfTwoRoles",
       [] {
         return toml(
             "name = \"t\"\n[train]\ndomains = [\"a\"]\n[validation]\n"
             "domains = [\"b\", \"a\"]\n");
       },
       "dataset.toml:5:17: domain 'a' is already in [train], line 3", "one role"},
      {"DomainsByTheThousands",
       [] {
         std::string text = "name = \"t\"\n[train]\ndomains = [\n";
         for (int k = 0; k < 10001; ++k) text += fmt::format("\"d{}\",\n", k);
         return toml(text + "]\n[validation]\ndomains = [\"b\"]\n");
       },
       "dataset.toml:10004:1: there are more than 10000 domains", "one environment"},
      {"DomainThatIsAPath",
       [] {
         return toml(
             "name = \"t\"\n[train]\ndomains = [\"../a\"]\n[validation]\n"
             "domains = [\"b\"]\n");
       },
       "dataset.toml:3:12: '../a' is not the name of a file", "without path"},
      {"DomainWithoutFiles",
       [] {
         Files files = test::table_folder();
         files["july/nodes.csv"] = files["c/nodes.csv"];
         files["dataset.toml"] =
             "name = \"t\"\n[train]\ndomains = [\"a\"]\n[validation]\ndomains = [\"b\"]\n[test]\n"
             "domains = [\"juli\"]\n";
         return files;
       },
       "dataset.toml:7:12: domain 'juli'", "the folder holds: a, b, c, july"},
      {"TablesForAllWithoutTheColumnThatTellsThemApart",
       [] {
         Files files = test::shared_folder();
         files["dataset.toml"] = description();
         return files;
       },
       "dataset.toml:5:12: domain 'a'", "write domain = \"COLUMN\""},
      {"ArraysBesideTables",
       [] {
         Files files = test::table_folder();
         files["b.npz"] = test::node_arrays().npz();
         return files;
       },
       "dataset.toml:7:12: some domains are .npz files, others folders of tables",
       "one of the two"},
      {"AnotherNumberOfLabelsThanClasses",
       [] { return top("labels = [\"x\", \"y\"]\nclasses = 3"); },
       "dataset.toml:5:11: classes = 3, but 2 labels are named", "remove 'classes'"},
      {"OneLabel", [] { return top("labels = [\"x\"]"); },
       "dataset.toml:4:10: one label, but at least 2 classes are needed", "all classes"},
      {"LabelNamedTwice", [] { return top("labels = [\"x\", \"y\", \"x\"]"); },
       "dataset.toml:4:10: the label 'x' is there twice", "once"},
      {"LongSeparator", [] { return end("[csv]\nseparator = \"::\"\n"); },
       "dataset.toml:11:13: the separator is one character", "\"tab\""},
      {"GroupOfNoDomain", [] { return end("[groups]\ncc = \"late\"\n"); },
       "dataset.toml:11:1: [groups] names 'cc'", "name a domain"},
      {"ColumnThatIsNotThere", [] { return end("[columns]\ncategorical = [\"hight\"]\n"); },
       "dataset.toml:11:16: ", "as in the first line of the table"},
      {"ColumnNamedTwice",
       [] { return end("[columns]\nnumeric = [\"age\"]\nignore = [\"age\"]\n"); },
       "dataset.toml:12:11: column 'age' is named twice", "in one of"},
      {"LabelAsAFeature", [] { return end("[columns]\nnumeric = [\"label\"]\n"); },
       "dataset.toml:11:12: column 'label' has a special meaning", "not features"},
      {"EdgeColumnThatIsNotThere", [] { return end("[edge_columns]\nnumeric = [\"w\"]\n"); },
       "dataset.toml:11:12: ", "first line of the table"},
      {"NegativeWeight",
       [] {
         Files files = end("[edge_columns]\nweight = \"w\"\n");
         files["a/edges.csv"] = "source,target,w\nn1,n2,-1\n";
         files["b/edges.csv"] = files["c/edges.csv"] = "source,target,w\nn1,n2,1\n";
         return files;
       },
       "a/edges.csv:2:3: the weight '-1' is negative", "[edge_columns] numeric"},
      {"UnknownSplit",
       [] {
         Files files = top("split = \"masks\"");
         files["a/nodes.csv"] = "id,label,age,height,split\nn1,0,1,1,train\nn2,1,1,1,later\n";
         files["a/edges.csv"] = "source,target\nn1,n2\n";
         return files;
       },
       "a/nodes.csv:3:5: the split 'later' is unknown", "train, val or test"},
      {"SplitByTimeWithoutMoments", [] { return top("split = \"time\""); },
       "dataset.toml: split = \"time\" needs two moments", "until"},
      {"MetricOfOtherTargets", [] { return toml("name = \"t\"\nmetric = \"rmse\"\n"); },
       "dataset.toml:2:10: metric = \"rmse\" is unknown", "accuracy"},
      {"ClassesOfARegression",
       [] { return toml("name = \"t\"\ntarget = \"regression\"\nclasses = 3\n"); },
       "dataset.toml:3:11: 'classes' is for classes, the target is regression", "targets"},
      {"TextAsATarget",
       [] {
         Files files = toml(
             "name = \"t\"\ntarget = \"regression\"\n[train]\ndomains = [\"a\"]\n[validation]\n"
             "domains = [\"b\"]\n");
         files["a/nodes.csv"] =
             "id,label,age,height\nn1,high,1,10\nn2,1,3,20\nn3,0,5,30\nn4,1,7,40\n";
         return files;
       },
       "a/nodes.csv:2:2: the target 'high' is not a number", "write a number"},
      {"MultiLabelThatIsNeither",
       [] {
         Files files = toml(
             "name = \"t\"\ntarget = \"multi-label\"\ntargets = [\"age\"]\n[train]\n"
             "domains = [\"a\"]\n[validation]\ndomains = [\"b\"]\n");
         return files;
       },
       "a/nodes.csv:3:3: the target '3' is neither 0 nor 1", "0 or 1"},
      {"LossForTwoClasses",
       [] {
         Files files = nodes_of_a("n1,0,1,1\nn2,1,2,2\nn3,2,3,3\nn4,2,3,3\n");
         files["dataset.toml"] = description("node", "loss = \"binary_pair\"\n");
         return files;
       },
       "dataset.toml:4:8: loss = \"binary_pair\" is for 2 classes, there are 3", "softmax"},
      {"OneClassUnderRocAuc",
       [] {
         Files files = table("c/nodes.csv", "id,label,age,height\nn1,1,1,1\nn2,1,2,2\n");
         files["c/edges.csv"] = "source,target\n";
         files["dataset.toml"] =
             "name = \"t\"\nmetric = \"roc_auc\"\n[train]\ndomains = [\"a\"]\n"
             "[validation]\ndomains = [\"b\"]\n[test]\ndomains = [\"c\"]\n";
         return files;
       },
       "dataset.toml:8:12: test domain 'c' holds one class, so roc_auc is undefined", "[groups]"},
      {"TestDomainWithoutLabels",
       [] {
         return table("c/nodes.csv", "id,label,age,height\nn1,,1,1\nn2,,2,2\nn3,,2,2\nn4,,2,2\n");
       },
       "dataset.toml:9:12: test domain 'c' has no label that counts", "grm predict"},
      // Tables
      {"NoTableOfEdges", [] { return without(test::table_folder(), "a/edges.csv"); },
       "a/edges.csv: there is no such file", "[csv]"},
      {"NoTableOfNodes", [] { return without(test::table_folder(), "a/nodes.csv"); },
       "a/nodes.csv: there is no such file", "[csv]"},
      {"EmptyTable", [] { return table("a/nodes.csv", ""); }, "a/nodes.csv:1: the file is empty",
       "names the columns"},
      {"NoNode", [] { return nodes_of_a(""); }, "a/nodes.csv:2: there is no node",
       "a line for each"},
      {"TwoColumnsOfOneName", [] { return table("a/nodes.csv", "id,label,age,age\n"); },
       "a/nodes.csv:1:4: a second column 'age'", "another name"},
      {"ColumnWithoutAName", [] { return table("a/nodes.csv", "id,label,,age\n"); },
       "a/nodes.csv:1:3: this column has no name", "first line"},
      {"NoIds", [] { return table("a/nodes.csv", "ids,label,age,height\n"); },
       "a/nodes.csv:1: there is no column 'id' (did you mean 'ids'", "[csv] id"},
      {"AnotherSeparator", [] { return table("a/nodes.csv", "id;label;age\nn1;0;1\n"); },
       "a/nodes.csv:1: there is no column 'id'", "separator = \";\""},
      {"NoLabels", [] { return table("a/nodes.csv", "id,klass,age\nn1,0,1\n"); },
       "a/nodes.csv:1: there is no column 'label'", "[csv] label"},
      {"NoFeatures", [] { return table("a/nodes.csv", "id,label\nn1,0\n"); },
       "a/nodes.csv:1: no column is left for features", "a constant one"},
      {"ShortRow", [] { return nodes_of_a("n1,0,1,2\nn2,1,3\n"); },
       "a/nodes.csv:3: 3 columns, but the header has 4", "leave a missing one empty"},
      {"EmptyLine", [] { return nodes_of_a("n1,0,1,2\n\nn2,1,3,4\n"); },
       "a/nodes.csv:3: the line is empty", "remove it"},
      {"WordWhereANumberIsNeeded", [] { return nodes_of_a("n1,0,1,2\nn2,1,old,4\n"); },
       "a/nodes.csv:3:3: column 'age': 'old' is not a number", "categorical = [\"age\"]"},
      {"DecimalComma", [] { return nodes_of_a("n1,0,\"1,5\",2\n"); },
       "a/nodes.csv:2:3: column 'age': '1,5' is not a number", "decimals with a point"},
      {"Infinity", [] { return nodes_of_a("n1,0,inf,2\n"); },
       "a/nodes.csv:2:3: column 'age': 'inf' is infinite", "scale the column"},
      {"NumberBeyondSinglePrecision", [] { return nodes_of_a("n1,0,1e39,2\n"); },
       "a/nodes.csv:2:3: column 'age': '1e39' is infinite or beyond", "3.4e38"},
      {"MissingValue", [] { return nodes_of_a("n1,0,1,2\nn2,1,3,NA\n"); },
       "a/nodes.csv:3:4: column 'height': the value is missing", "missing = \"mean\""},
      {"IdThatCameBefore", [] { return nodes_of_a("n1,0,1,2\nn2,1,3,4\nn1,1,3,4\n"); },
       "a/nodes.csv:4:1: the id 'n1' came before, in row 1", "unique"},
      {"EmptyId", [] { return nodes_of_a("n1,0,1,2\n,1,3,4\n"); },
       "a/nodes.csv:3:1: the id is empty", "give it one"},
      {"OpenQuote", [] { return nodes_of_a("n1,0,1,2\n\"n2,1,3,4\n"); },
       "a/nodes.csv:3: a quote is not closed", "close the quote"},
      {"TextThatIsNotUtf8", [] { return nodes_of_a("n1,0,1,2\nb\xE4r,1,3,4\n"); },
       "a/nodes.csv:3:1: the text is not UTF-8", "as UTF-8"},
      {"EdgeOfNoNode", [] { return table("a/edges.csv", "source,target\nn1,n2\nn2,n9\n"); },
       "a/edges.csv:3:2: node 'n9' is not in nodes.csv", "remove the edge"},
      {"EdgesWithoutTargets", [] { return table("a/edges.csv", "source,taget\nn1,n2\n"); },
       "a/edges.csv:1: there is no column 'target' (did you mean 'taget'", "[csv] target"},
      {"ColumnThatADomainLacks", [] { return table("b/nodes.csv", "id,label,age\nn1,0,1\n"); },
       "b/nodes.csv:1: there is no column 'height'", "the same columns"},
      {"ColumnThatOnlyOneDomainHas",
       [] { return table("b/nodes.csv", "id,label,age,height,iq\nn1,0,1,2,3\n"); },
       "b/nodes.csv:1:5: the column 'iq' is not in", "'ignore'"},
      {"ColumnWithoutAnyValueInTraining",
       [] {
         Files files = nodes_of_a("n1,0,1,\nn2,1,3,\nn3,1,3,\nn4,1,3,\n");
         files["dataset.toml"] = description("node", "missing = \"mean\"\n");
         return files;
       },
       "a/nodes.csv: column 'height' has no value in the training domains",
       "ignore = [\"height\"]"},
      // Labels
      {"LabelThatTrainingHasNot",
       [] {
         return table("b/nodes.csv",
                      "id,label,age,height\nn1,0,1,2\nn2,1,1,2\nn3,2,1,2\nn4,0,1,2\n");
       },
       "b/nodes.csv:4:2: the label '2' is none of the classes 0..1", "'labels'"},
      {"MisspeltLabel",
       [] {
         Files files = top("labels = [\"licit\", \"illicit\"]");
         for (const std::string d : {"a", "b", "c"}) {
           files[d + "/nodes.csv"] = "id,label,age\nn1,licit,1\nn2,ilicit,2\nn3,illicit,2\nn4,,2\n";
         }
         return files;
       },
       "a/nodes.csv:3:2: the label 'ilicit' is none of the classes licit, illicit (did you mean",
       "correct it"},
      {"LabelsWithFractions",
       [] { return nodes_of_a("n1,0.5,1,2\nn2,1.25,1,2\nn3,2,1,2\nn4,0,1,2\n"); },
       "a/nodes.csv:1:2: the labels are numbers with fractions", "into classes"},
      {"OneClassInTraining", [] { return nodes_of_a("n1,0,1,2\nn2,0,1,2\nn3,0,1,3\nn4,0,1,2\n"); },
       "a/nodes.csv: all training labels are of one class", "at least two"},
      {"NoLabelInTraining", [] { return nodes_of_a("n1,,1,2\nn2,,1,2\nn3,,1,3\nn4,,1,2\n"); },
       "a/nodes.csv: no training item has a label", "needs labels"},
      // One set of tables for all domains
      {"NoDomainInARow",
       [] {
         return shared(
             "nodes.csv",
             "id,month,label,age,height\na1,a,0,1,1\na2,a,1,1,1\nb1,b,0,1,1\nc1,,0,1,1\n");
       },
       "nodes.csv:5:2: column 'month': no domain is named", "remove the row"},
      {"DomainThatNoRowHas",
       [] {
         Files files =
             shared("nodes.csv", "id,month,label,age,height\na1,a,0,1,1\na2,a,1,1,1\nb1,b,0,1,1\n");
         files["edges.csv"] = "source,target\n";
         return files;
       },
       "dataset.toml:10:12: no row of nodes.csv has the domain 'c' in column 'month'",
       "the column holds: a, b"},
      {"EdgesBetweenDomains",
       [] {
         Files files = test::shared_folder();
         files["edges.csv"] += "a1,b1\na1,c1\nb1,b3\nc1,b1\n";
         return files;
       },
       "edges.csv:14: the edge joins the domains 'a' and 'b'; 3 such edges in all",
       "edges_between = \"drop\""},
      {"NoColumnOfDomains",
       [] { return shared("dataset.toml", description("node", "domain = \"moth\"\n")); },
       "nodes.csv:1: there is no column 'moth' (did you mean 'month'", "domain ="},
      // Sets of graphs in tables
      {"NoTableOfGraphs", [] { return without(test::graph_tables(), "a/graphs.csv"); },
       "a/graphs.csv: there is no such file", "[csv]"},
      {"NodeOfNoGraph",
       [] { return graphs("a/nodes.csv", "id,graph,charge\np,g1,1\nq,g9,2\nu,g2,3\n"); },
       "a/nodes.csv:3:2: graph 'g9' is not in graphs.csv", "correct the name"},
      {"GraphWithoutNodes", [] { return graphs("a/graphs.csv", "id,label\ng1,0\ng2,1\ng3,1\n"); },
       "a/graphs.csv: graph 'g3' (row 3 of the table) has no node in nodes.csv", "remove the line"},
      {"EdgeBetweenGraphs",
       [] { return graphs("a/edges.csv", "source,target,length,strength\np,u,1,1\nq,u,1,1\n"); },
       "a/edges.csv:2: the edge joins the graphs 'g1' and 'g2'; 2 such edges in all",
       "inside its graph"},
      {"WeightThatIsNoNumber",
       [] { return graphs("a/edges.csv", "source,target,length,strength\np,q,1,strong\n"); },
       "a/edges.csv:2:4: the weight 'strong' is not a finite number", "a weight"},
      // Arrays
      {"DamagedArchive",
       [] {
         Files files = test::array_folder();
         files["a.npz"] = files["a.npz"].substr(0, 100);
         return files;
       },
       "a.npz: cannot be read as a .npz archive", "numpy.savez"},
      {"NoEdgeIndex", [] { return renamed("edge_index", "edge_idx"); },
       "a.npz: there is no array 'edge_index' (did you mean 'edge_idx'", "[2, edges]"},
      {"EdgeIndexLyingDown",
       [] {
         return arrays("edge_index", int_array("(4, 2)", {0, 1, 1, 2, 2, 3, 3, 0}));
       },
       "a.npz: edge_index has the shape [4, 2]", "edge_index.T"},
      {"EdgeIndexOfFloats",
       [] {
         return arrays("edge_index", float_array("(2, 1)", {0, 1}));
       },
       "a.npz: edge_index holds floating-point numbers", "astype"},
      {"NodesCountedFromOne",
       [] {
         return arrays("edge_index", int_array("(2, 4)", {1, 2, 3, 4, 2, 3, 4, 1}));
       },
       "a.npz: edge 2 is 3 -> 4, but the nodes are 0..3; 2 such edges in all", "edge_index - 1"},
      {"EdgeOutOfRange",
       [] {
         return arrays("edge_index", int_array("(2, 1)", {0, -1}));
       },
       "a.npz: edge 0 is 0 -> -1, but the nodes are 0..3", "rows of x"},
      {"FeaturesWithOneAxis",
       [] {
         return arrays("x", float_array("(4,)", {1, 2, 3, 4}));
       },
       "a.npz: array 'x' has the shape [4]", "reshape(-1, 1)"},
      {"NoFeaturesAtAll", [] { return renamed("x", "X"); }, "a.npz: there is no array 'x'",
       "x [nodes, features]"},
      {"FeatureThatIsNan",
       [] {
         return arrays("x", float_array("(4, 2)", {1, 2, 3, std::nanf(""), 5, 6, 7, 8}));
       },
       "a.npz: x[1, 1] is NaN; 1 such numbers in all", "missing = \"mean\""},
      {"NoLabelsInTheFile", [] { return renamed("y", "target"); }, "a.npz: there is no array 'y'",
       "as y"},
      {"LabelsOfOtherNumber",
       [] {
         return arrays("y", int_array("(3,)", {0, 1, 0}));
       },
       "a.npz: array 'y' has 3 entries, 4 are needed", "exactly one"},
      {"LabelsAsText", [] { return arrays("y", test::npy("<U1", "(4,)", std::string(16, 'a'))); },
       "a.npz: array 'y' has dtype <U1, numbers are needed", "'labels'"},
      {"LabelThatIsNoClass",
       [] {
         return arrays("y", float_array("(4,)", {0, 1, 0.5, 1}));
       },
       "a.npz: y[2] is 0.5, which is not a class number", "into classes"},
      {"LabelBeyondTheClasses",
       [] {
         Files files = test::array_folder();
         Arrays b = test::node_arrays();
         b.list["y"] = int_array("(4,)", {0, 1, 5, 7});
         files["b.npz"] = b.npz();
         return files;
       },
       "b.npz: y[2] is 5, but the classes are 0..1; 2 such labels in all", "classes ="},
      {"MaskOfIndices",
       [] {
         return arrays("mask", int_array("(4,)", {0, 1, 2, 3}));
       },
       "a.npz: mask[2] is 2, a mask holds 0 and 1", "boolean"},
      {"MaskOverUnlabelled",
       [] {
         Arrays a = test::node_arrays();
         a.list["y"] = int_array("(4,)", {0, 1, -1, 1});
         a.list["mask"] = int_array("(4,)", {1, 1, 1, 1});
         return test::array_folder(a);
       },
       "a.npz: mask[2] is set, but y has no label there; 1 such in all", "clear the mask"},
      {"AnotherWidth",
       [] {
         Files files = test::array_folder();
         Arrays c = test::node_arrays();
         c.list["x"] = float_array("(4, 1)", {1, 2, 3, 4});
         files["c.npz"] = c.npz();
         return files;
       },
       "c.npz: x has 1 columns, but", "the same order"},
      {"GraphsAtNodeLevel",
       [] {
         return arrays("graph", int_array("(4,)", {0, 0, 1, 1}));
       },
       "a.npz: array 'graph' tells graphs apart, but the level is node", "level = \"graph\""},
      {"BrokenSparseFeatures",
       [] {
         Arrays a = test::node_arrays();
         a.list["x_indptr"] = int_array("(5,)", {0, 1, 2, 3, 4});
         a.list["x_indices"] = int_array("(4,)", {0, 1, 2, 3});
         a.list["x_width"] = int_array("(1,)", {3});
         return test::array_folder(a);
       },
       "a.npz: x_indptr, x_indices and x_width = 3 are not a sparse matrix", "below the width"},
      {"BatchInsteadOfGraph",
       [] {
         Arrays a = test::graph_arrays();
         a.list["batch"] = a.list["graph"];
         a.list.erase("graph");
         return test::graph_array_folder(a);
       },
       "a.npz: there is no array 'graph'", "save 'batch' under the name 'graph'"},
      {"GraphsThatTakeTurns",
       [] {
         return set_arrays("graph", int_array("(5,)", {0, 1, 0, 1, 1}));
       },
       "a.npz: graph[2] is 0 after 1: graphs must not interleave", "sort the nodes"},
      {"GraphThatIsSkipped",
       [] {
         return set_arrays("graph", int_array("(5,)", {0, 0, 2, 2, 2}));
       },
       "a.npz: graph[2] is 2 after 0", "without a gap"},
      {"EdgeThatLeavesItsGraph",
       [] {
         return set_arrays("edge_index", int_array("(2, 4)", {0, 1, 3, 4, 1, 2, 4, 2}));
       },
       "a.npz: edge 1 is 1 -> 2, which leaves its graph; 1 such edges in all", "rows of x"},
      {"EdgeFeaturesOfOtherNumber",
       [] {
         return set_arrays("edge_attr", float_array("(3, 1)", {1, 2, 3}));
       },
       "a.npz: edge_attr has 3 rows for 4 edges", "one row"},
      {"WeightsInOneFileOnly",
       [] {
         Arrays a = test::graph_arrays();
         a.list.erase("edge_weight");
         return test::graph_array_folder(a);
       },
       "b.npz: edge_weight is present here, unlike in", "in all files or in none"},
  };
  return list;
}

class BrokenFolder : public ::testing::TestWithParam<size_t> {};

TEST_P(BrokenFolder, IsToldWithPlaceAndFix) {
  const Broken& broken = broken_folders()[GetParam()];
  const test::TempFolder folder;
  test::write_files(folder, broken.make());
  const std::string thrown = test::data_error([&] { load_own(folder.path()); });
  EXPECT_THAT(thrown, HasSubstr(folder.path() + "/" + broken.message));
  EXPECT_THAT(thrown, HasSubstr(broken.fix));
  const std::vector<Problem> problems = check_own(folder.path());
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems.front().text(), thrown);
  EXPECT_FALSE(problems.front().fix.empty());
}

INSTANTIATE_TEST_SUITE_P(Own, BrokenFolder, ::testing::Range<size_t>(0, broken_folders().size()),
                         [](const auto& each) { return broken_folders()[each.param].name; });

std::vector<std::string> texts(const std::string& path) {
  std::vector<std::string> list;
  for (const Problem& problem : check_own(path)) list.push_back(problem.text());
  return list;
}

TEST(OwnCheck, ListsEveryProblemOfEveryFile) {
  Files files = nodes_of_a("n1,0,1,2\nn2,1,old,\nn3,0,young,4\nn4,0,1,2\n");
  files["b/edges.csv"] = "source,target\nn1,n7\nn8,n2\n";
  files["dataset.toml"] = description("node", "colour = 1\n");
  files.erase("c/edges.csv");
  const test::TempFolder folder;
  const std::string path = test::write_files(folder, files);
  EXPECT_THAT(texts(path),
              ::testing::ElementsAre(
                  HasSubstr("dataset.toml:4:1:"), HasSubstr("a/nodes.csv:3:3: column 'age': 'old'"),
                  HasSubstr("a/nodes.csv:3:4: column 'height': the value is missing"),
                  HasSubstr("a/nodes.csv:4:3: column 'age': 'young'"),
                  HasSubstr("b/edges.csv:2:2: node 'n7'"), HasSubstr("b/edges.csv:3:1: node 'n8'"),
                  HasSubstr("c/edges.csv: there is no such file")));
}

TEST(OwnCheck, AWholeColumnOfWordsIsToldThreeTimesAndThenCounted) {
  std::string rows;
  for (int i = 0; i < 500; ++i) rows += fmt::format("n{},{},word,2\n", i, i % 2);
  const test::TempFolder folder;
  const std::vector<std::string> list = texts(test::write_files(folder, nodes_of_a(rows)));
  ASSERT_EQ(list.size(), 4u);
  EXPECT_THAT(list[3], HasSubstr("column 'age': 497 more cells of the column are not numbers"));
}

TEST(OwnCheck, AFileWithThousandsOfProblemsIsCutAtAHundred) {
  std::string rows = "source,target\n";
  for (int i = 0; i < 3000; ++i) rows += fmt::format("n1,x{}\n", i);
  const test::TempFolder folder;
  const std::vector<std::string> list =
      texts(test::write_files(folder, table("a/edges.csv", rows)));
  ASSERT_EQ(list.size(), 101u);
  EXPECT_THAT(list.back(), HasSubstr("a/edges.csv: 2900 more problems"));
}

TEST(OwnCheck, AFolderThatIsNotThereAndASingleFileAreTold) {
  const test::TempFolder folder;
  EXPECT_THAT(test::data_error([&] { load_own(folder.file("none")); }),
              HasSubstr("none: there is no such folder"));
  const std::string npz = folder.write("a.npz", test::node_arrays().npz());
  EXPECT_THAT(test::data_error([&] { load_own(npz); }), HasSubstr("a.npz: this is one domain"));
}

}  // namespace
}  // namespace grm
