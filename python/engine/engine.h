#pragma once

#include <torch/csrc/utils/pybind.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "grm/core/context.h"
#include "grm/graph/device.h"

// What the files of the module share. Rules of the GIL: it is released in every call that computes,
// and taken for the moments in which Python is asked (callbacks, networks, signals).
namespace grm::python {

namespace py = pybind11;

void bind_data(py::module_& module);
void bind_ops(py::module_& module);
void bind_train(py::module_& module);
void bind_study(py::module_& module);

/// Messages of the engine, handed to Python's `logging` when the GIL is held: a sink that took the
/// GIL could wait for a thread that holds it and wants to log.
class Messages {
 public:
  LogSink sink() {
    return [this](LogLevel level, const std::string& text) {
      const std::lock_guard<std::mutex> lock(mutex_);
      kept_.emplace_back(level, text);
    };
  }
  /// With the GIL.
  void deliver();

 private:
  std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> kept_;
};

/// Runs `body` without the GIL, under a context of its own that computes on `device`.
template <class Body>
auto in_engine(const std::string& device, Messages& messages, const Body& body) {
  const py::gil_scoped_release release;
  Context own;
  own.memory_limit = context().memory_limit;
  own.log = messages.sink();
  const ContextScope scope(own);
  set_compute_device(parse_device(device));
  return body();
}

/// The same where nobody waits for messages before the end.
template <class Body>
auto in_engine(const std::string& device, const Body& body) {
  Messages messages;
  struct Deliver {
    Messages& messages;
    ~Deliver() {
      try {
        messages.deliver();
      } catch (py::error_already_set& error) {
        error.discard_as_unraisable("grm");
      }
    }
  } deliver{messages};
  return in_engine(device, messages, body);
}

/// A Python object that may be let go by a thread without the GIL.
class Held {
 public:
  explicit Held(py::object object) : object_(std::move(object)) {}
  ~Held() {
    const py::gil_scoped_acquire gil;
    object_.release().dec_ref();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  const py::object& get() const { return object_; }

 private:
  py::object object_;
};

/// A tensor, or an undefined one for None.
inline torch::Tensor tensor_or_none(const py::object& object) {
  return object.is_none() ? torch::Tensor() : object.cast<torch::Tensor>();
}
inline py::object none_or_tensor(const torch::Tensor& tensor) {
  return tensor.defined() ? py::cast(tensor) : py::none();
}

}  // namespace grm::python
