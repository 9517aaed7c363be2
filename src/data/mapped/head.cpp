#include "data/mapped/head.h"

#include <fmt/format.h>

#include <cstring>

#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"

namespace grm::mapped {

using nlohmann::ordered_json;

const std::string kHeadFile = "graph.json";

namespace {

const std::string kForm = "grm mapped graphs";
constexpr int64_t kMostNodes = INT32_MAX;
constexpr int64_t kMostNumbers = int64_t{1} << 48;

ordered_json arrays_json(const Arrays& arrays) {
  ordered_json all = ordered_json::object();
  for (const auto& [what, a] : arrays) {
    all[what] = {{"type", to_string(a.type)}, {"count", a.count}, {"checksum", a.checksum}};
  }
  return all;
}

class HeadReader {
 public:
  explicit HeadReader(const std::string& origin) : origin_(origin) {}

  Head operator()(const ordered_json& file) {
    if (text(file, "form") != kForm) damaged("it is no head of mapped graphs");
    const int64_t version = number(file, "version", 0, kMostNumbers);
    if (version != kVersion) {
      fail(ErrorKind::data,
           "{}: written in version {} of the form, this program reads version {}; write the data "
           "again ('grm data convert ... --mapped')",
           origin_, version, kVersion);
    }
    Head head;
    head.name = text(file, "name");
    head.origin = text(file, "origin");
    head.classes = number(file, "classes", 1, 1000000);
    head.loss = word<LossKind>(file, "loss");
    head.metric = word<MetricKind>(file, "metric");
    head.label_names = file.at("label_names").get<std::vector<std::string>>();
    head.feature_names = file.at("feature_names").get<std::vector<std::string>>();
    head.notes = file.at("notes").get<std::vector<std::string>>();
    for (const ordered_json& each : file.at("graphs")) head.graphs.push_back(graph(each));
    for (const ordered_json& each : file.at("domains")) head.domains.push_back(domain(each));
    for (const DomainHead& d : head.domains) {
      if (d.graph >= static_cast<int64_t>(head.graphs.size())) {
        damaged(fmt::format("domain '{}' is on graph {}, which is not there", d.name, d.graph));
      }
    }
    if (head.graphs.empty() || head.domains.empty()) damaged("it has no graphs or no domains");
    return head;
  }

 private:
  [[noreturn]] void damaged(const std::string& why) const {
    fail(ErrorKind::data, "{}: {}; write the data again ('grm data convert ... --mapped')", origin_,
         why);
  }
  std::string text(const ordered_json& at, const char* key) const {
    return at.at(key).get<std::string>();
  }
  int64_t number(const ordered_json& at, const char* key, int64_t low, int64_t high) const {
    const ordered_json& value = at.at(key);
    if (!value.is_number_integer()) damaged(fmt::format("'{}' is no whole number", key));
    const auto found = value.get<int64_t>();
    if (found < low || found > high) {
      damaged(fmt::format("'{}' is {}, allowed are {} .. {}", key, found, low, high));
    }
    return found;
  }
  template <class E>
  E word(const ordered_json& at, const char* key) const {
    const std::string given = text(at, key);
    if (const std::optional<E> value = value_of<E>(given)) return *value;
    damaged(fmt::format("'{}' is '{}', which is not known", key, given));
  }
  Arrays arrays(const ordered_json& at) const {
    Arrays all;
    for (const auto& [what, each] : at.at("arrays").items()) {
      all[what] = {word<Number>(each, "type"), number(each, "count", 0, kMostNumbers),
                   text(each, "checksum")};
    }
    return all;
  }
  // Whether an array is there; if so, it must have this type and count.
  bool expect(const Arrays& arrays, const std::string& owner, const std::string& what, Number type,
              int64_t count, bool needed) const {
    const auto found = arrays.find(what);
    if (found == arrays.end()) {
      if (needed) damaged(fmt::format("{} has no array '{}'", owner, what));
      return false;
    }
    if (found->second.type != type || (count >= 0 && found->second.count != count)) {
      damaged(fmt::format("array '{}' of {} has {} numbers {}, expected {} numbers {}", what, owner,
                          found->second.count, to_string(found->second.type), count,
                          to_string(type)));
    }
    return true;
  }

  GraphHead graph(const ordered_json& at) const {
    GraphHead g;
    g.name = text(at, "name");
    g.nodes = number(at, "nodes", 1, kMostNodes);
    g.edges = number(at, "edges", 0, kMostNumbers);
    g.dense = number(at, "dense", 0, 10000000);
    g.sparse = number(at, "sparse", 0, 1000000);
    g.edge_features = number(at, "edge_features", 0, 10000);
    g.symmetric = at.at("symmetric").get<bool>();
    g.arrays = arrays(at);
    const std::string owner = fmt::format("graph '{}'", g.name);
    const auto take = [&](const char* what, Number type, int64_t count, bool needed) {
      return expect(g.arrays, owner, what, type, count, needed);
    };
    size_t known = 3;
    take("in_offsets", Number::i64, g.nodes + 1, true);
    take("in_indices", Number::i32, g.edges, true);
    take("y", Number::i64, g.nodes, true);
    if (g.dense > 0) known += take("x", Number::f32, g.nodes * g.dense, true);
    if (g.sparse > 0) {
      known += take("sparse_offsets", Number::i64, g.nodes + 1, true);
      known += take("sparse_indices", Number::i32, -1, true);
      known += take("sparse_values", Number::f32, g.arrays.at("sparse_indices").count, false);
    }
    if (g.dense + g.sparse == 0) damaged(owner + " has no features");
    known += take("shift", Number::f32, g.dense + g.sparse, false);
    known += take("edge_weights", Number::f32, g.edges, false);
    if (g.edge_features > 0) known += take("edge_x", Number::f32, g.edges * g.edge_features, true);
    if (known != g.arrays.size()) damaged(owner + " has arrays that are not known");
    return g;
  }

  DomainHead domain(const ordered_json& at) const {
    DomainHead d;
    d.role = word<Role>(at, "role");
    d.name = text(at, "name");
    d.group = text(at, "group");
    d.graph = number(at, "graph", 0, 1000000);
    d.arrays = arrays(at);
    const std::string owner = fmt::format("domain '{}'", d.name);
    size_t known = 0;
    for (const char* what : {"loss", "evaluate"}) {
      known += expect(d.arrays, owner, what, Number::i64, -1, false);
    }
    if (known != d.arrays.size()) damaged(owner + " has arrays that are not known");
    return d;
  }

  const std::string& origin_;
};

}  // namespace

int64_t size_of(Number type) {
  return type == Number::i64 ? 8 : 4;
}

std::string array_file(const std::string& owner, size_t index, const std::string& what,
                       Number type) {
  return fmt::format("{}{}.{}.{}", owner, index, what, to_string(type));
}

std::string to_json(const Head& head) {
  ordered_json graphs = ordered_json::array(), domains = ordered_json::array();
  for (const GraphHead& g : head.graphs) {
    graphs.push_back({{"name", g.name},
                      {"nodes", g.nodes},
                      {"edges", g.edges},
                      {"dense", g.dense},
                      {"sparse", g.sparse},
                      {"edge_features", g.edge_features},
                      {"symmetric", g.symmetric},
                      {"arrays", arrays_json(g.arrays)}});
  }
  for (const DomainHead& d : head.domains) {
    domains.push_back({{"role", to_string(d.role)},
                       {"name", d.name},
                       {"group", d.group},
                       {"graph", d.graph},
                       {"arrays", arrays_json(d.arrays)}});
  }
  const ordered_json file = {{"form", kForm},
                             {"version", kVersion},
                             {"name", head.name},
                             {"origin", head.origin},
                             {"classes", head.classes},
                             {"loss", to_string(head.loss)},
                             {"metric", to_string(head.metric)},
                             {"label_names", head.label_names},
                             {"feature_names", head.feature_names},
                             {"notes", head.notes},
                             {"graphs", graphs},
                             {"domains", domains}};
  return json_text(file, 1) + "\n";
}

Head head_from_json(const std::string& text, const std::string& origin) {
  try {
    return HeadReader(origin)(parse_json<ordered_json>(text, origin));
  } catch (const ordered_json::exception& error) {
    fail(ErrorKind::data, "{}: damaged head of mapped graphs: {}", origin, error.what());
  }
}

Head read_head(const std::string& folder) {
  const std::string path = folder + "/" + kHeadFile;
  return head_from_json(read_file(path), path);
}

void Checksum::add(const void* bytes, size_t count) {
  constexpr uint64_t kFactor = 0xff51afd7ed558ccdULL;
  const auto* at = static_cast<const char*>(bytes);
  length_ += count;
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    sum_ = (sum_ ^ word) * kFactor;
    sum_ ^= sum_ >> 29;
  }
  if (count == 0) return;
  uint64_t word = 0;
  std::memcpy(&word, at, count);
  sum_ = (sum_ ^ word) * kFactor;
}

std::string Checksum::text() const {
  return fmt::format("{:016x}", mix64(sum_, length_));
}

}  // namespace grm::mapped
