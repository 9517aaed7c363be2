#pragma once

#include <string>
#include <vector>

#include "grm/train/explain_runs.h"

// An explanation as files for people and for other programs. docs/explain.md describes the fields.
namespace grm::report {

/// All that is known: the explanation by the first run, what the others predict, stability.
std::string explanation_json(const ExplainedRuns& explained);

/// Nodes and all edges with typed attributes, as networkx, Gephi and yEd read it.
std::string explanation_graphml(const ItemExplanation& e);

/// Graphviz: the observed graph and the generated one side by side, every node at the same place in
/// both, with a legend and, in small graphs, the weights. `neato -n2` draws it as it is placed;
/// `dot` places the nodes anew. Of the new edges the heaviest are drawn, as many as there are
/// observed ones, at least 10 and at most 30.
std::string explanation_dot(const ItemExplanation& e);

struct ExplanationFiles {
  std::vector<std::string> written;
  std::string message;  // why there is no picture and how to get it; "" if there is one
};

/// explanation.json, .graphml and .dot in a folder, and .svg and .png if Graphviz is in PATH. A
/// program that takes longer than `seconds` for a picture is stopped.
ExplanationFiles write_explanation(const ExplainedRuns& explained, const std::string& folder,
                                   double seconds = 30.0);

}  // namespace grm::report
