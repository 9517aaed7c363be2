// One cell of a table: the numbers of all runs of one method on one dataset.
#include "study/table_cell.h"

#include <algorithm>
#include <set>

#include "core/lists.h"
#include "core/text.h"

namespace grm::study {
namespace {

// Names of the domains that every run of a cell scored, in the first run's order.
std::vector<std::string> common_domains(const std::vector<Run>& runs) {
  std::vector<std::string> common;
  for (const DomainScore& s : *runs.front().test) {
    const bool everywhere = std::all_of(runs.begin(), runs.end(), [&](const Run& run) {
      return std::any_of(run.test->begin(), run.test->end(),
                         [&](const DomainScore& other) { return other.domain == s.domain; });
    });
    if (everywhere) common.push_back(s.domain);
  }
  return common;
}

MeanStd over_runs(const std::vector<Run>& runs, const std::function<double(const Run&)>& value) {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back(value(run));
  return mean_std(values);
}

double run_average(const Run& run) {
  return mean_std(run.scores).mean;
}

// Domains of two draws of the data have nothing in common but their names: the worst one is looked for
// in each draw, by its mean over seeds. Runs are sorted by draw.
void fill_min(Cell& cell, const std::vector<Run>& runs,
              const std::function<size_t(const std::vector<double>&)>& worst) {
  std::vector<double> lowest;
  std::vector<std::string> names;
  for (auto begin = runs.begin(); begin != runs.end();) {
    const auto end = std::find_if(begin, runs.end(),
                                  [&](const Run& run) { return run.dataset != begin->dataset; });
    const std::vector<Run> draw(begin, end);
    std::vector<double> means;
    for (size_t k = 0; k < cell.domains.size(); ++k) {
      means.push_back(over_runs(draw, [&](const Run& run) { return run.scores[k]; }).mean);
    }
    const size_t least = worst(means);
    add_once(names, cell.domains[least].domain);
    for (const Run& run : draw) lowest.push_back(run.scores[least]);
    begin = end;
  }
  cell.min.ours = mean_std(lowest);
  cell.min_domain = joined(names);
}

void fill_scores(Cell& cell, std::vector<Run>& runs) {
  const std::vector<std::string> domains = common_domains(runs);
  for (Run& run : runs) {
    for (const std::string& name : domains) {
      for (const DomainScore& s : *run.test) {
        if (s.domain == name) {
          run.scores.push_back(s.value);
          break;
        }
      }
    }
  }
  if (domains.empty()) return;
  std::vector<double> means;
  for (size_t k = 0; k < domains.size(); ++k) {
    const MeanStd score = over_runs(runs, [&](const Run& run) { return run.scores[k]; });
    cell.domains.push_back({domains[k], {score, {}}});
    means.push_back(score.mean);
  }
  const bool errors = runs.front().test->front().error;
  const auto worst = [errors](const std::vector<double>& scores) {
    return errors ? std::max_element(scores.begin(), scores.end())
                  : std::min_element(scores.begin(), scores.end());
  };
  fill_min(cell, runs, [&](const std::vector<double>& scores) {
    return static_cast<size_t>(worst(scores) - scores.begin());
  });
  cell.avg.ours = {mean_std(means).mean, over_runs(runs, run_average).std};
  cell.min_per_run = over_runs(runs, [&](const Run& run) { return *worst(run.scores); });
}

void fill_costs(Cell& cell, const std::vector<Run>& runs) {
  const auto number = [&](auto member) {
    return over_runs(runs, [&](const Run& run) { return member(run.row->record); });
  };
  cell.parameters = runs.front().row->record.parameters;
  cell.epochs = number([](const RunRecord& r) { return static_cast<double>(r.epochs); });
  cell.seconds_per_epoch = number([](const RunRecord& r) { return r.seconds_per_epoch; });
  cell.evaluate_seconds = number([](const RunRecord& r) { return r.evaluate_seconds; });
  cell.train_seconds = number(
      [](const RunRecord& r) { return r.seconds_per_epoch * static_cast<double>(r.epochs); });
  for (const Run& run : runs) {
    cell.peak_memory_mib = std::max(cell.peak_memory_mib, run.row->record.peak_memory_mib);
  }
}

}  // namespace

std::vector<DomainScore> mean_constant(const std::vector<Run>& runs, const Cell& cell,
                                       std::vector<DomainScore> RunRecord::*scores) {
  std::vector<DomainScore> means;
  for (const Cell::DomainRow& row : cell.domains) {
    std::vector<double> values;
    for (const Run& run : runs) {
      for (const DomainScore& s : run.row->record.*scores) {
        if (s.domain == row.domain) values.push_back(s.value);
      }
    }
    if (values.size() != runs.size()) return {};
    means.push_back({row.domain, mean_std(values).mean, runs.front().test->front().error});
  }
  return means;
}

void fill_cell(Cell& cell, Runs& source, const std::string& rule) {
  cell.expected = source.expected;
  cell.runs = static_cast<int64_t>(source.runs.size());
  if (source.runs.empty()) return;
  // A fixed order makes the sums independent of the order in which the runs ended.
  std::sort(source.runs.begin(), source.runs.end(), [](const Run& a, const Run& b) {
    return std::tie(a.dataset, a.seed) < std::tie(b.dataset, b.seed);
  });
  fill_scores(cell, source.runs);
  fill_costs(cell, source.runs);
  cell.validation = over_runs(
      source.runs, [&](const Run& run) { return run.row->record.chosen.at(rule).validation; });
  cell.validation_loss =  // not a number if it is unknown for one of them
      over_runs(source.runs, [&](const Run& run) {
        return run.row->record.chosen.at(rule).validation_loss;
      }).mean;
}

void fill_published(Cell& cell, const std::string& dataset, const std::string& method,
                    const PublishedLookup& published) {
  if (!published) return;
  const std::string base = without_preset(method);
  cell.min.published = published(dataset, base, "Min");
  cell.avg.published = published(dataset, base, "Avg");
  // Domains are published by position, which means something only if we have the same number.
  const std::string beyond = "T" + std::to_string(cell.domains.size() + 1);
  if (published(dataset, base, beyond)) return;
  if (!published(dataset, base, "T" + std::to_string(cell.domains.size()))) return;
  for (size_t k = 0; k < cell.domains.size(); ++k) {
    cell.domains[k].score.published = published(dataset, base, "T" + std::to_string(k + 1));
  }
}

bool different_domains(const std::vector<Run>& runs, const Cell& cell) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const Run& run) { return run.test->size() != cell.domains.size(); });
}

bool same_domains(const Cell& a, const Cell& b) {
  std::set<std::string> here, there;
  for (const Cell::DomainRow& row : a.domains) here.insert(row.domain);
  for (const Cell::DomainRow& row : b.domains) there.insert(row.domain);
  return here == there;
}

PairedTest compare(const std::vector<Run>& ours, const std::vector<Run>& reference) {
  std::vector<std::pair<double, double>> pairs;
  for (const Run& a : ours) {
    for (const Run& b : reference) {
      if (a.dataset == b.dataset && a.seed == b.seed) {
        pairs.emplace_back(run_average(a), run_average(b));
      }
    }
  }
  return paired_t_test(pairs);
}

}  // namespace grm::study
