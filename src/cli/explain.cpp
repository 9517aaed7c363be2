#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>

#include "cli/checks.h"
#include "cli/cli.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "report/explain_files.h"
#include "report/figure.h"

namespace grm::cli {
namespace {

struct ExplainFlags {
  ExplainRequest request;
  std::string out, by;
};

std::string class_name(const ItemExplanation& e, int64_t c) {
  return c < 0 ? "unknown" : e.labels[c];
}

std::string share(double value) {
  return std::isfinite(value) ? fmt::format("{:.3f}", value) : "-";
}

void print_stability(const char* what, const char* counted, const Stability& s) {
  if (s.members >= 2 && s.top >= 1) {
    fmt::print("{} over {} {} on {} {}: Spearman {}, Jaccard of the top {} {}\n", what, s.members,
               s.over, s.edges, counted, share(s.spearman), s.top, share(s.jaccard));
  } else {
    fmt::print("{}: nothing to compare; give other seeds of this run with --seeds\n", what);
  }
}

void print_edges(const ItemExplanation& e, int64_t top) {
  std::vector<const ExplainedEdge*> order;
  for (const ExplainedEdge& edge : e.edges) order.push_back(&edge);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->weight > b->weight; });
  order.resize(std::min(order.size(), static_cast<size_t>(top)));
  Table table;
  table.head = {"heaviest edges", "weight", "spread", "fate"};
  if (e.generates_nodes()) table.head.push_back("in the kept subgraph");
  for (const ExplainedEdge* edge : order) {
    table.rows.push_back({e.nodes[edge->source].name + " - " + e.nodes[edge->target].name,
                          fmt::format("{:.4f}", edge->weight), fmt::format("{:.4f}", edge->spread),
                          to_string(edge->fate)});
    if (e.generates_nodes()) {
      table.rows.back().push_back(e.in_kept_subgraph(*edge) ? "yes" : "no");
    }
  }
  fmt::print("\n");
  print_table(table);
}

// The generated subgraph: nodes by presence, and the edges among those that are kept.
void print_kept(const ExplainedRuns& explained, int64_t top) {
  const ItemExplanation& e = explained.runs.front();
  if (!e.generates_nodes()) return;
  fmt::print(
      "kept subgraph: {} of {} nodes with presence >= {:g} (prior {:g}), {} edges among them\n",
      e.kept_nodes(), e.nodes.size(), kKeptPresence, e.presence_prior, e.kept_edges());
  print_stability("stability of presence", "nodes", explained.presence_stability);
  std::vector<const ExplainedNode*> order;
  for (const ExplainedNode& node : e.nodes) order.push_back(&node);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->presence > b->presence; });
  order.resize(std::min(order.size(), static_cast<size_t>(top)));
  Table nodes;
  nodes.head = {"most present nodes", "presence", "spread", "in the kept subgraph"};
  for (const ExplainedNode* node : order) {
    nodes.rows.push_back({node->name, fmt::format("{:.4f}", node->presence),
                          fmt::format("{:.4f}", node->presence_spread),
                          node->kept() ? "yes" : "no"});
  }
  fmt::print("\n");
  print_table(nodes);
}

void print_distances(const ItemExplanation& e) {
  if (!e.generated) return;
  double sum = 0.0;
  const ExplainedNode* far = &e.nodes.front();
  for (const ExplainedNode& node : e.nodes) {
    sum += node.distance;
    if (node.distance > far->distance) far = &node;
  }
  std::string centre;
  if (e.centre >= 0) centre = fmt::format(", {:.3g} at it", e.nodes[e.centre].distance);
  fmt::print("|z - h|: mean {:.3g}{}, largest {:.3g} at node {}\n",
             sum / static_cast<double>(e.nodes.size()), centre, far->distance, far->name);
}

void print_text(const ExplainedRuns& explained, int64_t top) {
  const ItemExplanation& e = explained.runs.front();
  fmt::print("{} {} of {} ({}, {}, seed {})\n", to_string(e.level), e.name, e.domain, e.dataset,
             e.method, e.seed);
  for (const ItemExplanation& run : explained.runs) {
    fmt::print("predicted {} with probability {:.4f}", class_name(run, run.predicted),
               run.probabilities[run.predicted]);
    if (explained.runs.size() > 1) fmt::print(" (seed {})", run.seed);
    fmt::print(", true class {}\n", class_name(run, run.label));
  }
  const int64_t kept = e.count(EdgeFate::kept), weakened = e.count(EdgeFate::weakened);
  fmt::print("{} nodes, {} edges: {} observed, of these {} kept and {} weakened", e.nodes.size(),
             e.edges.size(), kept + weakened, kept, weakened);
  if (e.generated) fmt::print("; {} new", e.count(EdgeFate::created));
  if (e.by == ExplainBy::removal) {
    fmt::print(
        "\nweights: what the log-odds of the predicted class lose without the edge; below 0 it "
        "spoke against it");
  }
  fmt::print("\nmean weight {:.4f} (the line between kept and weakened)", e.threshold);
  if (std::isfinite(e.prior)) fmt::print(", prior {:g}", e.prior);
  fmt::print("\n");
  if (!e.edges.empty()) {
    fmt::print(
        "weights {:.4f} to {:.4f}, spread over samples {:.4f}; {} of {} edges are not told from "
        "the mean\n",
        e.low, e.high, e.noise, e.unclear(), e.edges.size());
  }
  if (const std::string flat = no_difference(e); !flat.empty()) fmt::print("{}\n", flat);
  print_distances(e);
  print_stability("stability", "edges", explained.stability);
  print_kept(explained, top);
  print_edges(e, top);
}

int explain(const ExplainFlags& flags, const Common& common) {
  common.use_device();
  ExplainRequest request = flags.request;
  request.by = value_of<ExplainBy>(flags.by);
  const ExplainedRuns explained = explain_runs(request, common.data_context());
  const ItemExplanation& e = explained.runs.front();
  const std::string folder =
      flags.out.empty()
          ? "explanations/" + report::file_stem(fmt::format("{}-{}-{}", e.method, e.domain, e.name))
          : flags.out;
  const report::ExplanationFiles files = report::write_explanation(explained, folder);
  if (!files.message.empty()) log_warning("{}", files.message);
  if (common.json) {
    ordered_json out =
        parse_json<ordered_json>(report::explanation_json(explained), "the explanation");
    out["files"] = files.written;
    out["message"] = files.message;
    print_json(out);
    return 0;
  }
  print_text(explained, flags.request.top);
  fmt::print("\n");
  for (const std::string& path : files.written) fmt::print("{}\n", path);
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "explain", "why one node or graph is classified as it is: generated against observed graph");
  auto flags = std::make_shared<ExplainFlags>();
  ExplainRequest& request = flags->request;
  add_common(*verb, common, true);
  verb->add_option("run", request.run, "run folder or model.safetensors")->required();
  verb->add_option("--data", request.data,
                   "folder of own data, .npz file or name of a dataset (default: the run's)");
  verb->add_option("--item", request.item, "node or graph: its name, or its index")->required();
  verb->add_option("--domain", request.domain,
                   "where the item is (default: the first test domain)");
  verb->add_option("--out", flags->out,
                   "folder for the files (default: explanations/METHOD-DOMAIN-ITEM)");
  verb->add_option("--by", flags->by,
                   "own: the method's own explanation, where it has one; removal: what the "
                   "log-odds lose without an edge, for every method (default: own, else removal)")
      ->check(one_of(words_of(ExplainBy{})));
  verb->add_option("--seeds", request.seeds, "runs that differ in the seed alone, for stability");
  verb->add_option("--top", request.top,
                   "edges (and generated nodes) that are listed and compared between runs")
      ->capture_default_str()
      ->check(whole_number(1));
  verb->footer(
      "Writes explanation.json, .graphml and .dot, and with Graphviz .svg and .png.\n"
      "Methods with explanations of their own: grm (nodes and graphs), ciga, dir, gala, gil, "
      "gsat,\n"
      "leci (graphs). All others are explained by leaving out one edge after the other.\n"
      "Examples:\n"
      "  grm explain runs/sbm/grm/20260131T120000-1000 --item 17\n"
      "  grm explain RUN --data new_month/ --item account-4711 --out why\n"
      "  grm explain RUN --item 17 --by removal --top 5\n"
      "  grm explain RUN --domain T3 --item 17 --seeds RUN2 RUN3 --json");
  set_call(*verb, action, [=, &common] { return explain(*flags, common); });
}

}  // namespace grm::cli
