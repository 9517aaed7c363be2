#pragma once

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <string>

#include "graph/place.h"
#include "grm/core/error.h"
#include "grm/graph/adjacency.h"
#include "grm/graph/device.h"
#include "ops/kernels.h"

// What the differentiable operators share: checks of arguments, patterns where the numbers live, and
// in saved state.
namespace grm::ops {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// "[3, 4] Float"
std::string describe(const torch::Tensor& t);

/// Error unless t is a float or double tensor on the CPU or a GPU that this program can use.
void check_numbers(const char* op, const char* argument, const torch::Tensor& t);

/// check_numbers, and Error(shape) unless t has the sizes `expected`; -1 stands for any size.
void check_shape(const char* op, const char* argument, const torch::Tensor& t,
                 const std::vector<int64_t>& expected);

/// Error(shape) unless both have the same type of number, Error(device) unless both live on one
/// device.
void check_same_type(const char* op, const char* first_argument, const torch::Tensor& first,
                     const char* second_argument, const torch::Tensor& second);

/// Error(config) unless theta, an edge's prior, is a probability between 0 and 1.
void check_theta(const char* op, double theta);

void check_pattern(const char* op, const AdjacencyPtr& a);

/// An int64 vector, contiguous, on the CPU or a GPU. Its numbers can be checked on the CPU only:
/// reading them back from a GPU would make the host wait at every call.
torch::Tensor check_index(const char* op, const char* argument, const torch::Tensor& t);

/// check_index of offsets that must ascend from 0 to `rows`. Returns the rows of the longest
/// segment, -1 where the offsets are on a GPU.
int64_t check_offsets(const char* op, const torch::Tensor& offsets, const torch::Tensor& x);

/// The gradients of our operators are not themselves differentiable; asking for that must not
/// silently give a constant.
void check_first_order(const char* op);

/// Keeps a pattern alive from forward to backward.
void save_pattern(torch::autograd::AutogradContext* context, const AdjacencyPtr& a);
AdjacencyPtr saved_pattern(torch::autograd::AutogradContext* context);

/// The tensor, or an empty one of this type: autograd functions take no undefined tensors.
inline torch::Tensor or_empty(const torch::Tensor& t, const torch::Tensor& like) {
  return t.defined() ? t : torch::empty({0}, like.options());
}

template <class T>
const T* data(const torch::Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

/// The rows of a pattern, or of its transpose, at a place.
kernels::Pattern rows_of(const Csr& csr, const int64_t* edge);
kernels::Pattern rows_in(const Place& place, const Adjacency& a);
kernels::Pattern rows_out(const Place& place, const Adjacency& a);

/// Calls body(T{}) with T = float or double, the type of `t`.
template <class Body>
void with_type(const torch::Tensor& t, const Body& body) {
  if (t.scalar_type() == torch::kFloat64) {
    body(double{});
  } else {
    body(float{});
  }
}

}  // namespace grm::ops
