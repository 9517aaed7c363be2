// Studies: run, read back and put into tables by the code of the program.
#include "engine.h"
#include "grm/core/error.h"
#include "study/runner.h"
#include "study/table.h"

namespace grm::python {
namespace {

py::list cells_of(const study::StudySpec& spec) {
  py::list rows;
  for (const study::PlannedCell& c : study::expand(spec)) {
    rows.append(py::make_tuple(c.dataset, c.method, c.variant, c.seed));
  }
  return rows;
}

py::dict run(const study::StudySpec& spec, const std::string& database, const std::string& runs,
             const std::string& root, const std::string& program, int jobs, int threads) {
  study::RunnerOptions options;
  options.database = database;
  options.runs = runs;
  options.data.root = root;
  options.program = program;
  options.jobs = jobs;
  options.threads = threads;
  Messages messages;
  std::exception_ptr python_error;
  study::RunnerHooks hooks;
  hooks.interrupted = [&] {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    python_error = std::make_exception_ptr(py::error_already_set());
    return true;
  };
  const study::Outcome outcome =
      in_engine("cpu", messages, [&] { return study::run_study(spec, options, hooks); });
  messages.deliver();
  if (python_error) std::rethrow_exception(python_error);
  py::list failed;
  for (const std::vector<study::CellRow>* rows : {&outcome.failed, &outcome.no_data}) {
    for (const study::CellRow& row : *rows) {
      failed.append(py::make_tuple(study::cell_title(row), row.state, row.message));
    }
  }
  py::dict d;
  d["states"] = outcome.states;
  d["failed"] = failed;
  d["seconds"] = outcome.seconds;
  return d;
}

py::object number(const MeanStd& value) {
  return py::make_tuple(value.mean, value.std);
}

py::list table(const std::string& database, const std::string& name, const std::string& against) {
  const study::Store store(database, study::Open::read);
  const bool tuned = store.study(name).tuned;
  study::TableOptions options;
  options.against = against;
  const study::ScoreTable table =
      study::make_table(store.results(name, tuned ? "final" : "run"), store.missing(name), options);
  py::list rows;
  study::for_each_cell(table, [&](const study::Block& block, const study::DatasetColumn& column,
                                  const std::string& method, const study::Cell& cell) {
    if (cell.runs == 0) return;
    py::dict d;
    d["variant"] = block.name;
    d["dataset"] = column.dataset;
    d["method"] = method;
    d["metric"] = column.metric;
    d["runs"] = cell.runs;
    d["avg"] = number(cell.avg.ours);
    d["min"] = number(cell.min.ours);
    d["validation"] = number(cell.validation);
    py::dict domains;
    for (const study::Cell::DomainRow& row : cell.domains) {
      domains[row.domain.c_str()] = number(row.score.ours);
    }
    d["domains"] = domains;
    d["p"] = cell.test && cell.test->p ? py::cast(*cell.test->p) : py::none();
    d["difference"] = cell.test ? py::cast(cell.test->difference) : py::none();
    rows.append(d);
  });
  return rows;
}

int run_cells(const std::string& database, const std::string& owner, const std::string& runs,
              int threads, double checkpoint_seconds, const std::string& root, bool allow_missing,
              const std::string& device) {
  study::CellJob job;
  job.database = database;
  job.owner = owner;
  job.runs = runs;
  job.threads = threads;
  job.checkpoint_seconds = checkpoint_seconds;
  job.data.root = root;
  job.data.allow_missing = allow_missing;
  job.device = device;
  study::CellHooks hooks;
  hooks.interrupted = [] {
    const py::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  };
  return in_engine("cpu", [&] { return study::run_cells(job, hooks); });
}

py::dict paired(const std::vector<std::pair<double, double>>& pairs) {
  const study::PairedTest test = study::paired_t_test(pairs);
  py::dict d;
  d["pairs"] = test.pairs;
  d["difference"] = test.difference;
  d["deviation"] = test.deviation;
  d["p"] = test.p ? py::cast(*test.p) : py::none();
  return d;
}

}  // namespace

void bind_study(py::module_& module) {
  py::class_<study::StudySpec>(module, "StudySpec")
      .def_property_readonly("name", [](const study::StudySpec& s) { return s.name; })
      .def_property_readonly("about", [](const study::StudySpec& s) { return s.about; })
      .def("cells", &cells_of);
  module.def("load_spec", &study::load_spec, py::arg("file_or_name"));
  module.def("ready_studies", &study::ready_studies);
  module.def("run_study", &run, py::arg("spec"), py::arg("database"), py::arg("runs"),
             py::arg("root"), py::arg("program"), py::arg("jobs"), py::arg("threads"));
  module.def("study_table", &table, py::arg("database"), py::arg("name"), py::arg("against"));
  module.def("run_cells", &run_cells, py::arg("database"), py::arg("owner"), py::arg("runs"),
             py::arg("threads"), py::arg("checkpoint_seconds"), py::arg("root"),
             py::arg("allow_missing"), py::arg("device"));
  module.def("paired_t_test", &paired, py::arg("pairs"));
}

}  // namespace grm::python
