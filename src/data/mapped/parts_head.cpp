#include "data/mapped/parts_head.h"

#include <fmt/format.h>

#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"

namespace grm::mapped {

using nlohmann::ordered_json;

const std::string kPartsFile = "parts.json";
const std::string kWholeFile = "whole.json";

namespace {

const std::string kPartsForm = "grm graphs in parts";

ordered_json array_json(const Array& a) {
  return {{"type", to_string(a.type)}, {"count", a.count}, {"checksum", a.checksum}};
}

class PartsReader {
 public:
  PartsReader(const std::string& origin, const Head& whole) : origin_(origin), whole_(whole) {}

  PartsHead operator()(const ordered_json& file) const {
    if (file.at("form").get<std::string>() != kPartsForm) damaged("it is no head of parts");
    if (const int64_t version = file.at("version").get<int64_t>(); version != kPartsVersion) {
      fail(ErrorKind::data,
           "{}: written in version {} of the form, this program reads version {}; cut the graph "
           "again ('grm data partition')",
           origin_, version, kPartsVersion);
    }
    PartsHead head;
    head.whole = whole_;
    head.parts = file.at("parts").get<int64_t>();
    if (head.parts < 1 || head.parts > kMostParts) damaged("the number of parts is out of range");
    const std::optional<PartBy> by = value_of<PartBy>(file.at("by").get<std::string>());
    if (!by) damaged("'by' is not known");
    head.by = *by;
    head.whole_hash = file.at("whole").get<std::string>();
    if (file.at("graphs").size() != whole_.graphs.size()) damaged("graphs are missing");
    for (size_t k = 0; k < whole_.graphs.size(); ++k) {
      head.graphs.push_back(graph(file.at("graphs")[k], whole_.graphs[k], head.parts));
    }
    return head;
  }

 private:
  [[noreturn]] void damaged(const std::string& why) const {
    fail(ErrorKind::data, "{}: {}; cut the graph again ('grm data partition')", origin_, why);
  }

  Array array(const ordered_json& at) const {
    const std::optional<Number> type = value_of<Number>(at.at("type").get<std::string>());
    if (!type) damaged("a type of numbers is not known");
    return {*type, at.at("count").get<int64_t>(), at.at("checksum").get<std::string>()};
  }

  PartedHead graph(const ordered_json& at, const GraphHead& whole, int64_t parts) const {
    PartedHead g;
    g.where = array(at.at("where"));
    if (g.where.type != Number::i64 || g.where.count != whole.nodes) {
      damaged("'where' has not a number for each node");
    }
    if (static_cast<int64_t>(at.at("parts").size()) != parts) damaged("parts are missing");
    int64_t nodes = 0, edges = 0;
    for (const ordered_json& each : at.at("parts")) {
      g.parts.push_back(part(each, whole));
      nodes += g.parts.back().nodes;
      edges += g.parts.back().edges;
    }
    if (nodes != whole.nodes || edges != whole.edges) damaged("nodes or edges are missing");
    return g;
  }

  // The arrays of the whole, with the part's numbers of rows.
  PartHead part(const ordered_json& at, const GraphHead& whole) const {
    PartHead p;
    p.nodes = at.at("nodes").get<int64_t>();
    p.edges = at.at("edges").get<int64_t>();
    p.cut = at.at("cut").get<int64_t>();
    if (p.nodes < 0 || p.edges < 0 || p.cut < 0 || p.cut > p.edges) damaged("a count is wrong");
    for (const auto& [what, each] : at.at("arrays").items()) p.arrays[what] = array(each);
    size_t known = 0;
    const auto expect = [&](const std::string& what, int64_t count) {
      if (whole.arrays.count(what) == 0) return;
      const auto found = p.arrays.find(what);
      if (found == p.arrays.end() || found->second.type != whole.arrays.at(what).type ||
          (count >= 0 && found->second.count != count)) {
        damaged(fmt::format("array '{}' of a part is missing or does not fit", what));
      }
      ++known;
    };
    expect("in_offsets", p.nodes + 1);
    expect("in_indices", p.edges);
    expect("x", p.nodes * whole.dense);
    expect("sparse_offsets", p.nodes + 1);
    expect("sparse_indices", -1);
    if (p.arrays.count("sparse_indices") > 0) {
      expect("sparse_values", p.arrays.at("sparse_indices").count);
    }
    expect("edge_weights", p.edges);
    expect("edge_x", p.edges * whole.edge_features);
    if (known != p.arrays.size()) damaged("a part has arrays that are not known");
    return p;
  }

  const std::string& origin_;
  const Head& whole_;
};

}  // namespace

std::string to_json(const PartsHead& head) {
  ordered_json graphs = ordered_json::array();
  for (const PartedHead& g : head.graphs) {
    ordered_json parts = ordered_json::array();
    for (const PartHead& p : g.parts) {
      ordered_json arrays = ordered_json::object();
      for (const auto& [what, a] : p.arrays) arrays[what] = array_json(a);
      parts.push_back({{"nodes", p.nodes}, {"edges", p.edges}, {"cut", p.cut}, {"arrays", arrays}});
    }
    graphs.push_back({{"where", array_json(g.where)}, {"parts", parts}});
  }
  const ordered_json file = {{"form", kPartsForm},       {"version", kPartsVersion},
                             {"parts", head.parts},      {"by", to_string(head.by)},
                             {"whole", head.whole_hash}, {"graphs", graphs}};
  return json_text(file, 1) + "\n";
}

PartsHead read_parts_head(const std::string& folder) {
  const std::string path = folder + "/" + kPartsFile, whole = folder + "/" + kWholeFile;
  const Head of_whole = head_from_json(read_file(whole), whole);
  try {
    const PartsHead head =
        PartsReader(path, of_whole)(parse_json<ordered_json>(read_file(path), path));
    if (sha256_file(whole) != head.whole_hash) {
      fail(ErrorKind::data, "{}: not the head that the parts were cut by; cut the graph again",
           whole);
    }
    return head;
  } catch (const ordered_json::exception& error) {
    fail(ErrorKind::data, "{}: damaged head of graphs in parts: {}", path, error.what());
  }
}

std::string part_file(const std::string& folder, int64_t part, size_t graph,
                      const std::string& what, Number type) {
  return fmt::format("{}/part{}/{}", folder, part, array_file("graph", graph, what, type));
}

}  // namespace grm::mapped
