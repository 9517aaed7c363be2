#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "methods/kernels.h"

// The columns of an editor in flat arrays, each worked on by a team: the lanes of a warp on a GPU, one
// lane in tests on the host. editor_column.h says what a column is; formulas and order of draws are
// those of editors_column.cpp.
namespace grm::kernels::editor {

#ifdef __CUDACC__
#define GRM_BOTH __host__ __device__
#else
#define GRM_BOTH
#endif

/// A team of one.
struct OneLane {
  static constexpr int kSize = 1;
  GRM_BOTH int lane() const { return 0; }
  GRM_BOTH double sum(double value) const { return value; }
  GRM_BOTH double through(double value) const {
    return value;
  }                                                            // sum of this lane and those before
  GRM_BOTH int first(bool hit) const { return hit ? 0 : -1; }  // lane
  GRM_BOTH int last(bool hit) const { return hit ? 0 : -1; }
  GRM_BOTH double from(double value, int /*lane*/) const { return value; }
  GRM_BOTH void sync() const {}  // what the lanes wrote is seen by all
};

/// exp(x) as the kernel `exponentials` of the host has it.
GRM_BOTH inline float entry_weight(float x) {
  x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
  const float k = rintf(x * 1.44269504f);
  const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  float series = 1.0f / 5040;
  constexpr float kTaylor[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 1.0f / 2, 1.0f, 1.0f};
  for (const float term : kTaylor) series = term + r * series;
  return ldexpf(series, static_cast<int>(k));
}

GRM_BOTH inline void polynomials(double b0, double (&t)[kNodes]) {
  const double x = 2.0 * b0 - 1.0;
  t[0] = 1.0;
  t[1] = x;
  for (int k = 2; k < kNodes; ++k) t[k] = 2.0 * x * t[k - 1] - t[k - 2];
}

GRM_BOTH inline double product(const double* a, const double* b) {
  double sum = 0.0;
  for (int k = 0; k < kNodes; ++k) sum += a[k] * b[k];
  return sum;
}

/// One step of AdamW, in the precision T.
template <class T>
GRM_BOTH inline void move(T& value, T& first, T& second, T gradient, const Step& step) {
  first = static_cast<T>(kBeta1) * first + static_cast<T>(1.0 - kBeta1) * gradient;
  second = static_cast<T>(kBeta2) * second + static_cast<T>(1.0 - kBeta2) * gradient * gradient;
  value = static_cast<T>(step.keep) * value -
          static_cast<T>(step.step_size) * first /
              (std::sqrt(second) * static_cast<T>(step.second_scale) + static_cast<T>(kEps));
}

GRM_BOTH inline bool among(const int32_t* chosen, int64_t count, int64_t source) {
  for (int64_t k = 0; k < count; ++k) {
    if (chosen[k] == source) return true;
  }
  return false;
}

/// One column. Initial has at(source), the initial value of a source.
template <class Team, class Initial>
class ColumnWork {
 public:
  GRM_BOTH ColumnWork(const Team& team, const Columns& all, int64_t column, const Initial& initial)
      : team_(team),
        nodes_(all.nodes),
        implicit_(all.implicit),
        initial_(initial),
        state_(all.state[column]),
        source_(all.source + column * all.capacity),
        value_(all.value + column * all.capacity),
        first_(all.first + column * all.capacity),
        second_(all.second + column * all.capacity),
        entries_(state_.entries) {}

  GRM_BOTH void start(const Grid& grid) {
    entries_ = implicit_ ? 0 : nodes_;
    double sums[kNodes] = {};
    for (int64_t j = team_.lane(); j < nodes_; j += Team::kSize) {
      const float b0 = initial_.at(j);
      if (implicit_) {
        double t[kNodes];
        polynomials(b0, t);
        for (int k = 0; k < kNodes; ++k) sums[k] += t[k];
      } else {
        value_[j] = b0;
        first_[j] = second_[j] = 0.0f;
      }
    }
    for (int k = 0; k < kNodes; ++k) {
      const double sum = team_.sum(sums[k]);
      if (k % Team::kSize != team_.lane()) continue;
      state_.moment[k] = sum;
      state_.value[k] = grid.node[k];
      state_.first[k] = state_.second[k] = 0.0;
    }
    finish(grid);
  }

  GRM_BOTH double mass() const { return state_.entry_mass + rest_mass(); }
  GRM_BOTH double weight(int64_t source) const {
    const int64_t at = slot(source);
    return at < 0 ? rest_weight(initial_.at(source)) : entry_weight(value_[at]);
  }

  GRM_BOTH void step(const int32_t* chosen, int64_t edits, double reward, double count,
                     const Step& step, const Grid& grid) {
    const double pull = reward * count / mass();
    team_.sync();
    for (int64_t k = 0; k < edits; ++k) {
      if (implicit_ && slot(chosen[k]) < 0) make_entry(chosen[k], grid);
    }
    for (int64_t e = team_.lane(); e < entries_; e += Team::kSize) {
      if (among(chosen, edits, implicit_ ? source_[e] : e)) {
        double value = value_[e], first = first_[e], second = second_[e];
        move(value, first, second, pull * exp(value) - reward, step);
        value_[e] = static_cast<float>(value);
        first_[e] = static_cast<float>(first);
        second_[e] = static_cast<float>(second);
      } else {
        move(value_[e], first_[e], second_[e], static_cast<float>(pull) * entry_weight(value_[e]),
             step);
      }
    }
    for (int a = team_.lane(); rest() > 0 && a < kNodes; a += Team::kSize) {
      move(state_.value[a], state_.first[a], state_.second[a], pull * exp(state_.value[a]), step);
    }
    finish(grid);
  }

  /// `edits` distinct sources, one after the other in proportion to exp(B), then put in order.
  template <class Draws>
  GRM_BOTH void draw(int64_t edits, Draws& draws, int32_t* chosen) const {
    double entries = state_.entry_mass, rest = rest_mass();
    int64_t entries_left = entries_, rest_left = this->rest();
    for (int64_t k = 0; k < edits; ++k) {
      const double u = draws.uniform() * (entries + rest);
      int64_t source;
      if (rest_left == 0 || (entries_left > 0 && u < entries)) {
        const int64_t at = entry_at(u, chosen, k);
        source = implicit_ ? source_[at] : at;
        entries = --entries_left == 0 ? 0.0 : fmax(entries - entry_weight(value_[at]), 0.0);
      } else {
        source = draw_rest(chosen, k, draws);
        rest = --rest_left == 0 ? 0.0 : fmax(rest - rest_weight(initial_.at(source)), 0.0);
      }
      if (team_.lane() == 0) chosen[k] = static_cast<int32_t>(source);
      team_.sync();
    }
    if (team_.lane() == 0) sort(chosen, edits);
  }

 private:
  static constexpr int kProposals = 1000;  // then a draw goes over all sources

  GRM_BOTH int64_t rest() const { return implicit_ ? nodes_ - entries_ : 0; }
  GRM_BOTH double rest_mass() const {
    return rest() > 0 ? fmax(product(state_.coefficient, state_.moment), 0.0) : 0.0;
  }
  GRM_BOTH double rest_weight(double b0) const {
    double t[kNodes];
    polynomials(b0, t);
    return product(state_.coefficient, t);
  }

  /// Entry of a source, or -1.
  GRM_BOTH int64_t slot(int64_t source) const {
    if (!implicit_) return source;
    for (int64_t base = 0; base < entries_; base += Team::kSize) {
      const int64_t e = base + team_.lane();
      const int hit = team_.first(e < entries_ && source_[e] == source);
      if (hit >= 0) return base + hit;
    }
    return -1;
  }

  GRM_BOTH void make_entry(int64_t source, const Grid& grid) {
    double t[kNodes], share[kNodes] = {};
    polynomials(initial_.at(source), t);
    for (int k = 0; k < kNodes; ++k) {
      for (int a = 0; a < kNodes; ++a) share[a] += grid.transform[k][a] * t[k];
    }
    if (team_.lane() == 0) {
      source_[entries_] = static_cast<int32_t>(source);
      value_[entries_] = static_cast<float>(product(share, state_.value));
      first_[entries_] = static_cast<float>(product(share, state_.first));
      second_[entries_] = static_cast<float>(fmax(product(share, state_.second), 0.0));
      for (int k = 0; k < kNodes; ++k) state_.moment[k] -= t[k];
    }
    ++entries_;
    team_.sync();
  }

  /// The sums that draws and the next step need.
  GRM_BOTH void finish(const Grid& grid) {
    team_.sync();
    double mass = 0.0;
    for (int64_t e = team_.lane(); e < entries_; e += Team::kSize) mass += entry_weight(value_[e]);
    mass = team_.sum(mass);
    if (team_.lane() == 0) {
      state_.entry_mass = mass;
      state_.entries = entries_;
    }
    if (rest() == 0) return;
    double at_node[kNodes];
    for (int a = 0; a < kNodes; ++a) at_node[a] = exp(state_.value[a]);
    for (int k = team_.lane(); k < kNodes; k += Team::kSize) {
      state_.coefficient[k] = product(grid.transform[k], at_node);
    }
  }

  /// The entry, among those that are not chosen yet, where the running sum of weights passes u.
  GRM_BOTH int64_t entry_at(double u, const int32_t* chosen, int64_t count) const {
    return pass(u, entries_, [&](int64_t e) {
      return among(chosen, count, implicit_ ? source_[e] : e) ? 0.0
                                                              : double(entry_weight(value_[e]));
    });
  }

  template <class Draws>
  GRM_BOTH int64_t draw_rest(const int32_t* chosen, int64_t count, Draws& draws) const {
    double limit = 0.0;
    for (int k = 0; k < kNodes; ++k) limit += fabs(state_.coefficient[k]);
    for (int trial = 0; trial < kProposals; ++trial) {
      const auto j = static_cast<int64_t>(draws.below(static_cast<uint64_t>(nodes_)));
      if (draws.uniform() * limit >= rest_weight(initial_.at(j))) continue;
      if (!among(chosen, count, j) && slot(j) < 0) return j;
    }
    // Few sources are left among many entries.
    const auto weight = [&](int64_t j) {
      return among(chosen, count, j) || among(source_, entries_, j) ? 0.0
                                                                    : rest_weight(initial_.at(j));
    };
    double sum = 0.0;
    for (int64_t j = team_.lane(); j < nodes_; j += Team::kSize) sum += weight(j);
    return pass(draws.uniform() * team_.sum(sum), nodes_, weight);
  }

  /// The first of n items at which the running sum of weights is above u; the last that has a weight
  /// where rounding leaves none.
  template <class Weight>
  GRM_BOTH int64_t pass(double u, int64_t n, const Weight& weight) const {
    double before = 0.0;
    int64_t last = 0;
    for (int64_t base = 0; base < n; base += Team::kSize) {
      const int64_t at = base + team_.lane();
      const double own = at < n ? weight(at) : 0.0;
      const double through = before + team_.through(own);
      const int hit = team_.first(own != 0.0 && through > u);
      if (hit >= 0) return base + hit;
      const int some = team_.last(own != 0.0);
      if (some >= 0) last = base + some;
      before = team_.from(through, Team::kSize - 1);
    }
    return last;
  }

  GRM_BOTH static void sort(int32_t* chosen, int64_t count) {
    for (int64_t k = 1; k < count; ++k) {
      const int32_t moved = chosen[k];
      int64_t at = k;
      for (; at > 0 && chosen[at - 1] > moved; --at) chosen[at] = chosen[at - 1];
      chosen[at] = moved;
    }
  }

  Team team_;
  int64_t nodes_;
  bool implicit_;
  Initial initial_;
  ColumnState& state_;
  int32_t* source_;
  float *value_, *first_, *second_;
  int64_t entries_;
};

#undef GRM_BOTH

}  // namespace grm::kernels::editor
