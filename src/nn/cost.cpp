#include "grm/nn/cost.h"

#include <torch/types.h>

#include <algorithm>

namespace grm {
namespace {

constexpr double kEntry = 8.0;  // a sparse entry: an int32 index and a float weight

}  // namespace

double WorkCount::flops() const {
  double sum = 0;
  for (const WorkTerm& term : terms) sum += term.flops;
  return sum;
}

double WorkCount::bytes() const {
  double sum = 0;
  for (const WorkTerm& term : terms) sum += term.bytes;
  return sum;
}

void WorkCount::add(const std::string& name, double flops, double bytes) {
  if (flops <= 0) return;
  auto found = std::find_if(terms.begin(), terms.end(),
                            [&](const WorkTerm& term) { return term.name == name; });
  if (found == terms.end()) found = terms.insert(terms.end(), {name, 0, 0});
  found->flops += flops;
  found->bytes += bytes;
}

void WorkCount::add(const WorkCount& other, double times) {
  for (const WorkTerm& term : other.terms) add(term.name, term.flops * times, term.bytes * times);
}

void WorkCount::product(const std::string& name, double a, double b, double c, double passes) {
  add(name, 2.0 * a * b * c * passes, cost::kFloat * (a * b + b * c + a * c) * passes);
}

void WorkCount::sparse(const std::string& name, double entries, double rows, double d,
                       double passes) {
  add(name, 2.0 * entries * d * passes,
      ((kEntry + cost::kFloat * d) * entries + cost::kFloat * rows * d) * passes);
}

void WorkCount::features(const std::string& name, const GraphShape& g, double width) {
  if (g.sparse > 0) sparse(name, g.sparse, g.nodes, width, 2);
  if (g.dense > 0) product(name, g.nodes, g.dense, width, 2);
}

namespace cost {

double adjacency(double pairs, double rows, double cols) {
  return 16.0 * pairs + 8.0 * (rows + cols + 2);
}

double operator_entries(nn::Conv conv, double edges, double nodes) {
  return conv == nn::Conv::kipf ? edges + nodes : edges;
}

double convolution(nn::Conv conv, double nodes, double edges) {
  if (conv != nn::Conv::kipf) return 0.0;
  return adjacency(edges + nodes, nodes, nodes) + kFloat * (edges + nodes);
}

double model(double parameters) {
  return 6.0 * kFloat * parameters;
}

}  // namespace cost
}  // namespace grm
