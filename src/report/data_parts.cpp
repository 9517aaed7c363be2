// The parts of a report that need the data itself: shift measures, answers of models, explanations.
#include "report/data_parts.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "grm/core/error.h"
#include "grm/train/explain_runs.h"
#include "grm/train/model_file.h"
#include "train/explain_choice.h"
#include "train/recorded_config.h"

namespace grm::report {
namespace {

using study::ResultRow;

constexpr size_t kSeeds = 3;         // whose explanations are compared
constexpr int64_t kTopEdges = 10;    // that the comparison looks at
constexpr int64_t kClearNodes = 60;  // of a graph whose picture is easy to read
constexpr size_t kMostNodes = 300;   // that a picture can show
constexpr size_t kMostModels = 12;   // of a dataset that are asked for all their answers
// Seconds that answering may take, by the time that runs needed for one evaluation.
constexpr double kMostSeconds = 120.0;

bool has_model(const ResultRow& row) {
  std::error_code code;
  return !row.record.folder.empty() &&
         std::filesystem::exists(row.record.folder + "/model.safetensors", code);
}

// The setups of one dataset that left models, GRM before the others.
std::vector<Setup> candidates(const std::vector<Setup>& setups, const std::string& data) {
  std::vector<Setup> list;
  for (const Setup& setup : setups) {
    if (dataset_part(setup.config) != data) continue;
    Setup usable = setup;
    usable.rows.clear();
    for (const ResultRow* row : setup.rows) {
      if (has_model(*row) && usable.rows.size() < kSeeds) usable.rows.push_back(row);
    }
    if (!usable.rows.empty()) list.push_back(std::move(usable));
  }
  std::stable_partition(list.begin(), list.end(), [](const Setup& setup) {
    return study::without_preset(setup.method) == "grm";
  });
  return list;
}

// The items that the metric sees: nodes with an edge, graphs with at most so many nodes.
std::vector<int64_t> scored_items(const Domain& domain, int64_t nodes) {
  const torch::Tensor& all = domain.labels.evaluate;
  const torch::Tensor& parts = domain.graph.parts;
  const bool sets = domain.graph.level() == Level::graph;
  const Adjacency& edges = *domain.graph.edges;
  const auto has_edge = [](const Csr& side, int64_t node) {
    return side.offset()[node + 1] > side.offset()[node];
  };
  std::vector<int64_t> items;
  for (int64_t k = 0; k < all.numel(); ++k) {
    const int64_t item = all.data_ptr<int64_t>()[k];
    const int64_t* first = sets ? parts.data_ptr<int64_t>() + item : nullptr;
    if (sets ? first[1] - first[0] <= nodes
             : has_edge(edges.in, item) || has_edge(edges.out, item)) {
      items.push_back(item);
    }
  }
  return items;
}

// Of graphs the small ones, if there are enough of them; `limit` receives the size.
std::vector<int64_t> candidate_items(const Domain& domain, int64_t count, int64_t& limit) {
  limit = kClearNodes;
  std::vector<int64_t> all = scored_items(domain, limit);
  if (static_cast<int64_t>(all.size()) >= count) return all;
  limit = static_cast<int64_t>(kMostNodes);
  return scored_items(domain, limit);
}

// Error(data) if the model and the data do not belong together.
ModelFile model_for(const ResultRow& row, const Task& task) {
  ModelFile file = read_model(row.record.folder);
  if (file.about.classes != task.classes || file.about.features != task.features()) {
    fail(ErrorKind::data, "{}: the model was trained on other data than there is now", file.path);
  }
  return file;
}

ExplanationPart explanation_part(const Setup& setup, const Task& task, int64_t items) {
  std::vector<std::unique_ptr<Method>> models;
  std::vector<ModelAbout> abouts;
  for (const ResultRow* row : setup.rows) {
    const ModelFile file = model_for(*row, task);
    models.push_back(restore_method(file));
    abouts.push_back(file.about);
  }
  const Domain& domain = task.test.empty() ? task.validation.front() : task.test.front();
  ExplanationPart part;
  part.dataset = study::without_seed(setup.dataset);
  part.row = setup.row();
  part.domain = domain.name;
  for (const ModelAbout& about : abouts) part.seeds.push_back(about.seed);
  int64_t limit = 0;
  const std::vector<int64_t> all = candidate_items(domain, items, limit);
  const std::vector<ChosenItem> chosen = items_worth_a_look(
      *models.front(), domain, all, items, abouts.front().temperature, task.label_names);
  part.words = {fmt::format(
      "{} of domain {}{} that are worth a look, not typical ones: errors, the rarest class, high "
      "uncertainty, and for contrast what the model is sure of.",
      task.level == Level::graph ? "Graphs" : "Nodes", domain.name,
      task.level == Level::graph ? fmt::format(" with at most {} nodes", limit) : " with edges")};
  for (const auto& [item, why] : chosen) {
    ExplanationPart::Item each;
    each.why = why;
    for (size_t m = 0; m < models.size(); ++m) {
      each.explained.runs.push_back(
          explain_item(*models[m], abouts[m].method, domain, item, abouts[m].temperature));
      each.explained.runs.back().labels = task.label_names;
      each.explained.runs.back().seed = abouts[m].seed;
    }
    const ItemExplanation& first = each.explained.runs.front();
    if (first.nodes.size() > kMostNodes) {
      part.words.push_back(fmt::format("Item {} has {} nodes, too many for a picture.", first.name,
                                       first.nodes.size()));
      continue;
    }
    each.explained.stability = agreement(each.explained.runs, kTopEdges);
    part.items.push_back(std::move(each));
  }
  return part;
}

void add_explanations(ReportParts& report, const std::vector<Setup>& some,
                      const std::string& dataset, const Task& task, int64_t items) {
  std::string reason = "no run has left its model";
  for (const Setup& setup : some) {
    try {
      report.explanations.push_back(explanation_part(setup, task, items));
      return;
    } catch (const Error& error) {
      reason = error.what();
    }
  }
  report.left_out.push_back({"explanations on " + dataset, reason});
}

// Answers of one model of each row on the test domains, and where sampled items of all domains lie.
void add_models(ReportParts& report, const std::vector<Setup>& some, const std::string& dataset,
                const Task& task) {
  Embedding embedding(task);
  double seconds = 0.0;
  size_t shown = 0;
  for (const Setup& setup : some) {
    const ResultRow& row = *setup.rows.front();
    seconds += row.record.evaluate_seconds;
    if (shown == kMostModels || seconds > kMostSeconds) {
      report.left_out.push_back(
          {fmt::format("answers of {} on {}", setup.row(), dataset),
           shown == kMostModels ? fmt::format("{} models are shown already", shown)
                                : fmt::format("it would take more than {:.0f} s", kMostSeconds)});
      continue;
    }
    try {
      const ModelFile file = model_for(row, task);
      const std::unique_ptr<Method> method = restore_method(file);
      ModelPart part{
          dataset,
          setup.row(),
          row.record.folder,
          file.about.seed,
          file.about.temperature,
          task.label_names,
          task.test.empty() ? std::vector<GroupLogits>() : group_logits(*method, task, Role::test)};
      embedding.add_answers(part.row, part.seed, *method);
      report.models.push_back(std::move(part));
      ++shown;
    } catch (const Error& error) {
      report.left_out.push_back(
          {fmt::format("answers of {} on {}", setup.row(), dataset), error.what()});
    }
  }
  EmbeddingPart part = embedding.finish(dataset);
  if (!part.spaces.empty()) report.embeddings.push_back(std::move(part));
}

}  // namespace

void add_data_parts(ReportParts& report, const DataContext& context, int64_t items) {
  const std::vector<Setup> setups = setups_of(report.results.rows);
  std::set<std::string> done;
  for (const Setup& setup : setups) {
    // Of the draws and variants of one dataset, the first stands for all.
    const std::string dataset = study::without_seed(setup.dataset);
    if (!done.insert(dataset).second) continue;
    Task task;
    try {
      task = config_from_toml(setup.rows.front()->config, "configuration of " + setup.dataset)
                 .dataset.load(context);
    } catch (const Error& error) {
      report.left_out.push_back({"shift measures of " + dataset, error.what()});
      if (items > 0) report.left_out.push_back({"explanations on " + dataset, error.what()});
      continue;
    }
    try {
      report.shift.push_back({dataset, measure_shift(task), task.label_names});
    } catch (const Error& error) {
      report.left_out.push_back({"shift measures of " + dataset, error.what()});
    }
    const std::vector<Setup> usable = candidates(setups, dataset_part(setup.config));
    // Confusion, components by class and items worth a look are of classes.
    if (task.training.front().labels.y.scalar_type() != torch::kLong) {
      report.left_out.push_back(
          {"answers and explanations on " + dataset, "its targets are not classes"});
      continue;
    }
    add_models(report, usable, dataset, task);
    if (items > 0) add_explanations(report, usable, dataset, task, items);
  }
}

}  // namespace grm::report
