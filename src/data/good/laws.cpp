#include "data/good/laws.h"

#include <algorithm>
#include <numeric>

namespace grm::good {
namespace {

using Items = std::vector<int64_t>;

int64_t share_of(int64_t n, double share) {
  return static_cast<int64_t>(static_cast<double>(n) * share);
}

Items all_items(size_t n) {
  Items items(n);
  std::iota(items.begin(), items.end(), int64_t{0});
  return items;
}

void sort_by(Items& items, const Items& keys) {
  std::stable_sort(items.begin(), items.end(), [&](int64_t a, int64_t b) {
    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
  });
}

Items sorted_by(const Items& keys) {
  Items items = all_items(keys.size());
  sort_by(items, keys);
  return items;
}

// Part numbers of a list: a part begins at the first change of domain at or behind its cut.
Items walk(const Items& items, const Items& keys, const Items& cuts) {
  Items part(items.size());
  int64_t p = -1;
  for (size_t i = 0; i < items.size(); ++i) {
    const bool changes =
        i == 0 || keys[static_cast<size_t>(items[i])] != keys[static_cast<size_t>(items[i - 1])];
    if (p + 1 < static_cast<int64_t>(cuts.size()) && changes &&
        static_cast<int64_t>(i) >= cuts[static_cast<size_t>(p + 1)]) {
      ++p;
    }
    part[i] = p;
  }
  return part;
}

void walk_environments(Split& split, const Items& sorted, const Items& keys, int64_t environments) {
  const int64_t step = static_cast<int64_t>(sorted.size()) / environments;
  Items cuts;
  for (int64_t e = 0; e < environments; ++e) cuts.push_back(e * step);
  const Items environment = walk(sorted, keys, cuts);
  for (size_t i = 0; i < sorted.size(); ++i) {
    split.environment[static_cast<size_t>(sorted[i])] = environment[i];
  }
}

void cut_plain(Split& split, const Items& order, const PlainLaw& law) {
  const auto n = static_cast<int64_t>(order.size());
  const auto first = order.begin() + share_of(n, law.train);
  const auto second = order.begin() + share_of(n, law.upto);
  split.environment.assign(order.size(), -1);
  split[Subset::train].assign(order.begin(), first);
  split[Subset::validation].assign(first, second);
  split[Subset::test].assign(second, order.end());
}

// Items of one domain that one round of the law of concepts may take.
class Round {
 public:
  Round(double bias, double share, double sign, const std::vector<double>& labels, double centre)
      : bias_(bias), share_(share), sign_(sign), labels_(labels), centre_(centre) {}

  // Moves what it takes from `left` to `taken`.
  void operator()(Items& left, Items& taken, PythonStream& python) const {
    Items rest, chosen;
    bool has[2] = {false, false}, took[2] = {false, false};
    int64_t passed[2] = {-1, -1};  // the last item of a kind that was not taken
    for (const int64_t item : left) {
      const double u = python.real(), w = python.real();
      const bool agrees = sign_ * (labels_[static_cast<size_t>(item)] - centre_) > 0;
      const bool takes = (agrees ? w < bias_ : w > bias_) && u < share_;
      has[agrees] = true;
      if (takes) took[agrees] = true;
      if (!takes) passed[agrees] = item;
      (takes ? chosen : rest).push_back(item);
    }
    for (const int kind : {0, 1}) {
      if (!has[0] || !has[1] || chosen.empty() || took[kind]) continue;
      chosen.push_back(passed[kind]);
      rest.erase(std::find(rest.begin(), rest.end(), passed[kind]));
    }
    left = std::move(rest);
    taken.insert(taken.end(), chosen.begin(), chosen.end());
  }

 private:
  double bias_, share_, sign_;
  const std::vector<double>& labels_;
  double centre_;
};

}  // namespace

void cut_environments(Split& split, Items train, const Items& keys, int64_t environments) {
  sort_by(train, keys);
  walk_environments(split, train, keys, environments);
}

void cut_inside(Split& split, int64_t k, PythonStream& python) {
  Items& train = split[Subset::train];
  python.shuffle(train);
  split[Subset::id_test].assign(train.end() - k, train.end());
  split[Subset::id_validation].assign(train.end() - 2 * k, train.end() - k);
  train.resize(train.size() - static_cast<size_t>(2 * k));
}

Split no_shift(int64_t items, PythonStream& python) {
  Items order = all_items(static_cast<size_t>(items));
  python.shuffle(order);
  Split split;
  cut_plain(split, order, {});
  for (const int64_t i : split[Subset::train]) {
    split.environment[static_cast<size_t>(i)] = python.below(10);
  }
  return split;
}

Split no_shift_of_nodes(int64_t nodes, const PlainLaw& law, TorchStream& torch) {
  Split split;
  cut_plain(split, torch.permutation(nodes), law);
  for (const int64_t i : split[Subset::train]) {
    split.environment[static_cast<size_t>(i)] = torch.below(9);
  }
  return split;
}

Split covariate(const Items& keys, const CovariateLaw& law, PythonStream& python) {
  const auto n = static_cast<int64_t>(keys.size());
  Items items = sorted_by(keys);
  if (law.descending) std::reverse(items.begin(), items.end());
  const Items part =
      walk(items, keys, {0, share_of(n, law.train), share_of(n, law.train + law.validation)});
  Split split;
  split.environment.assign(keys.size(), -1);
  constexpr std::array<Subset, 3> kParts = {Subset::train, Subset::validation, Subset::test};
  for (size_t i = 0; i < items.size(); ++i) {
    split[kParts[static_cast<size_t>(part[i])]].push_back(items[i]);
  }
  walk_environments(split, split[Subset::train], keys, law.environments);
  const int64_t whole = law.inside_of_train ? static_cast<int64_t>(split[Subset::train].size()) : n;
  cut_inside(split, share_of(whole, law.inside), python);
  return split;
}

Split concept_shift(const Items& keys, const std::vector<double>& labels, const ConceptLaw& law,
                    PythonStream& python) {
  const auto n = static_cast<double>(keys.size());
  const double centre = std::accumulate(labels.begin(), labels.end(), 0.0) / n;
  std::vector<Items> domains;
  int64_t last = 0;
  for (const int64_t item : sorted_by(keys)) {
    const int64_t key = keys[static_cast<size_t>(item)];
    if (domains.empty() || key != last) domains.emplace_back();
    domains.back().push_back(item);
    last = key;
  }
  Split split;
  split.environment.assign(keys.size(), -1);
  std::vector<double> sign;
  double before = 0;
  for (const Items& domain : domains) {
    sign.push_back(before < n / 2 ? 1.0 : -1.0);
    before += static_cast<double>(domain.size());
  }
  int64_t environment = 0;
  for (size_t j = 0; j < 4; ++j) {
    const bool tests = j == 1;
    Items taken;
    for (size_t d = 0; d < domains.size(); ++d) {
      const Round round(law.bias[j], law.share[j], tests ? -sign[d] : sign[d], labels, centre);
      round(domains[d], taken, python);
    }
    Items& home = split[tests ? Subset::test : Subset::train];
    home.insert(home.end(), taken.begin(), taken.end());
    if (tests) continue;
    for (const int64_t item : taken) split.environment[static_cast<size_t>(item)] = environment;
    ++environment;
  }
  for (const Items& domain : domains) {
    for (const int64_t item : domain) {
      python.real();
      python.real();
      split[Subset::validation].push_back(item);
    }
  }
  cut_inside(split, share_of(static_cast<int64_t>(split[Subset::train].size()), .15), python);
  return split;
}

Split cut_blocks(const Items& order, int64_t environments, int64_t block, int64_t rest) {
  Split split;
  split.environment.assign(order.size(), -1);
  const int64_t trained = environments * block;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (at < trained) split.environment[static_cast<size_t>(order[i])] = at / block;
    const Subset subset = at < trained          ? Subset::train
                          : at < trained + rest ? Subset::validation
                                                : Subset::test;
    split[subset].push_back(order[i]);
  }
  return split;
}

void take_inside(Split& split, const Items& train, double validation, double test, const Rng& rng) {
  const auto n = static_cast<int64_t>(train.size());
  const int64_t validates = share_of(n, validation), tests = share_of(n, test);
  const Items drawn = rng.stream("split").choose(n, validates + tests);
  std::vector<Subset> home(train.size(), Subset::train);
  for (int64_t k = 0; k < validates + tests; ++k) {
    home[static_cast<size_t>(drawn[static_cast<size_t>(k)])] =
        k < validates ? Subset::id_validation : Subset::id_test;
  }
  for (size_t i = 0; i < train.size(); ++i) split[home[i]].push_back(train[i]);
}

Split split_of_nodes(Shift shift, const Items& keys, const std::vector<double>& labels,
                     const PlainLaw& plain_law, const CovariateLaw& covariate_law,
                     const ConceptLaw& concept_law) {
  Streams streams;
  if (shift == Shift::none) {
    return no_shift_of_nodes(static_cast<int64_t>(keys.size()), plain_law, streams.torch);
  }
  Split split = covariate(keys, covariate_law, streams.python);
  if (shift == Shift::by_concept) {
    split = concept_shift(keys, labels, concept_law, streams.python);
  }
  return split;
}

Split split_of_set(Shift shift, const Items& keys, const std::vector<double>& labels,
                   const CovariateLaw& covariate_law, const ConceptLaw& concept_law,
                   PythonStream& python) {
  Split split = no_shift(static_cast<int64_t>(keys.size()), python);
  if (shift != Shift::none) split = covariate(keys, covariate_law, python);
  if (shift == Shift::by_concept) split = concept_shift(keys, labels, concept_law, python);
  return split;
}

}  // namespace grm::good
