#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/kernel.h"

// A case launches a kernel twice into poisoned outputs, compares both results to the bit, and the
// first with reference numbers from plain loops in double. Results are gathered by kernel.
namespace test {

inline void must(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
  }
}

/// The stream of all tests.
inline cudaStream_t stream() {
  static cudaStream_t made = [] {
    cudaStream_t s;
    must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream");
    return s;
  }();
  return made;
}

/// Device memory of exactly n numbers, so that memcheck sees a step beyond.
template <class T>
class Array {
 public:
  explicit Array(size_t n) : n_(n) { must(cudaMalloc(&p_, bytes() > 0 ? bytes() : 1), "malloc"); }
  explicit Array(const std::vector<T>& values) : Array(values.size()) { set(values); }
  Array(const Array&) = delete;
  ~Array() { cudaFree(p_); }

  T* get() const { return p_; }
  size_t size() const { return n_; }
  size_t bytes() const { return n_ * sizeof(T); }
  void set(const std::vector<T>& values) {
    if (n_ > 0) must(cudaMemcpy(p_, values.data(), bytes(), cudaMemcpyHostToDevice), "upload");
  }
  void poison() {
    if (n_ > 0) must(cudaMemset(p_, 0xFF, bytes()), "poison");  // NaN, or -1
  }
  std::vector<T> read() const {
    std::vector<T> values(n_);
    if (n_ > 0) must(cudaMemcpy(values.data(), p_, bytes(), cudaMemcpyDeviceToHost), "download");
    return values;
  }

 private:
  size_t n_;
  T* p_ = nullptr;
};

/// Calls of kernels in that stream. Scratch memory has exactly the size that is asked for, and is kept
/// for the next call that asks for as much.
inline grm::Queue next_queue() {
  static std::vector<std::unique_ptr<Array<char>>> kept;
  static size_t used;
  used = 0;
  return {stream(), [](size_t bytes) -> void* {
            if (used == kept.size()) kept.emplace_back();
            std::unique_ptr<Array<char>>& array = kept[used++];
            if (!array || array->size() != bytes) {
              must(cudaStreamSynchronize(stream()), "before scratch memory goes");
              array = std::make_unique<Array<char>>(bytes);
            }
            return array->get();
          }};
}
template <class Function>
struct Call;
template <class... Arguments>
struct Call<void (*)(const grm::Queue&, Arguments...)> {
  void (*(*kernel)())(const grm::Queue&, Arguments...);
  void operator()(Arguments... arguments) const { kernel()(next_queue(), arguments...); }
};
/// gpu<kernels::row_sum<T>>(a, w, s)
template <class K>
const Call<typename K::Cuda> gpu{&grm::cuda_kernel<K>};

struct Row {
  int cases = 0;
  double worst = 0.0, limit = 0.0;
  bool same_bits = true;
};

inline std::map<std::string, Row>& table() {
  static std::map<std::string, Row> rows;
  return rows;
}

template <class T>
const char* type_name() {
  return sizeof(T) == 4 ? "float" : "double";
}

/// || out - reference || / || reference ||; infinite where a number is NaN or was not written.
template <class T>
double distance(const std::vector<T>& out, const std::vector<double>& reference) {
  double apart = 0.0, size = 0.0;
  for (size_t k = 0; k < out.size(); ++k) {
    const double x = static_cast<double>(out[k]), r = reference[k];
    if (!(std::abs(x) <= std::numeric_limits<double>::max())) {
      if (x == r) continue;
      return std::numeric_limits<double>::infinity();
    }
    apart += (x - r) * (x - r);
    size += r * r;
  }
  return size > 0 ? std::sqrt(apart / size) : std::sqrt(apart);
}

class Case {
 public:
  Case(const std::string& kernel, const char* type, double limit)
      : name_(kernel + " " + type), limit_(limit) {}

  /// An output and what it should hold. `start`: what it holds before, else poison.
  template <class T>
  Case& out(Array<T>& array, std::vector<double> reference, const std::vector<T>* start = nullptr) {
    if (reference.size() != array.size()) throw std::runtime_error(name_ + ": reference size");
    Output o;
    o.reset = [&array, start] { start ? array.set(*start) : array.poison(); };
    o.read = [&array] {
      const std::vector<T> values = array.read();
      std::vector<char> raw(values.size() * sizeof(T));
      if (!raw.empty()) std::memcpy(raw.data(), values.data(), raw.size());
      return raw;
    };
    o.distance = [&array, reference] { return distance(array.read(), reference); };
    outputs_.push_back(std::move(o));
    return *this;
  }

  void run(const std::string& what, const std::function<void()>& launch) {
    std::vector<std::vector<char>> seen[2];
    double worst = 0.0;
    for (int turn = 0; turn < 2; ++turn) {
      for (Output& o : outputs_) o.reset();
      must(cudaDeviceSynchronize(), "before the kernel");
      launch();
      must(cudaStreamSynchronize(stream()), (name_ + " " + what).c_str());
      for (Output& o : outputs_) {
        seen[turn].push_back(o.read());
        worst = std::max(worst, o.distance());
      }
    }
    Row& row = table()[name_];
    ++row.cases;
    row.limit = limit_;
    row.worst = std::max(row.worst, worst);
    const bool same = seen[0] == seen[1];
    row.same_bits = row.same_bits && same;
    if (!(worst <= limit_) || !same) {
      std::printf("FAILED %s (%s): error %.3g, limit %.1g%s\n", name_.c_str(), what.c_str(), worst,
                  limit_, same ? "" : ", runs differ");
    }
  }

 private:
  struct Output {
    std::function<void()> reset;
    std::function<std::vector<char>()> read;
    std::function<double()> distance;
  };
  std::string name_;
  double limit_;
  std::vector<Output> outputs_;
};

template <class T>
Case make_case(const std::string& kernel, double float_limit = 2e-6, double double_limit = 1e-13) {
  return Case(kernel, type_name<T>(), sizeof(T) == 4 ? float_limit : double_limit);
}

using Random = std::mt19937_64;

template <class T>
std::vector<T> uniform(Random& random, int64_t n, double low = -1.0, double high = 1.0) {
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<T> values(n);
  for (T& v : values) v = static_cast<T>(draw(random));
  return values;
}

template <class T>
std::vector<double> widened(const std::vector<T>& values) {
  return std::vector<double>(values.begin(), values.end());
}

/// Sizes are cut down for the sanitizers.
struct Size {
  bool small;
  std::vector<int64_t> widths() const {
    if (small) return {1, 3, 64, 129};
    return {1, 2, 3, 8, 20, 32, 64, 100, 128, 129, 300, 515};
  }
  int64_t long_row() const { return small ? 700 : 5000; }
};

void test_sparse(const Size& size);
void test_edges(const Size& size);
void test_messages(const Size& size);
void test_generator(const Size& size);
void test_nn(const Size& size);
void test_methods(const Size& size);
void test_editors(const Size& size);
void test_graph(const Size& size);
void test_ego(const Size& size);
void measure();

}  // namespace test
