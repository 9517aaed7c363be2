#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grm/data/dataset.h"
#include "grm/train/explain_item.h"
#include "grm/train/stability.h"

namespace grm {

/// The domain called `domain`; without a name the first that has an item called `item`, else the
/// first. Error(config) names the domains there are.
const Domain& find_domain(const std::vector<Domain>& domains, const std::string& domain,
                          const std::string& item);

/// An item by the name the user gave it, or by its index. Error(config) names the nearest name or
/// the range.
int64_t find_item(const Domain& domain, const std::string& item);

struct ExplainRequest {
  std::string run;                 // folder or model file
  std::vector<std::string> seeds;  // runs of the same kind with other seeds
  std::string data;                // name or path; empty: the data of the run
  std::string domain;              // empty: see find_domain; test domains come first
  std::string item;
  int64_t top = 10;             // edges whose agreement is measured
  std::optional<ExplainBy> by;  // nothing: its own where the method has one, else by removal
};

/// The explanations by `run` and then by each of `seeds`, and how well they agree: over seeds on
/// the edges that all of them have, or with one run over its samples.
struct ExplainedRuns {
  std::vector<ItemExplanation> runs;
  Stability stability;
  Stability presence_stability;  // of the presences of nodes; no members without generated nodes
};
ExplainedRuns explain_runs(const ExplainRequest& request, const DataContext& context);

/// The same by a model that is loaded already, for one of these domains; request.run and request.data
/// are names for the record.
class Model;
ExplainedRuns explain_with(Model& model, const std::vector<Domain>& domains,
                           const ExplainRequest& request);

/// Agreement of explanations of one item. With one explanation: over its samples.
Stability agreement(const std::vector<ItemExplanation>& runs, int64_t top);
/// The same of the presences of the nodes (Stability::edges counts nodes).
Stability presence_agreement(const std::vector<ItemExplanation>& runs, int64_t top);

}  // namespace grm
