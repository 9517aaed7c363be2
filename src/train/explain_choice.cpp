#include "train/explain_choice.h"

#include <fmt/core.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "train/calibration.h"
#include "train/metrics.h"

namespace grm {
namespace {

struct Answer {
  int64_t item = 0, label = -1, predicted = 0;
  double confidence = 0.0, entropy = 0.0;
  bool known() const { return label >= 0; }
  bool right() const { return label == predicted; }
};

std::vector<Answer> answers(Method& method, const Domain& domain,
                            const std::vector<int64_t>& candidates, double temperature) {
  const at::NoGradGuard no_grad;
  const torch::Tensor logits =
      method.logits(domain.graph, torch::tensor(candidates, torch::kInt64)).cpu();
  const torch::Tensor p =
      tempered_probabilities(logits, temperature).to(torch::kFloat64).contiguous();
  const torch::Tensor classes = predicted_class(logits);
  std::vector<Answer> list;
  for (size_t k = 0; k < candidates.size(); ++k) {
    Answer a;
    a.item = candidates[k];
    if (domain.labels.y.defined() && domain.labels.y.dim() == 1)
      a.label = domain.labels.y[a.item].item<int64_t>();
    a.predicted = classes.data_ptr<int64_t>()[k];
    const double* row = p.data_ptr<double>() + static_cast<int64_t>(k) * p.size(1);
    a.confidence = row[a.predicted];
    for (int64_t c = 0; c < p.size(1); ++c) {
      if (row[c] > 0) a.entropy -= row[c] * std::log(row[c]);
    }
    list.push_back(a);
  }
  return list;
}

// One reason to look: the items that have it, best first, and the sentence for number k of them.
struct Reason {
  std::vector<const Answer*> items;
  std::function<std::string(const Answer&, size_t)> why;
};

Reason reason(const std::vector<Answer>& all, const std::function<bool(const Answer&)>& holds,
              const std::function<double(const Answer&)>& by,
              std::function<std::string(const Answer&, size_t)> why) {
  Reason result{{}, std::move(why)};
  for (const Answer& a : all) {
    if (holds(a)) result.items.push_back(&a);
  }
  std::stable_sort(result.items.begin(), result.items.end(),
                   [&](const Answer* a, const Answer* b) { return by(*a) > by(*b); });
  return result;
}

// "the highest", "number 2 by probability". The number itself is left to the explanation: drawn for
// one item alone, it may differ a little.
std::string place(size_t k, const char* first, const char* by) {
  return k == 0 ? std::string(first) : fmt::format("number {} by {}", k + 1, by);
}

std::vector<Reason> reasons(const std::vector<Answer>& all, const std::vector<std::string>& names) {
  std::map<int64_t, int64_t> count;
  int64_t wrong = 0;
  for (const Answer& a : all) {
    if (!a.known()) continue;
    ++count[a.label];
    wrong += !a.right();
  }
  const auto rarest = std::min_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto by_confidence = [](const Answer& a) { return a.confidence; };
  std::vector<Reason> list;
  list.push_back(reason(
      all, [](const Answer& a) { return a.known() && !a.right(); }, by_confidence,
      [wrong](const Answer&, size_t k) {
        return fmt::format("Chosen because it is wrong: its probability is {} of {} errors.",
                           place(k, "the highest", "probability"), wrong);
      }));
  if (count.size() > 1) {
    const auto [rare, rare_count] = *rarest;
    const std::string name = static_cast<size_t>(rare) < names.size()
                                 ? names[static_cast<size_t>(rare)]
                                 : std::to_string(rare);
    list.push_back(reason(
        all, [rare = rare](const Answer& a) { return a.label == rare; }, by_confidence,
        [name, rare_count = rare_count, size = all.size()](const Answer&, size_t) {
          return fmt::format("Chosen for its true class {}, the rarest: {} of {} items.", name,
                             rare_count, size);
        }));
  }
  list.push_back(reason(
      all, [](const Answer&) { return true; }, [](const Answer& a) { return a.entropy; },
      [size = all.size()](const Answer& a, size_t k) {
        return fmt::format("Chosen for its uncertainty: its entropy of {:.2f} is {} of {} items.",
                           a.entropy, place(k, "the highest", "entropy"), size);
      }));
  list.push_back(reason(
      all, [](const Answer& a) { return !a.known() || a.right(); }, by_confidence,
      [](const Answer& a, size_t k) {
        return fmt::format("Chosen for contrast: its probability is {} of the {}answers.",
                           place(k, "the highest", "probability"), a.known() ? "right " : "");
      }));
  return list;
}

}  // namespace

std::vector<ChosenItem> items_worth_a_look(Method& method, const Domain& domain,
                                           const std::vector<int64_t>& candidates, int64_t count,
                                           double temperature,
                                           const std::vector<std::string>& names) {
  std::vector<ChosenItem> chosen;
  if (candidates.empty()) return chosen;
  const std::vector<Answer> all = answers(method, domain, candidates, temperature);
  const std::vector<Reason> list = reasons(all, names);
  std::vector<size_t> next(list.size(), 0);
  std::set<int64_t> taken;
  bool any = true;
  while (any && static_cast<int64_t>(chosen.size()) < count) {
    any = false;
    for (size_t r = 0; r < list.size() && static_cast<int64_t>(chosen.size()) < count; ++r) {
      const std::vector<const Answer*>& items = list[r].items;
      while (next[r] < items.size() && taken.count(items[next[r]]->item) > 0) ++next[r];
      if (next[r] == items.size()) continue;
      const Answer& a = *items[next[r]];
      taken.insert(a.item);
      chosen.push_back({a.item, list[r].why(a, next[r])});
      any = true;
    }
  }
  return chosen;
}

}  // namespace grm
