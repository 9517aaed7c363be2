#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "grm/data/own_data.h"
#include "helpers.h"
#include "support/npz_writer.h"

/// Folders of own data as users write them, made by hand.
namespace grm::test {

/// File name -> content.
using Files = std::map<std::string, std::string>;

inline std::string write_files(const TempFolder& folder, const Files& files) {
  for (const auto& [name, content] : files) folder.write(name, content);
  return folder.path();
}

inline std::string int_array(const std::string& shape, const std::vector<int64_t>& values) {
  return npy("<i8", shape, bytes_of(values));
}
inline std::string float_array(const std::string& shape, const std::vector<float>& values) {
  return npy("<f4", shape, bytes_of(values));
}

/// Arrays by name, to be changed one by one and then packed.
struct Arrays {
  std::map<std::string, std::string> list;
  std::string npz() const {
    std::vector<std::pair<std::string, std::string>> entries;
    for (const auto& [name, bytes] : list) entries.emplace_back(name + ".npy", bytes);
    return zip(entries);
  }
};

/// dataset.toml of three domains a, b, c; `top` goes before the sections, `end` after them.
inline std::string description(const std::string& level = "node", const std::string& top = "",
                               const std::string& end = "") {
  return fmt::format(
      "name = \"toy\"\nlevel = \"{}\"\nmetric = \"accuracy\"\n{}[train]\ndomains = [\"a\"]\n"
      "[validation]\ndomains = [\"b\"]\n[test]\ndomains = [\"c\"]\n{}",
      level, top, end);
}

/// Four nodes with two numbers each, in a ring; two classes.
inline Files table_folder() {
  Files files = {{"dataset.toml", description()}};
  for (const std::string domain : {"a", "b", "c"}) {
    files[domain + "/nodes.csv"] =
        "id,label,age,height\nn1,0,1,10\nn2,1,3,20\nn3,0,5,30\nn4,1,7,40\n";
    files[domain + "/edges.csv"] = "source,target\nn1,n2\nn2,n3\nn3,n4\nn4,n1\n";
  }
  return files;
}

inline Arrays node_arrays() {
  Arrays arrays;
  arrays.list["edge_index"] = int_array("(2, 4)", {0, 1, 2, 3, 1, 2, 3, 0});
  arrays.list["x"] = float_array("(4, 2)", {1, 10, 3, 20, 5, 30, 7, 40});
  arrays.list["y"] = int_array("(4,)", {0, 1, 0, 1});
  return arrays;
}

inline Files array_folder(const Arrays& a = node_arrays()) {
  return {{"dataset.toml", description()},
          {"a.npz", a.npz()},
          {"b.npz", node_arrays().npz()},
          {"c.npz", node_arrays().npz()}};
}

/// The same nodes and edges in one set of tables, told apart by the column `month`.
inline Files shared_folder() {
  Files files = {{"dataset.toml", description("node", "domain = \"month\"\n")}};
  files["nodes.csv"] =
      "id,month,label,age,height\n"
      "a1,a,0,1,10\nb1,b,0,1,10\nc1,c,0,1,10\na2,a,1,3,20\nb2,b,1,3,20\nc2,c,1,3,20\n"
      "a3,a,0,5,30\nb3,b,0,5,30\nc3,c,0,5,30\na4,a,1,7,40\nb4,b,1,7,40\nc4,c,1,7,40\n";
  files["edges.csv"] =
      "source,target\na1,a2\na2,a3\na3,a4\na4,a1\nb1,b2\nb2,b3\nb3,b4\nb4,b1\n"
      "c1,c2\nc2,c3\nc3,c4\nc4,c1\n";
  return files;
}

/// Two graphs of two and three nodes; edges with a number and a weight.
inline Files graph_tables() {
  Files files = {{"dataset.toml", description("graph", "scale = \"none\"\n",
                                              "[edge_columns]\nnumeric = [\"length\"]\n"
                                              "weight = \"strength\"\n")}};
  for (const std::string domain : {"a", "b", "c"}) {
    files[domain + "/graphs.csv"] = "id,label\ng1,0\ng2,1\n";
    // Nodes of the two graphs take turns; those of a graph keep their order.
    files[domain + "/nodes.csv"] = "id,graph,charge\nu,g2,0.5\np,g1,1\nv,g2,-2\nq,g1,4\nw,g2,8\n";
    files[domain + "/edges.csv"] =
        "source,target,length,strength\np,q,1.5,0.25\nu,v,2.5,0.5\nv,w,3.5,1\nw,u,4.5,2\n";
  }
  return files;
}

inline Arrays graph_arrays() {
  Arrays arrays;  // p q | u v w
  arrays.list["edge_index"] = int_array("(2, 4)", {0, 2, 3, 4, 1, 3, 4, 2});
  arrays.list["x"] = float_array("(5, 1)", {1, 4, 0.5, -2, 8});
  arrays.list["graph"] = int_array("(5,)", {0, 0, 1, 1, 1});
  arrays.list["y"] = int_array("(2,)", {0, 1});
  arrays.list["edge_attr"] = float_array("(4, 1)", {1.5, 2.5, 3.5, 4.5});
  arrays.list["edge_weight"] = float_array("(4,)", {0.25, 0.5, 1, 2});
  return arrays;
}

inline Files graph_array_folder(const Arrays& a = graph_arrays()) {
  return {{"dataset.toml", description("graph")},
          {"a.npz", a.npz()},
          {"b.npz", graph_arrays().npz()},
          {"c.npz", graph_arrays().npz()}};
}

}  // namespace grm::test
