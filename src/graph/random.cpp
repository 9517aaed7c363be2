#include "graph/random.h"

#include "graph/kernels.h"
#include "graph/place.h"
#include "grm/core/error.h"

namespace grm {

void fill_uniform(const Stream& stream, const torch::Tensor& out, double low, double high) {
  ensure(out.is_contiguous(), "fill_uniform: the tensor is not contiguous");
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "fill_uniform", [&] {
    scalar_t* to = out.data_ptr<scalar_t>();
    const auto from = static_cast<scalar_t>(low), upto = static_cast<scalar_t>(high);
    if (out.is_cuda()) {
      on_gpu<kernels::philox_uniform<scalar_t>>(place_of(out), to, out.numel(),
                                                kernels::StreamKey{stream.key(), stream.place()},
                                                uint64_t{0}, from, upto);
    } else {
      stream.fill_uniform(to, out.numel(), from, upto);
    }
  });
}

void fill_normal(const Stream& stream, const torch::Tensor& out) {
  ensure(out.is_contiguous(), "fill_normal: the tensor is not contiguous");
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "fill_normal", [&] {
    scalar_t* to = out.data_ptr<scalar_t>();
    if (out.is_cuda()) {
      on_gpu<kernels::philox_normal<scalar_t>>(place_of(out), to, out.numel(),
                                               kernels::StreamKey{stream.key(), stream.place()},
                                               uint64_t{0});
    } else {
      stream.fill_normal(to, out.numel());
    }
  });
}

}  // namespace grm
