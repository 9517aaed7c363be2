#include <algorithm>
#include <cmath>

#include "methods/editor_column.h"

namespace grm {
namespace {

using kernels::editor::kBeta1;
using kernels::editor::kBeta2;
using kernels::editor::kEps;
using kernels::editor::kNodes;
using kernels::editor::Step;
using Values = std::array<double, kNodes>;

constexpr double kDecay = 0.01;  // AdamW's default, which the reference code leaves as it is

// Rejections after which a draw goes over all sources instead.
constexpr int kProposals = 1000;

Values chebyshev(double b0) {
  const double x = 2.0 * b0 - 1.0;
  Values t{1.0, x};
  for (int k = 2; k < kNodes; ++k) t[k] = 2.0 * x * t[k - 1] - t[k - 2];
  return t;
}

// Nodes in [0, 1], and the matrix from values at the nodes to Chebyshev coefficients.
struct Grid {
  Values node{};
  std::array<Values, kNodes> transform{};
  Grid() {
    for (int a = 0; a < kNodes; ++a) {
      node[a] = 0.5 * (1.0 + std::cos(M_PI * (a + 0.5) / kNodes));
      for (int k = 0; k < kNodes; ++k) {
        transform[k][a] = (k == 0 ? 1.0 : 2.0) / kNodes * std::cos(M_PI * k * (a + 0.5) / kNodes);
      }
    }
  }
};
const Grid& grid() {
  static const Grid instance;
  return instance;
}

double dot(const Values& a, const Values& b) {
  double sum = 0.0;
  for (int k = 0; k < kNodes; ++k) sum += a[k] * b[k];
  return sum;
}

// The share of each node in the value interpolated where the polynomials are t.
Values node_shares(const Values& t) {
  Values share{};
  for (int k = 0; k < kNodes; ++k) {
    for (int a = 0; a < kNodes; ++a) share[a] += grid().transform[k][a] * t[k];
  }
  return share;
}

void adamw(double& value, double& first, double& second, double gradient, const Step& step) {
  first = kBeta1 * first + (1.0 - kBeta1) * gradient;
  second = kBeta2 * second + (1.0 - kBeta2) * gradient * gradient;
  value =
      step.keep * value - step.step_size * first / (std::sqrt(second) * step.second_scale + kEps);
}

bool contains(const int32_t* chosen, int64_t count, int64_t source) {
  return std::find(chosen, chosen + count, static_cast<int32_t>(source)) != chosen + count;
}

}  // namespace

Step editor_step(double lr, int64_t t) {
  const auto steps = static_cast<double>(t);
  return {1.0 - lr * kDecay, lr / (1.0 - std::pow(kBeta1, steps)),
          1.0 / std::sqrt(1.0 - std::pow(kBeta2, steps))};
}

kernels::editor::Grid editor_grid() {
  kernels::editor::Grid plain;
  for (int k = 0; k < kNodes; ++k) {
    plain.node[k] = grid().node[k];
    for (int a = 0; a < kNodes; ++a) plain.transform[k][a] = grid().transform[k][a];
  }
  return plain;
}

float InitialValues::at(int64_t source) const {
  if (zeros) return 0.0f;
  const auto block = static_cast<uint64_t>(source / 4);
  const auto words =
      philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0u, 0u},
                 {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
  return static_cast<float>(words[source % 4] >> 8) * 0x1.0p-24f;
}

void InitialValues::fill(float* out, int64_t n) const {
  if (zeros) {
    std::fill_n(out, n, 0.0f);
  } else {
    Stream(key).fill_uniform(out, n, 0.0f, 1.0f);
  }
}

void EditorColumn::start(int64_t nodes, const InitialValues& initial, bool implicit) {
  *this = EditorColumn();
  nodes_ = nodes;
  implicit_ = implicit;
  std::vector<float> all(static_cast<size_t>(nodes));
  initial.fill(all.data(), nodes);
  if (implicit) {
    rest_ = nodes;
    on_host<kernels::editor::chebyshev_sums>(all.data(), nodes, moment_.data());
    node_value_ = grid().node;
  } else {
    value_ = std::move(all);
    first_.assign(value_.size(), 0.0f);
    second_.assign(value_.size(), 0.0f);
  }
  update_sums();
}

int64_t EditorColumn::slot(int64_t source) const {
  if (!implicit_) return source;
  return on_host<kernels::editor::find>(sources_.data(), static_cast<int64_t>(sources_.size()),
                                        static_cast<int32_t>(source));
}

double EditorColumn::rest_mass() const {
  return rest_ > 0 ? std::max(dot(coefficient_, moment_), 0.0) : 0.0;
}

double EditorColumn::rest_weight(double b0) const {
  return dot(coefficient_, chebyshev(b0));
}

double EditorColumn::bound() const {
  double rest = 0.0;  // |T_k| <= 1
  if (rest_ > 0) {
    for (const double c : coefficient_) rest += std::abs(c);
  }
  return std::max<double>(rest, entries_.top);
}

double EditorColumn::parameter(int64_t source, const InitialValues& initial) const {
  const int64_t at = slot(source);
  if (at >= 0) return value_[at];
  return dot(node_shares(chebyshev(initial.at(source))), node_value_);
}

double EditorColumn::weight(int64_t source, const InitialValues& initial) const {
  const int64_t at = slot(source);
  if (at < 0) return rest_weight(initial.at(source));
  float result;
  on_host<kernels::editor::exponentials>(&value_[at], 1, &result);
  return result;
}

void EditorColumn::make_entry(int64_t source, const InitialValues& initial) {
  const Values t = chebyshev(initial.at(source));
  const Values share = node_shares(t);
  if (sources_.size() == sources_.capacity()) {  // grow by a quarter: there are many columns
    const size_t room = sources_.size() + sources_.size() / 4 + 8;
    sources_.reserve(room);
    value_.reserve(room);
    first_.reserve(room);
    second_.reserve(room);
  }
  sources_.push_back(static_cast<int32_t>(source));
  value_.push_back(static_cast<float>(dot(share, node_value_)));
  first_.push_back(static_cast<float>(dot(share, node_first_)));
  second_.push_back(static_cast<float>(std::max(dot(share, node_second_), 0.0)));
  for (int k = 0; k < kNodes; ++k) moment_[k] -= t[k];
  --rest_;
}

void EditorColumn::step(const int32_t* chosen, int64_t edits, double reward, double count,
                        const Step& step, const InitialValues& initial) {
  const double pull = reward * count / mass();
  struct Kept {
    int64_t slot;
    double value, first, second;
  };
  thread_local std::vector<Kept> kept;
  kept.clear();
  for (int64_t k = 0; k < edits; ++k) {
    int64_t at = slot(chosen[k]);
    if (at < 0) {
      make_entry(chosen[k], initial);
      at = static_cast<int64_t>(sources_.size()) - 1;
    }
    kept.push_back({at, value_[at], first_[at], second_[at]});
  }
  // All entries go along the normaliser's part of the gradient; the chosen ones, which have the
  // other part too, are then done again from where they stood.
  on_host<kernels::editor::step_entries>(value_.data(), first_.data(), second_.data(),
                                         static_cast<int64_t>(value_.size()), pull, step);
  for (Kept& entry : kept) {
    adamw(entry.value, entry.first, entry.second, pull * std::exp(entry.value) - reward, step);
    value_[entry.slot] = static_cast<float>(entry.value);
    first_[entry.slot] = static_cast<float>(entry.first);
    second_[entry.slot] = static_cast<float>(entry.second);
  }
  if (rest_ > 0) {
    for (int a = 0; a < kNodes; ++a) {
      adamw(node_value_[a], node_first_[a], node_second_[a], pull * std::exp(node_value_[a]), step);
    }
  }
  update_sums();
}

void EditorColumn::update_sums() {
  entries_ = on_host<kernels::editor::mass>(value_.data(), static_cast<int64_t>(value_.size()));
  if (rest_ == 0) return;
  Values at_node;
  for (int a = 0; a < kNodes; ++a) at_node[a] = std::exp(node_value_[a]);
  for (int k = 0; k < kNodes; ++k) coefficient_[k] = dot(grid().transform[k], at_node);
}

void EditorColumn::draw(int64_t edits, const InitialValues& initial, Stream& draws,
                        int32_t* chosen) const {
  double entries = entries_.sum, rest = rest_mass();
  auto entries_left = static_cast<int64_t>(value_.size());
  int64_t rest_left = rest_;
  thread_local std::vector<float> weights;  // of the entries, 0 once drawn
  bool weighed = false;
  for (int64_t k = 0; k < edits; ++k) {
    const double u = draws.uniform() * (entries + rest);
    if (rest_left == 0 || (entries_left > 0 && u < entries)) {
      if (!weighed) {
        weights.resize(value_.size());
        on_host<kernels::editor::exponentials>(value_.data(), entries_left, weights.data());
        weighed = true;
      }
      chosen[k] = draw_entry(u, weights, entries);
      if (--entries_left == 0) entries = 0.0;
    } else {
      chosen[k] = draw_rest(initial, chosen, k, draws);
      rest = std::max(rest - rest_weight(initial.at(chosen[k])), 0.0);
      if (--rest_left == 0) rest = 0.0;
    }
  }
}

int32_t EditorColumn::draw_entry(double u, std::vector<float>& weights, double& sum) const {
  size_t at = 0;
  double passed = 0.0;
  for (size_t k = 0; k < weights.size() && passed <= u; ++k) {
    if (weights[k] == 0.0f) continue;
    passed += weights[k];
    at = k;
  }
  sum = std::max(sum - weights[at], 0.0);
  weights[at] = 0.0f;
  return implicit_ ? sources_[at] : static_cast<int32_t>(at);
}

int32_t EditorColumn::draw_rest(const InitialValues& initial, const int32_t* chosen, int64_t count,
                                Stream& draws) const {
  double limit = 0.0;
  for (const double c : coefficient_) limit += std::abs(c);
  for (int trial = 0; trial < kProposals; ++trial) {
    const auto j = static_cast<int32_t>(draws.below(static_cast<uint64_t>(nodes_)));
    if (draws.uniform() * limit >= rest_weight(initial.at(j))) continue;
    if (!contains(chosen, count, j) && slot(j) < 0) return j;
  }
  // Few sources are left among many entries.
  std::vector<int32_t> candidates;
  std::vector<double> passed;
  double sum = 0.0;
  for (int64_t j = 0; j < nodes_; ++j) {
    if (contains(chosen, count, j) || slot(j) >= 0) continue;
    sum += rest_weight(initial.at(j));
    candidates.push_back(static_cast<int32_t>(j));
    passed.push_back(sum);
  }
  const double u = draws.uniform() * sum;
  const auto at = std::upper_bound(passed.begin(), passed.end() - 1, u) - passed.begin();
  return candidates[at];
}

}  // namespace grm
