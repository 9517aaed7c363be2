// grm._grm: the engine for Python. The package around it (python/grm) is what users import.
#include <ATen/Parallel.h>
#include <malloc.h>
#include <torch/csrc/Exceptions.h>

#include "engine.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/version.h"
#include "train/run_folder.h"

namespace grm::python {
namespace {

const char* word_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::config:
      return "config";
    case ErrorKind::data:
      return "data";
    case ErrorKind::shape:
      return "shape";
    case ErrorKind::io:
      return "io";
    case ErrorKind::device:
      return "device";
    case ErrorKind::memory:
      return "memory";
  }
  return "internal";
}

void raise(const char* kind, const char* message) {
  const py::object type = py::module_::import("grm._errors").attr("KINDS")[kind];
  PyErr_SetString(type.ptr(), message);
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(word_of(error.kind()), error.what());
  } catch (const InternalError& error) {
    raise("internal", error.what());
  } catch (python_error& error) {
    // Of a gradient written in Python: torch's own translator need not be in this module's tables.
    error.restore();
  }
}

py::dict config() {
  py::dict d;
  d["version"] = GRM_VERSION;
  d["git"] = GRM_GIT_ID;
  d["cuda"] = built_with_cuda();
  d["gpus"] = cuda_devices();
  d["threads"] = threads();
  d["blas"] = blas_name();
  d["blas_core"] = blas_core();
  return d;
}

}  // namespace

void Messages::deliver() {
  std::vector<std::pair<LogLevel, std::string>> messages;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    messages.swap(kept_);
  }
  if (messages.empty()) return;
  const py::object logger = py::module_::import("logging").attr("getLogger")("grm");
  for (const auto& [level, text] : messages) {
    logger.attr(level == LogLevel::warning ? "warning" : "info")("%s", text);
  }
}

}  // namespace grm::python

PYBIND11_MODULE(_grm, module) {
  using namespace grm::python;
  py::register_exception_translator(&translate);
  bind_data(module);
  bind_ops(module);
  bind_train(module);
  bind_study(module);
  module.def("config", &config);
  module.def("set_threads", &grm::set_threads, py::arg("count"));
  module.def("threads", &grm::threads);
  module.def(
      "set_memory_limit", [](double mib) { grm::context().memory_limit = mib * 1024 * 1024; },
      py::arg("mib"));
  module.def("keep_freed_memory", [] {
    // As the program does: steps free and allocate the same large tensors again and again.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
  });
}
