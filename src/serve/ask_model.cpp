#include "serve/ask_model.h"

#include <fmt/format.h>
#include <torch/types.h>

#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "core/system/temporary_folder.h"
#include "core/text.h"
#include "data/own/preprocessing.h"
#include "grm/core/error.h"
#include "grm/train/explain_runs.h"
#include "report/explain_files.h"
#include "train/memory_input.h"

namespace grm::serve {
namespace {

using nlohmann::ordered_json;

constexpr size_t kSharedBody = size_t{1} << 20;  // larger ones are never looked for twice

TableNames tables_of(const ModelAbout& about) {
  const own::Preprocessing rules = own::preprocessing_from_json(about.preprocessing);
  TableNames names;
  names.nodes = rules.csv.nodes;
  names.edges = rules.csv.edges;
  names.graphs = rules.csv.graphs;
  if (!rules.csv.separator.empty()) names.separator = rules.csv.separator[0];
  return names;
}

std::string quoted(const std::string& text) {
  return json_text(ordered_json(text));
}

// One object a row, written as text: a tree of a million numbers would take many times as much.
class RowWriter {
 public:
  RowWriter(const Model& model, int64_t most) : left_(most) {
    for (int64_t c = 0; c < model.classes(); ++c) labels_.push_back(quoted(model.label(c)));
  }

  void add(const Domain& domain, const torch::Tensor& items, const Prediction& p) {
    const torch::Tensor ids = items.contiguous();
    const std::string name = quoted(domain.name);
    for (int64_t k = 0; k < ids.numel() && left_ != 0; ++k, --left_) {
      const int64_t id = ids.data_ptr<int64_t>()[k];
      const std::string item = domain.item_names.empty()
                                   ? std::to_string(id)
                                   : domain.item_names.at(static_cast<size_t>(id));
      text_ +=
          fmt::format(R"({}{{"domain":{},"id":{})", text_.empty() ? "" : ",\n", name, quoted(item));
      if (p.classes
              .defined()) {  // targets may be numbers, or a yes or no for each of several tasks
        const int64_t chosen = p.classes.data_ptr<int64_t>()[k];
        text_ +=
            fmt::format(R"(,"class":{},"label":{})", chosen, labels_[static_cast<size_t>(chosen)]);
      }
      if (p.values.defined()) {
        add_row("values", p.values.contiguous(), k);
      } else {
        add_row("probabilities", p.probabilities.contiguous(), k);
        add_number("spread", p.spread, k);
        add_number("entropy", p.entropy, k);
      }
      text_ += '}';
    }
  }
  const std::string& text() const { return text_; }
  std::string labels() const { return joined(labels_, ","); }

 private:
  // rows: [k, width] float
  void add_row(const char* key, const torch::Tensor& rows, int64_t k) {
    text_ += fmt::format(R"(,"{}":[)", key);
    for (int64_t c = 0; c < rows.size(1); ++c) {
      text_ += fmt::format("{}{}", c == 0 ? "" : ",", rows.data_ptr<float>()[k * rows.size(1) + c]);
    }
    text_ += ']';
  }
  void add_number(const char* key, const torch::Tensor& numbers, int64_t k) {
    const std::string number =
        numbers.defined() ? fmt::format("{}", numbers.data_ptr<float>()[k]) : "null";
    text_ += fmt::format(R"(,"{}":{})", key, number);
  }

  int64_t left_;  // rows; below 0: no end
  std::vector<std::string> labels_;
  std::string text_;
};

std::string scores_text(const Model& model, const PredictionSummary& summary) {
  ordered_json scores = ordered_json::array();
  for (const PredictionScore& score : summary.scores) {
    scores.push_back({{"domain", score.domain},
                      {"metric", to_string(model.about().metric)},
                      {"value", score.value},
                      {"labelled", score.labelled},
                      {"ece", score.ece}});
  }
  return json_text(scores);
}

// The data of a request in a folder of its own, which lives as long as somebody may read it.
struct Upload {
  Upload() : folder("grm-serve") {}
  TemporaryFolder folder;
  std::string path;
  Asking asking;
};

// Paths of the temporary folder mean nothing to whoever asked.
std::string without_folder(const std::string& text, const Upload& upload) {
  return replaced(text, {{upload.folder.path() + "/", ""}});
}

// Runs `body` with its messages kept, and with paths as the client knows them.
template <class Answer>
HttpReply answered(Model& model, const Upload& upload, const Answer& body) {
  struct Forget {
    Model& model;
    ~Forget() { model.forget_graphs(); }
  } const forget{model};
  std::vector<std::string> notes;
  Context own = context();
  own.log = [&notes](LogLevel level, const std::string& text) {
    if (level == LogLevel::warning && notes.size() < 100) notes.push_back(text);
  };
  const ContextScope scope(own);
  try {
    return body([&] {
      ordered_json list = ordered_json::array();
      for (const std::string& note : notes) list.push_back(without_folder(note, upload));
      return list;
    });
  } catch (const Error& error) {
    throw Error(error.kind(), without_folder(error.what(), upload));
  }
}

HttpReply ask(ModelWorker& worker, const HttpRequest& request, const Body& body,
              const std::function<HttpReply(Model&, const Upload&)>& work) {
  auto upload = std::make_shared<Upload>();
  upload->asking = body.asking();
  upload->path = body.write(tables_of(*worker.about()), upload->folder.path());
  std::string key;
  if (request.body.size() <= kSharedBody) {
    const Asking& asking = body.asking();
    key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.path, sha256(request.body), asking.item,
                      asking.domain, asking.csv, asking.rows);
  }
  return worker.ask(key, [upload, work](Model& model) { return work(model, *upload); });
}

HttpReply predicted(Model& model, const Upload& upload, const std::string& name,
                    const std::string& digest) {
  const Stopwatch watch;
  return answered(model, upload, [&](const auto& notes) {
    const std::vector<Asked> data = data_to_predict(model, upload.path, DataContext());
    check_memory_to_predict(model, data);
    HttpReply reply;
    std::string lines;
    RowWriter rows(model, upload.asking.rows);
    const bool csv = upload.asking.csv;
    const PredictionSummary summary = predict_csv(
        model, data,
        [&](const std::string& text) {
          if (csv) lines += text;
        },
        {},
        [&](const Domain& domain, const torch::Tensor& ids, const Prediction& p) {
          if (!csv) rows.add(domain, ids, p);
        });
    if (csv) {
      reply.type = "text/csv; charset=utf-8";
      reply.body = std::move(lines);
      return reply;
    }
    ordered_json all_notes = notes();
    for (const std::string& note : summary.notes) all_notes.push_back(note);
    reply.body = fmt::format(
        R"({{"model":{},"sha256":"{}","classes":[{}],"items":{},"sampled":{},"scores":{},"notes":{},"seconds":{:.6f},"predictions":[
{}]}}
)",
        quoted(name), digest, rows.labels(), summary.items, summary.sampled,
        scores_text(model, summary), json_text(all_notes), watch.seconds(), rows.text());
    return reply;
  });
}

HttpReply explained(Model& model, const Upload& upload, const std::string& name) {
  return answered(model, upload, [&](const auto& notes) {
    std::vector<Domain> domains;
    for (Asked& asked : data_to_predict(model, upload.path, DataContext())) {
      domains.push_back(std::move(asked.domain));
    }
    ExplainRequest request;
    request.run = name;
    request.data = "request";
    request.domain = upload.asking.domain;
    request.item = upload.asking.item;
    request.top = upload.asking.top;
    const ExplainedRuns runs = explain_with(model, domains, request);
    ordered_json out = parse_json<ordered_json>(report::explanation_json(runs), "the explanation");
    out["notes"] = notes();
    HttpReply reply;
    reply.body = json_text(out) + "\n";
    return reply;
  });
}

}  // namespace

HttpReply ask_prediction(ModelWorker& worker, const HttpRequest& request, const Body& body) {
  return ask(worker, request, body, [&worker](Model& model, const Upload& upload) {
    return predicted(model, upload, worker.name(), worker.file_digest());
  });
}

HttpReply ask_explanation(ModelWorker& worker, const HttpRequest& request, const Body& body) {
  if (body.asking().item.empty()) {
    return error_reply(400, "config", "'item' says which node or graph: its name, or its index");
  }
  return ask(worker, request, body, [&worker](Model& model, const Upload& upload) {
    return explained(model, upload, worker.name());
  });
}

std::string model_json(const ModelWorker& worker) {
  const std::shared_ptr<const ModelAbout> about = worker.about();
  const own::Preprocessing rules = own::preprocessing_from_json(about->preprocessing);
  ordered_json columns = ordered_json::array();
  for (const own::ColumnRule& rule : rules.columns) columns.push_back(rule.name);
  ordered_json labels = about->label_names;
  if (about->label_names.empty()) {
    for (int64_t c = 0; c < about->classes; ++c) labels.push_back(std::to_string(c));
  }
  const TableNames names = tables_of(*about);
  const bool tables = rules.kind == "csv";
  return json_text(
      ordered_json{{"name", worker.name()},
                   {"method", about->method},
                   {"preset", about->preset},
                   {"dataset", about->dataset},
                   {"level", to_string(about->level)},
                   {"seed", about->seed},
                   {"epoch", about->epoch},
                   {"classes", labels},
                   {"features", about->features},
                   {"edge_features", about->edge_features},
                   {"input", tables ? "tables" : "arrays"},
                   {"columns", tables ? columns : ordered_json(about->feature_names)},
                   {"tables", tables ? ordered_json{names.nodes, names.edges, names.graphs}
                                     : ordered_json::array()},
                   {"temperature", about->temperature},
                   {"format", about->format},
                   {"sha256", worker.file_digest()}});
}

}  // namespace grm::serve
