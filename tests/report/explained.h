#pragma once

#include "report/explain_files.h"

namespace grm::test {

// Four nodes with awkward names: c (explained), a, b, d; one edge of every fate.
inline ExplainedRuns explained_item() {
  ItemExplanation e;
  e.run = "runs/x";
  e.dataset = "payments";
  e.method = "grm";
  e.preset = "paper";
  e.seed = 1000;
  e.level = Level::node;
  e.domain = "may <1>";
  e.item = 2;
  e.name = "\"c\" & <co>";
  e.labels = {"licit", "illicit"};
  e.probabilities = {0.25, 0.75};
  e.predicted = 1;
  e.label = -1;
  e.generated = true;
  e.centre = 0;
  e.prior = 0.5;
  e.threshold = 0.44;
  e.low = 0.1;
  e.high = 0.75;
  e.noise = 0.05;
  const auto node = [&](int64_t id, const std::string& name, double distance) {
    ExplainedNode n;
    n.id = id;
    n.name = name;
    n.distance = distance;
    e.nodes.push_back(n);
  };
  node(2, e.name, 1.0);
  node(0, "a\\N\n", 2.0);
  node(1, "b\x01\xff", 3.0);
  node(3, "d", kUnknown);
  e.nodes[0].self_weight = 0.8;
  const auto edge = [&](int64_t source, int64_t target, double weight, bool forward, bool backward,
                        EdgeFate fate) {
    ExplainedEdge x;
    x.source = source;
    x.target = target;
    x.weight = weight;
    x.spread = 0.05;
    x.forward = forward;
    x.backward = backward;
    x.fate = fate;
    e.edges.push_back(x);
  };
  edge(0, 1, 0.6, false, false, EdgeFate::created);
  edge(0, 2, 0.75, true, true, EdgeFate::kept);
  edge(0, 3, 0.6, false, true, EdgeFate::kept);
  edge(1, 2, 0.15, true, true, EdgeFate::weakened);
  edge(1, 3, 0.1, false, false, EdgeFate::absent);
  e.edges[1].truth = 1;
  e.samples = {{0.6, 0.7, 0.6, 0.2, 0.2}, {0.6, 0.8, 0.6, 0.1, 0.0}};
  ExplainedRuns all;
  all.runs = {e};
  all.stability = agreement(all.runs, 2);
  return all;
}

// The same with generated nodes, of which c, a and b are kept.
inline ExplainedRuns explained_nodes() {
  ExplainedRuns all = explained_item();
  ItemExplanation& e = all.runs[0];
  e.presence_prior = 0.3;
  e.presence_samples = {{0.9, 0.8, 0.5, 0.1}, {0.7, 0.8, 0.7, 0.3}};
  const double mean[] = {0.8, 0.8, 0.6, 0.2};
  for (size_t k = 0; k < 4; ++k) e.nodes[k].presence = mean[k];
  all.presence_stability = presence_agreement(all.runs, 2);
  return all;
}

}  // namespace grm::test
