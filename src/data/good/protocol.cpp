#include "data/good/protocol.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"

namespace grm::good {
namespace {

std::vector<int64_t> first_part(const std::vector<int64_t>& members, double part) {
  const auto n = static_cast<int64_t>(static_cast<double>(members.size()) * part);
  return {members.begin(), members.begin() + std::max<int64_t>(n, 1)};
}

torch::Tensor ascending(std::vector<int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return torch::tensor(ids, torch::kInt64);
}

// The whole with some of its nodes counted.
Domain counting(const Domain& all, const torch::Tensor& ids, const std::string& name) {
  Domain domain = all;
  domain.name = domain.group = domain.graph.name = name;
  domain.labels.loss = domain.labels.evaluate = ids;
  return domain;
}

}  // namespace

const char* name_of(Subset subset) {
  constexpr std::array<const char*, kSubsets> kNames = {"train", "id_val", "id_test", "val",
                                                        "test"};
  return kNames[static_cast<size_t>(subset)];
}

std::vector<double> numbers_of(const torch::Tensor& labels) {
  const torch::Tensor wide = labels.to(torch::kFloat64);
  const torch::Tensor mean =
      (labels.dim() == 2 ? torch::nan_to_num(torch::nanmean(wide, 1)) : wide).contiguous();
  return {mean.data_ptr<double>(), mean.data_ptr<double>() + mean.numel()};
}

void Protocol::declare(OptionList& list, Level level) {
  list.choice("shift", shift,
              "covariate: tests have other graphs; concept: there, what goes along with the label "
              "goes against it; none: all subsets are alike");
  declare_subsets(list, level);
}

void Protocol::declare_subsets(OptionList& list, Level level) {
  list.choice("choose_by", choose_by,
              "the subset that chooses the epoch: val is shifted, id_val is like training");
  list.choice("report", report,
              "the subsets scored as test domains: test alone, or id_test and the validation "
              "subset that does not choose as well");
  if (level == Level::graph) {
    list.add("part", part_, {1e-4, 1},
             "share of every subset that is kept, its first graphs; 1: as published");
  } else {
    list.add("join_training", join_training_,
             "one training domain with all training nodes, instead of one for each environment");
  }
}

void Protocol::add_others(Task& task, const Split& split, const Make& make) const {
  if (shift == Shift::none && choose_by == Chooser::id_val) {
    fail(ErrorKind::config,
         "{}: without a shift there is no id_val; dataset.choose_by = id_val is for shift = "
         "covariate and concept",
         task.name);
  }
  const Subset chooser = choose_by == Chooser::val ? Subset::validation : Subset::id_validation;
  if (split[chooser].empty()) {
    fail(ErrorKind::config,
         "{}: there is no {} under these options, so dataset.choose_by = {} cannot choose; try "
         "dataset.choose_by = {}",
         task.name, name_of(chooser), to_string(choose_by),
         to_string(choose_by == Chooser::val ? Chooser::id_val : Chooser::val));
  }
  const Subset other = choose_by == Chooser::val ? Subset::id_validation : Subset::validation;
  const auto add = [&](std::vector<Domain>& domains, Subset subset) {
    if (split[subset].empty()) return;
    domains.push_back(make(torch::tensor(split[subset], torch::kInt64), name_of(subset)));
  };
  add(task.validation, chooser);
  add(task.test, Subset::test);
  if (report == Report::test) return;
  add(task.test, Subset::id_test);
  add(task.test, other);
}

void Protocol::add_sets(Task& task, const Split& split, const Make& make) const {
  Split kept = split;
  if (part_ < 1) {
    for (auto& members : kept.members) {
      if (!members.empty()) members = first_part(members, part_);
    }
    task.notes.push_back(
        fmt::format("part = {}: a small part of every subset, not to be compared with others' "
                    "numbers",
                    part_));
  }
  const torch::Tensor ids = torch::tensor(kept[Subset::train], torch::kInt64);
  Domain training = make(ids, name_of(Subset::train));
  training.labels.environment = torch::tensor(kept.environment, torch::kInt64).index_select(0, ids);
  task.training.push_back(std::move(training));
  add_others(task, kept, make);
}

void Protocol::add_nodes(Task& task, const Split& split, const Domain& all,
                         const std::vector<std::string>& environments) const {
  std::vector<std::vector<int64_t>> by_environment(1);
  for (const int64_t node : split[Subset::train]) {
    const int64_t e = join_training_ ? 0 : split.environment[static_cast<size_t>(node)];
    ensure(e >= 0, "add_nodes: a training node without an environment");
    if (static_cast<size_t>(e) >= by_environment.size()) {
      by_environment.resize(static_cast<size_t>(e) + 1);
    }
    by_environment[static_cast<size_t>(e)].push_back(node);
  }
  for (size_t e = 0; e < by_environment.size(); ++e) {
    if (by_environment[e].empty()) continue;
    const std::string name = join_training_            ? name_of(Subset::train)
                             : e < environments.size() ? environments[e]
                                                       : fmt::format("environment-{}", e);
    task.training.push_back(counting(all, ascending(by_environment[e]), name));
  }
  add_others(task, split, [&](const torch::Tensor& ids, const std::string& name) {
    return counting(all, std::get<0>(ids.sort()), name);
  });
}

}  // namespace grm::good
