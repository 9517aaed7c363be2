// The GraphML and JSON files of an explanation. A small reader written here checks that the XML is
// well-formed: tags nest, attributes are quoted, nothing unescaped is left.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files.h"
#include "explained.h"
#include "support/expect_error.h"

namespace grm::report {
namespace {

struct Element {
  std::string tag, text;
  std::map<std::string, std::string> attributes;
  std::vector<Element> children;
};

// Characters of text or of an attribute; entities are decoded.
std::string decoded(const std::string& raw) {
  const std::map<std::string, std::string> entities = {
      {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"#39", "'"}};
  std::string out;
  for (size_t k = 0; k < raw.size(); ++k) {
    if (raw[k] == '<' || (static_cast<unsigned char>(raw[k]) < 0x20 && raw[k] != '\n')) {
      throw std::runtime_error("a character that has to be escaped");
    }
    if (raw[k] != '&') {
      out += raw[k];
      continue;
    }
    const size_t end = raw.find(';', k);
    if (end == std::string::npos) throw std::runtime_error("an entity without end");
    out += entities.at(raw.substr(k + 1, end - k - 1));
    k = end;
  }
  return out;
}

class Reader {
 public:
  explicit Reader(const std::string& xml) : xml_(xml) {}

  Element document() {
    expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    space();
    const Element root = element();
    space();
    if (at_ != xml_.size()) throw std::runtime_error("something after the root");
    return root;
  }

 private:
  void space() {
    while (at_ < xml_.size() && std::isspace(static_cast<unsigned char>(xml_[at_]))) ++at_;
  }
  void expect(const std::string& text) {
    if (xml_.compare(at_, text.size(), text) != 0) {
      throw std::runtime_error("expected " + text + " at " + xml_.substr(at_, 40));
    }
    at_ += text.size();
  }
  std::string until(const std::string& stops) {
    const size_t end = xml_.find_first_of(stops, at_);
    if (end == std::string::npos) throw std::runtime_error("cut short");
    const std::string part = xml_.substr(at_, end - at_);
    at_ = end;
    return part;
  }
  Element element() {
    expect("<");
    Element e;
    e.tag = until(" />");
    for (space(); xml_[at_] != '>' && xml_[at_] != '/'; space()) {
      const std::string name = until("=");
      expect("=\"");
      if (!e.attributes.emplace(name, decoded(until("\""))).second) {
        throw std::runtime_error("an attribute twice");
      }
      expect("\"");
    }
    if (xml_[at_] == '/') {
      expect("/>");
      return e;
    }
    expect(">");
    while (true) {
      e.text += decoded(until("<"));
      if (xml_.compare(at_, 2, "</") == 0) break;
      e.children.push_back(element());
    }
    expect("</" + e.tag + ">");
    return e;
  }

  const std::string& xml_;
  size_t at_ = 0;
};

std::map<std::string, std::string> data_of(const Element& e) {
  std::map<std::string, std::string> all;
  for (const Element& child : e.children) {
    if (child.tag == "data") all[child.attributes.at("key")] = child.text;
  }
  return all;
}

TEST(GraphMl, IsWellFormedAndKeepsAwkwardNames) {
  const std::string xml = explanation_graphml(test::explained_item().runs[0]);
  const Element root = Reader(xml).document();
  EXPECT_EQ(root.tag, "graphml");
  const Element& graph = root.children.back();
  ASSERT_EQ(graph.tag, "graph");
  EXPECT_EQ(graph.attributes.at("edgedefault"), "undirected");
  EXPECT_EQ(data_of(graph)["graph.domain"], "may <1>");
  std::vector<std::string> names;
  size_t edges = 0;
  for (const Element& child : graph.children) {
    if (child.tag == "node") names.push_back(data_of(child)["node.name"]);
    edges += child.tag == "edge";
  }
  EXPECT_EQ(edges, 5u);
  ASSERT_EQ(names.size(), 4u);
  EXPECT_EQ(names[0], "\"c\" & <co>");
  EXPECT_EQ(names[2], "b\xEF\xBF\xBD\xEF\xBF\xBD");  // neither is allowed in XML
}

TEST(GraphMl, EveryValueHasADeclaredType) {
  const std::string xml = explanation_graphml(test::explained_item().runs[0]);
  const Element root = Reader(xml).document();
  std::map<std::string, std::string> type, of;
  for (const Element& key : root.children) {
    if (key.tag != "key") continue;
    type[key.attributes.at("id")] = key.attributes.at("attr.type");
    of[key.attributes.at("id")] = key.attributes.at("for");
  }
  std::set<std::string> ids;
  for (const Element& child : root.children.back().children) {
    if (child.tag == "data") continue;
    for (const auto& [key, value] : data_of(child)) {
      ASSERT_EQ(type.count(key), 1u) << key;
      EXPECT_EQ(of[key], child.tag);
      if (type[key] == "double") {
        EXPECT_NO_THROW(std::stod(value)) << value;
      } else if (type[key] == "boolean") {
        EXPECT_TRUE(value == "true" || value == "false") << value;
      }
    }
    if (child.tag == "node") {
      EXPECT_TRUE(ids.insert(child.attributes.at("id")).second);
    } else {
      EXPECT_EQ(ids.count(child.attributes.at("source")), 1u);
      EXPECT_EQ(ids.count(child.attributes.at("target")), 1u);
    }
  }
}

TEST(GraphMl, WhatIsNotKnownIsLeftOut) {
  const std::string xml = explanation_graphml(test::explained_item().runs[0]);
  const Element root = Reader(xml).document();
  std::vector<const Element*> nodes, edges;
  for (const Element& child : root.children.back().children) {
    if (child.tag == "node") nodes.push_back(&child);
    if (child.tag == "edge") edges.push_back(&child);
  }
  EXPECT_EQ(data_of(*nodes[0])["node.distance"], "1");
  EXPECT_EQ(data_of(*nodes[0])["node.centre"], "true");
  EXPECT_EQ(data_of(*nodes[3]).count("node.distance"), 0u);
  EXPECT_EQ(data_of(*edges[0])["edge.fate"], "new");
  EXPECT_EQ(data_of(*edges[0]).count("edge.direction"), 0u);
  EXPECT_EQ(data_of(*edges[2])["edge.direction"], "back");
  EXPECT_EQ(data_of(*edges[1])["edge.truth"], "true");
  EXPECT_EQ(xml.find("nan"), std::string::npos);
}

TEST(ExplanationJson, HoldsWhatTheManualPromises) {
  const nlohmann::json all = nlohmann::json::parse(explanation_json(test::explained_item()));
  EXPECT_EQ(all["predicted"]["label"], "illicit");
  EXPECT_EQ(all["predicted"]["probability"], 0.75);
  EXPECT_TRUE(all["true"].is_null());
  EXPECT_EQ(all["centre"], 2);
  EXPECT_EQ(all["counts"]["observed"], 3);
  EXPECT_EQ(all["counts"]["kept"], 2);
  EXPECT_EQ(all["counts"]["weakened"], 1);
  EXPECT_EQ(all["counts"]["new"], 1);
  ASSERT_EQ(all["edges"].size(), 5u);
  EXPECT_EQ(all["edges"][1]["source"], 2);  // ids, not rows
  EXPECT_EQ(all["edges"][1]["target"], 1);
  EXPECT_EQ(all["edges"][1]["fate"], "kept");
  EXPECT_EQ(all["edges"][2]["direction"], "back");
  EXPECT_TRUE(all["nodes"][3]["distance"].is_null());
  EXPECT_EQ(all["stability"]["over"], "samples");
  EXPECT_EQ(all["stability"]["members"], 2);
  EXPECT_FALSE(all.contains("presence"));
  EXPECT_FALSE(all["nodes"][0].contains("presence"));
}

TEST(ExplanationJson, GeneratedNodesAndTheirSubgraph) {
  const ExplainedRuns explained = test::explained_nodes();
  const nlohmann::json all = nlohmann::json::parse(explanation_json(explained));
  EXPECT_EQ(all["presence"]["threshold"], 0.5);
  EXPECT_EQ(all["presence"]["prior"], 0.3);
  EXPECT_EQ(all["presence"]["kept_nodes"], 3);
  EXPECT_EQ(all["presence"]["kept_edges"], 3);  // of five one is absent, one ends in d
  EXPECT_EQ(all["presence"]["stability"]["nodes"], 4);
  EXPECT_EQ(all["nodes"][3]["kept"], false);
  EXPECT_NEAR(all["edges"][0]["presence"], 0.64, 1e-12);
  EXPECT_EQ(all["edges"][2]["in_kept_subgraph"], false);
  const std::string xml = explanation_graphml(explained.runs[0]);
  EXPECT_NE(xml.find("<data key=\"node.presence\">0.2</data>"), std::string::npos);
  const std::string dot = explanation_dot(explained.runs[0]);
  EXPECT_NE(dot.find("presence 0.200"), std::string::npos);
  EXPECT_NE(dot.find("dotted: presence < 0.5"), std::string::npos);
  EXPECT_EQ(explanation_dot(test::explained_item().runs[0]).find("dotted"), std::string::npos);
}

}  // namespace
}  // namespace grm::report
