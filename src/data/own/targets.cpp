#include "data/own/targets.h"

#include <torch/types.h>

namespace grm::own {

std::vector<std::string> target_columns(const Description& d) {
  if (d.target == Target::classes) return {};
  return d.csv.targets.empty() ? std::vector<std::string>{d.csv.label} : d.csv.targets;
}

Role role_of_time(std::string_view time, const std::vector<Word>& until) {
  const auto after = [&](const std::string& moment) {
    double a = 0.0, b = 0.0;
    const bool numbers = read_number(time, a) == Number::ok && read_number(moment, b) == Number::ok;
    return numbers ? a > b : time > std::string_view(moment);
  };
  if (!after(until[0].text)) return Role::train;
  return after(until[1].text) ? Role::test : Role::validation;
}

int64_t find_tasks(const Description& d, const std::vector<const RawDomain*>& domains,
                   Problems& problems) {
  int64_t tasks = static_cast<int64_t>(d.csv.targets.size());
  std::string from = tasks > 0 ? "'targets' in dataset.toml" : "";
  for (const RawDomain* raw : domains) {
    if (!raw->targets.defined()) continue;
    const int64_t here = raw->targets.size(1);
    if (tasks == 0) {
      tasks = here;
      from = raw->file;
    }
    if (here == tasks) continue;
    problems.add({raw->file, 0, 0,
                  fmt::format("y has {} columns, but {} says {}", here, from, tasks),
                  "all domains need the same targets"});
  }
  return tasks;
}

TargetScale fit_scale(const std::vector<Domain>& training) {
  std::vector<torch::Tensor> rows;
  for (const Domain& domain : training) {
    rows.push_back(domain.labels.y.index_select(0, domain.labels.loss).to(torch::kFloat64));
  }
  const torch::Tensor y = torch::cat(rows);
  TargetScale scale;
  for (int64_t t = 0; t < y.size(1); ++t) {
    const torch::Tensor column = y.select(1, t);
    const torch::Tensor known = column.masked_select(column.isnan().logical_not());
    const bool any = known.numel() > 0;
    const double mean = any ? known.mean().item<double>() : 0.0;
    const double deviation = any ? known.std(/*unbiased=*/false).item<double>() : 0.0;
    scale.mean.push_back(mean);
    scale.deviation.push_back(deviation > 1e-12 * std::abs(mean) ? deviation : 1.0);
  }
  return scale;
}

SplitDomain split_domain(const Domain& domain, const torch::Tensor& role) {
  const auto part = [&](Role wanted, const torch::Tensor& counted, const char* ending) {
    Domain copy = domain;
    const torch::Tensor here = role.eq(static_cast<int64_t>(wanted)).index_select(0, counted);
    copy.labels.loss = copy.labels.evaluate = counted.masked_select(here);
    copy.name += ending;
    copy.group = domain.group + ending;
    return copy;
  };
  SplitDomain split{part(Role::train, domain.labels.loss, ""), {}, {}};
  Domain validation = part(Role::validation, domain.labels.evaluate, "-val");
  Domain test = part(Role::test, domain.labels.evaluate, "-test");
  if (validation.labels.evaluate.numel() > 0) split.validation.push_back(std::move(validation));
  if (test.labels.evaluate.numel() > 0) split.test.push_back(std::move(test));
  return split;
}

}  // namespace grm::own
