#include "data/shift_measures.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/describe.h"
#include "data/stored_numbers.h"

namespace grm {
namespace {

constexpr double kFloatRounding = 1e-6;  // relative; features are floats

int64_t total_of(const std::map<int64_t, int64_t>& counts) {
  int64_t total = 0;
  for (const auto& entry : counts) total += entry.second;
  return total;
}

// Calls use(count in a, count in b) for every key of either.
template <class Use>
void for_both(const std::map<int64_t, int64_t>& a, const std::map<int64_t, int64_t>& b, Use use) {
  for (const auto& [key, count] : a) {
    const auto other = b.find(key);
    use(count, other == b.end() ? int64_t{0} : other->second);
  }
  for (const auto& [key, count] : b) {
    if (a.count(key) == 0) use(int64_t{0}, count);
  }
}

struct Part {
  std::vector<double> mean, squares, low, high;
};

// Mean, squared deviations and range of map(column, number) over all numbers of X, its constant row
// subtracted. Numbers that a sparse column does not store are counted, not visited.
template <class Map>
Part moments_of(const Features& x, Map map) {
  const auto n = static_cast<double>(x.rows());
  const int64_t sparse_width = x.sparse_width(), width = x.width();
  Part part;
  part.mean.assign(width, 0.0);
  part.squares.assign(width, 0.0);
  part.low.assign(width, std::numeric_limits<double>::infinity());
  part.high.assign(width, -std::numeric_limits<double>::infinity());
  std::vector<double>& mean = part.mean;
  std::vector<double> absent(sparse_width, n);
  const std::vector<double> shift = constant_row(x);
  const auto visit = [&](auto use) {  // use(column, number) for all that is stored
    visit_stored(x, shift, [&](int64_t j, double number) { use(j, map(j, number)); });
  };
  const auto widen = [&](int64_t j, double number) {
    part.low[j] = std::min(part.low[j], number);
    part.high[j] = std::max(part.high[j], number);
  };
  visit([&](int64_t j, double number) {
    mean[j] += number;
    widen(j, number);
    if (j < sparse_width) absent[j] -= 1;
  });
  for (int64_t j = 0; j < sparse_width; ++j) {
    if (absent[j] == 0) continue;
    mean[j] += absent[j] * map(j, -shift[j]);
    widen(j, map(j, -shift[j]));
  }
  for (double& value : mean) value /= n;
  visit([&](int64_t j, double number) {
    part.squares[j] += (number - mean[j]) * (number - mean[j]);
  });
  for (int64_t j = 0; j < sparse_width; ++j) {
    const double apart = map(j, -shift[j]) - mean[j];
    part.squares[j] += absent[j] * apart * apart;
  }
  return part;
}

}  // namespace

void ColumnMoments::add(const Features& x) {
  const Part part = moments_of(x, [](int64_t, double number) { return number; });
  const auto n = static_cast<double>(x.rows());
  two_valued.resize(x.width(), true);
  for (int64_t j = 0; j < x.width(); ++j) {
    // No law between two bounds has more variance than the one on the bounds alone.
    const double most = (part.mean[j] - part.low[j]) * (part.high[j] - part.mean[j]);
    if (part.squares[j] / n < most * (1 - kFloatRounding)) two_valued[j] = false;
  }
  merge(n, part.mean, part.squares);
}

void ColumnMoments::add_deviations(const Features& x, const std::vector<double>& centre) {
  const Part part =
      moments_of(x, [&](int64_t j, double number) { return std::abs(number - centre[j]); });
  merge(static_cast<double>(x.rows()), part.mean, part.squares);
}

// Chan, Golub and LeVeque 1983.
void ColumnMoments::merge(double added, const std::vector<double>& new_mean,
                          const std::vector<double>& new_squares) {
  mean.resize(new_mean.size(), 0.0);
  squares.resize(new_mean.size(), 0.0);
  const double all = rows + added;
  for (size_t j = 0; j < mean.size(); ++j) {
    const double apart = new_mean[j] - mean[j];
    mean[j] += apart * added / all;
    squares[j] += new_squares[j] + apart * apart * rows * added / all;
  }
  rows = all;
}

std::vector<double> standardised_differences(const ColumnMoments& a, const ColumnMoments& b) {
  std::vector<double> result(a.mean.size(), 0.0);
  for (size_t j = 0; j < result.size(); ++j) {
    const double apart = b.mean[j] - a.mean[j];
    const double deviation = std::sqrt((a.squares[j] / a.rows + b.squares[j] / b.rows) / 2);
    const double rounding = kFloatRounding * std::max(std::abs(a.mean[j]), std::abs(b.mean[j]));
    if (apart == 0 || (std::abs(apart) <= rounding && deviation <= rounding)) continue;
    result[j] = std::clamp(apart / deviation, -kMostDifference, kMostDifference);
  }
  return result;
}

std::vector<double> spread_differences(const DomainCounts& a, const DomainCounts& b,
                                       const std::vector<bool>& counts) {
  std::vector<double> result = standardised_differences(a.deviations, b.deviations);
  for (size_t j = 0; j < result.size(); ++j) {
    if (counts[j] || (a.columns.two_valued[j] && b.columns.two_valued[j])) result[j] = 0;
  }
  return result;
}

void BinCounts::add(const torch::Tensor& numbers) {
  for (const HistogramBin& bin : count_histogram(numbers)) {
    if (bin.count > 0) count[bin.low] += bin.count;
  }
  total += numbers.numel();
  sum += numbers.sum().item<double>();
}

void EndCounts::add(const Domain& domain, int64_t classes) {
  ends.resize(classes, 0.0);
  const Csr& in = domain.graph.edges->in;
  const int64_t* y = domain.labels.y.data_ptr<int64_t>();
  for (int64_t i = 0; i < in.rows; ++i) {
    for (int64_t e = in.offset()[i]; e < in.offset()[i + 1]; ++e) {
      const int64_t j = in.index()[e];
      if (i == j || y[i] < 0 || y[j] < 0) continue;
      edges += 1;
      equal += y[i] == y[j];
      ends[y[i]] += 1;
      ends[y[j]] += 1;
    }
  }
}

double EndCounts::expected() const {
  double sum = 0;
  for (const double count : ends) sum += count * count;
  return edges > 0 ? sum / (4 * edges * edges) : 1.0;
}

std::optional<Homophily> EndCounts::homophily() const {
  const double by_chance = expected();
  if (edges == 0 || by_chance > 1 - kFloatRounding) return std::nullopt;
  return Homophily{equal / edges, (equal / edges - by_chance) / (1 - by_chance)};
}

double total_variation(const std::map<int64_t, int64_t>& a, const std::map<int64_t, int64_t>& b) {
  const auto total_a = static_cast<double>(total_of(a)), total_b = static_cast<double>(total_of(b));
  double sum = 0;
  for_both(a, b, [&](int64_t in_a, int64_t in_b) {
    sum += std::abs(static_cast<double>(in_a) / total_a - static_cast<double>(in_b) / total_b);
  });
  return sum / 2;
}

double total_variation_chance(const std::map<int64_t, int64_t>& a,
                              const std::map<int64_t, int64_t>& b, double n, double m) {
  const auto total = static_cast<double>(total_of(a) + total_of(b));
  double sum = 0;
  for_both(a, b, [&](int64_t in_a, int64_t in_b) {
    const double share = static_cast<double>(in_a + in_b) / total;
    // Mean of |normal| with the variance of the difference of two shares.
    sum += std::sqrt(2 / M_PI * share * (1 - share) * (1 / n + 1 / m));
  });
  return sum;  // twice the mean of half the sum
}

void DomainCounts::add(const Domain& domain, int64_t classes) {
  const Graph& graph = domain.graph;
  columns.add(graph.x);
  degrees.add(graph.edges->in.offsets.diff());
  if (graph.level() == Level::graph) {
    sizes.add(graph.parts.diff());
  } else if (domain.labels.y.dim() == 1) {
    ends.add(domain, classes);
  }
  items += graph.items();
  if (domain.labels.y.dim() != 1) return;  // numbers have no shares
  const torch::Tensor counted = domain.labels.y.index_select(0, domain.labels.evaluate);
  const auto label = counted.accessor<int64_t, 1>();
  for (int64_t k = 0; k < counted.numel(); ++k) {
    if (label[k] >= 0) ++labels[label[k]];
  }
}

DomainCounts count_domains(const std::vector<const Domain*>& domains, int64_t classes) {
  DomainCounts counts;
  for (const Domain* domain : domains) counts.add(*domain, classes);
  for (const Domain* domain : domains) {
    counts.deviations.add_deviations(domain->graph.x, counts.columns.mean);
  }
  return counts;
}

}  // namespace grm
