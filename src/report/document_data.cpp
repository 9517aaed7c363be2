// What a document says of data and items: shift, embedding, explanations.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/json.h"
#include "report/document.h"

namespace grm::report::document {
namespace {

constexpr size_t kListedColumns = 12;  // of those that moved
constexpr size_t kMostNew = 200, kFewestNew = 40;

Json law_json(const DomainLaw& law) {
  Json out = {{"items", law.items}, {"mean_degree", rounded(law.mean_degree)}};
  if (law.mean_nodes > 0) out["mean_nodes"] = rounded(law.mean_nodes);
  if (law.homophily) out["homophily"] = rounded(law.homophily->adjusted);
  Json shares = Json::array();
  for (const double share : law.label_shares) shares.push_back(rounded(share));
  out["label_shares"] = std::move(shares);
  return out;
}

Json columns_json(const std::vector<ColumnShift>& columns) {
  Json list = Json::array();
  for (size_t k = 0; k < std::min(columns.size(), kListedColumns); ++k) {
    list.push_back({{"name", columns[k].name.empty() ? fmt::format("column {}", columns[k].column)
                                                     : columns[k].name},
                    {"difference", rounded(columns[k].difference)}});
  }
  return list;
}

std::string class_name(const std::vector<std::string>& labels, int64_t c) {
  return c >= 0 && static_cast<size_t>(c) < labels.size() ? labels[static_cast<size_t>(c)]
                                                          : std::to_string(c);
}

std::vector<std::string> facts_of(const ItemExplanation& e, const Stability& stability) {
  std::vector<std::string> facts;
  const int64_t kept = e.count(EdgeFate::kept), weakened = e.count(EdgeFate::weakened);
  if (e.edges.empty()) {
    facts.emplace_back("There are no edges to weigh.");
  } else if (const std::string flat = no_difference(e); !flat.empty()) {
    facts.push_back(flat);
  } else {
    std::string edges =
        fmt::format("Of {} observed edges {} kept, {} weakened", kept + weakened, kept, weakened);
    if (e.generated) edges += fmt::format("; {} new", e.count(EdgeFate::created));
    facts.push_back(edges + fmt::format(" (line: the mean weight {:.3g}).", e.threshold));
    if (e.samples.size() > 1) {
      facts.push_back(fmt::format(
          "Weights {:.3f} to {:.3f}, spread over samples {:.3f}; {} of {} edges are not told from "
          "the mean.",
          e.low, e.high, e.noise, e.unclear(), e.edges.size()));
    }
  }
  if (stability.members > 1 && std::isfinite(stability.spearman)) {
    facts.push_back(fmt::format(
        "Agreement over {} {}: rank correlation {:.2f}, overlap of the heaviest {:.2f}.",
        stability.members, stability.over,
        std::abs(stability.spearman) < 0.005 ? 0.0 : stability.spearman, stability.jaccard));
  }
  return facts;
}

// The same pair in another run's explanation, by the ids of its nodes.
std::map<std::pair<int64_t, int64_t>, double> weights_by_id(const ItemExplanation& e) {
  std::map<std::pair<int64_t, int64_t>, double> weights;
  for (const ExplainedEdge& edge : e.edges) {
    const int64_t a = e.nodes[static_cast<size_t>(edge.source)].id;
    const int64_t b = e.nodes[static_cast<size_t>(edge.target)].id;
    weights[{std::min(a, b), std::max(a, b)}] = edge.weight;
  }
  return weights;
}

// All observed edges and the heaviest of the others.
std::vector<const ExplainedEdge*> listed_edges(const ItemExplanation& e, size_t& fresh) {
  std::vector<const ExplainedEdge*> listed, others;
  for (const ExplainedEdge& edge : e.edges) (edge.observed() ? listed : others).push_back(&edge);
  fresh = others.size();
  std::stable_sort(
      others.begin(), others.end(),
      [](const ExplainedEdge* a, const ExplainedEdge* b) { return a->weight > b->weight; });
  others.resize(std::min({others.size(), kMostNew, std::max(kFewestNew, 2 * listed.size())}));
  listed.insert(listed.end(), others.begin(), others.end());
  return listed;
}

Json edges_json(const ExplainedRuns& explained, size_t& fresh) {
  const ItemExplanation& e = explained.runs.front();
  std::vector<std::map<std::pair<int64_t, int64_t>, double>> others;
  for (const ItemExplanation& run : explained.runs) others.push_back(weights_by_id(run));
  Json list = Json::array();
  for (const ExplainedEdge* edge : listed_edges(e, fresh)) {
    const int64_t a = e.nodes[static_cast<size_t>(edge->source)].id;
    const int64_t b = e.nodes[static_cast<size_t>(edge->target)].id;
    const int flags =
        (edge->observed() ? 1 : 0) + (edge->truth == 1 ? 2 : 0) + (edge->clear ? 4 : 0);
    Json seeds = Json::array();
    for (const auto& weights : others) {
      const auto at = weights.find({std::min(a, b), std::max(a, b)});
      seeds.push_back(at == weights.end() ? Json(nullptr) : rounded(at->second));
    }
    list.push_back({edge->source, edge->target, rounded(edge->weight), rounded(edge->spread, 3),
                    flags, seeds});
  }
  return list;
}

Json item_json(const ExplanationPart::Item& item) {
  const ItemExplanation& e = item.explained.runs.front();
  Json nodes = Json::array(), probabilities = Json::array(), seeds = Json::array();
  for (const ExplainedNode& node : e.nodes) {
    Json out = {{"id", node.id}, {"name", node.name}};
    if (std::isfinite(node.distance)) out["distance"] = rounded(node.distance);
    if (std::isfinite(node.presence)) out["presence"] = rounded(node.presence);
    nodes.push_back(std::move(out));
  }
  for (const double p : e.probabilities) probabilities.push_back(rounded(p));
  for (const ItemExplanation& run : item.explained.runs) {
    seeds.push_back({{"seed", run.seed}, {"predicted", class_name(run.labels, run.predicted)}});
  }
  const Stability& s = item.explained.stability;
  size_t fresh = 0;
  Json edges = edges_json(item.explained, fresh);
  return {{"item", e.item},
          {"name", e.name},
          {"domain", e.domain},
          {"why", item.why},
          {"predicted", class_name(e.labels, e.predicted)},
          {"probability", rounded(e.probabilities[static_cast<size_t>(e.predicted)])},
          {"probabilities", probabilities},
          {"true", e.label < 0 ? Json(nullptr) : Json(class_name(e.labels, e.label))},
          {"facts", facts_of(e, s)},
          {"differ", e.differ},
          {"generated", e.generated},
          {"threshold", rounded(e.threshold)},
          {"low", rounded(e.low)},
          {"high", rounded(e.high)},
          {"noise", rounded(e.noise)},
          {"centre", e.centre},
          {"agreement",
           {{"over", s.over},
            {"members", s.members},
            {"spearman", rounded(s.spearman)},
            {"jaccard", rounded(s.jaccard)},
            {"top", s.top}}},
          {"seeds", seeds},
          {"nodes", nodes},
          {"edges", edges},
          {"new_edges", fresh}};
}

}  // namespace

Json shift_json(const ReportParts& report, const std::string& dataset) {
  for (const ShiftPart& part : report.shift) {
    if (part.dataset != dataset) continue;
    Json domains = Json::array();
    for (const DomainShift& d : part.shift.domains) {
      Json measures = Json::array();
      for (const ShiftMeasure& m : d.measures) {
        measures.push_back({{"what", m.what},
                            {"value", rounded(m.value)},
                            {"chance", rounded(m.chance)},
                            {"level", to_string(m.level)}});
      }
      domains.push_back({{"name", d.law.name},
                         {"role", to_string(d.role)},
                         {"level", to_string(d.level)},
                         {"text", d.text},
                         {"most", d.most},
                         {"law", law_json(d.law)},
                         {"measures", measures},
                         {"columns", columns_json(d.columns)},
                         {"spreads", columns_json(d.spreads)}});
    }
    return {{"text", part.shift.text},
            {"advice", part.shift.advice},
            {"level", to_string(part.shift.level)},
            {"labels", part.labels},
            {"training", law_json(part.shift.training)},
            {"domains", domains}};
  }
  return nullptr;
}

Json embedding_json(const ReportParts& report, const std::string& dataset) {
  for (const EmbeddingPart& part : report.embeddings) {
    if (part.dataset != dataset) continue;
    Json spaces = Json::array(), answers = Json::array();
    for (const EmbeddingPart::Space& space : part.spaces) {
      Json x = Json::array(), y = Json::array();
      const double* at = space.places.data_ptr<double>();
      for (int64_t k = 0; k < space.places.size(0); ++k) {
        x.push_back(rounded(at[2 * k], 3));
        y.push_back(rounded(at[2 * k + 1], 3));
      }
      spaces.push_back({{"name", space.name},
                        {"about", space.about},
                        {"explained", {rounded(space.explained[0]), rounded(space.explained[1])}},
                        {"x", x},
                        {"y", y}});
    }
    for (const EmbeddingPart::Answers& each : part.answers) {
      const int64_t* classes = each.classes.data_ptr<int64_t>();
      answers.push_back({{"row", each.row},
                         {"seed", each.seed},
                         {"class", std::vector<int64_t>(classes, classes + each.classes.numel())}});
    }
    return {{"spaces", spaces},      {"domains", part.domains}, {"roles", part.roles},
            {"labels", part.labels}, {"domain", part.domain},   {"class", part.label},
            {"item", part.item},     {"predicted", answers},    {"shown", part.item.size()},
            {"of", part.of}};
  }
  return nullptr;
}

Json explanations_json(const ReportParts& report, const std::string& dataset) {
  for (const ExplanationPart& part : report.explanations) {
    if (part.dataset != dataset) continue;
    Json items = Json::array();
    for (const ExplanationPart::Item& item : part.items) items.push_back(item_json(item));
    const ItemExplanation* first =
        part.items.empty() ? nullptr : &part.items.front().explained.runs.front();
    return {{"row", part.row},
            {"seeds", part.seeds},
            {"domain", part.domain},
            {"level", first ? to_string(first->level) : ""},
            {"generated", first != nullptr && first->generated},
            {"labels", first ? first->labels : std::vector<std::string>()},
            {"words", part.words},
            {"items", items}};
  }
  return nullptr;
}

}  // namespace grm::report::document
