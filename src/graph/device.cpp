#include "grm/graph/device.h"

#include <cstdlib>

#include "graph/cuda_torch.h"
#include "graph/host_copies.h"
#include "graph/place.h"
#include "grm/core/context.h"
#include "grm/core/error.h"
#include "grm/core/options.h"

namespace grm {
namespace {

// Above this, pinning costs more than waiting for the copy.
constexpr size_t kPinnedBytes = size_t{8} << 20;

void check_cuda(int index) {
  if (!built_with_cuda()) {
    fail(ErrorKind::device,
         "this program was built without CUDA; configure it with -DGRM_CUDA=ON and a libtorch for "
         "CUDA, or use --device cpu");
  }
  const int count = cuda_devices();
  if (count == 0) {
    fail(ErrorKind::device,
         "there is no GPU, or its driver does not answer (see nvidia-smi); use --device cpu");
  }
  if (index >= count) {
    fail(ErrorKind::device, "there is no device cuda:{}: the last one is cuda:{}", index,
         count - 1);
  }
}

}  // namespace

bool built_with_cuda() {
  return cuda_torch::built();
}

int cuda_devices() {
  return cuda_torch::device_count();
}

torch::Device compute_device() {
  return context().device;
}

void set_compute_device(const torch::Device& device) {
  if (device.is_cuda()) {
    const int index = device.has_index() ? device.index() : 0;
    check_cuda(index);
    // cuBLAS reads it when it is first used; without it two runs may give other bits.
    // libtorch gives cuBLAS a workspace of its own, which makes its products repeatable.
    cuda_torch::set_device(index);
    context().device = torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(index));
    return;
  }
  ensure(device.is_cpu(), "set_compute_device: neither the CPU nor CUDA");
  context().device = device;
}

torch::Device parse_device(const std::string& text) {
  if (text == "cpu") return torch::Device(torch::kCPU);
  if (text == "auto") {
    if (cuda_devices() == 0) return torch::Device(torch::kCPU);
    return torch::Device(torch::kCUDA, 0);
  }
  const bool numbered = text.rfind("cuda:", 0) == 0;
  const std::string digits = numbered ? text.substr(5) : "0";
  const bool number = !digits.empty() && digits.size() <= 2 &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  if ((text != "cuda" && !numbered) || !number) {
    const std::string meant = text.rfind("gpu", 0) == 0
                                  ? " (did you mean 'cuda'?)"
                                  : did_you_mean(text, {"cpu", "cuda", "auto"});
    fail(ErrorKind::config, "'{}' is not a device{}; expected cpu, cuda, cuda:0 (a number) or auto",
         text, meant);
  }
  const int index = std::stoi(digits);
  check_cuda(index);
  return torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(index));
}

std::string describe_device(const torch::Device& device) {
  if (!device.is_cuda()) return device.str();
  return device.str() + ", " + cuda_torch::device_name(device.index());
}

DeviceMemory device_memory(const torch::Device& device) {
  if (!device.is_cuda()) return {};
  const cuda_torch::Memory memory = cuda_torch::memory(device.index());
  return {memory.total, memory.free, memory.used, memory.peak};
}

void reset_peak_memory(const torch::Device& device) {
  if (device.is_cuda()) cuda_torch::reset_peak(device.index());
}

void release_device_memory(const torch::Device& device) {
  if (!device.is_cuda()) return;
  cuda_torch::release_cached();
  cuda_torch::reset_peak(device.index());
}

void synchronise(const torch::Device& device) {
  if (device.is_cuda()) cuda_torch::synchronise(device.index());
}

torch::Tensor on_device(const torch::Tensor& t, const torch::Device& device) {
  if (!t.defined() || t.device() == device) return t;
  if (device.is_cuda() && t.device().is_cpu() && !t.requires_grad()) {
    if (HostCopies* kept = HostCopies::current(device)) return kept->get(t, device);
  }
  const bool pinned = t.device().is_cpu() && device.is_cuda() && !t.requires_grad() &&
                      t.numel() > 0 && t.nbytes() <= kPinnedBytes;
  if (pinned) return t.contiguous().pin_memory().to(device, /*non_blocking=*/true);
  return t.to(device);
}

torch::Tensor to_place_of(const torch::Tensor& t, const torch::Tensor& numbers) {
  return on_device(t, numbers.device());
}

torch::Tensor select_rows(const torch::Tensor& x, const torch::Tensor& index) {
  return x.index_select(0, to_place_of(index, x));
}

std::vector<double> read_scalars(const std::vector<torch::Tensor>& scalars) {
  std::vector<double> values;
  values.reserve(scalars.size());
  std::vector<torch::Tensor> there;  // those on a device
  for (const torch::Tensor& t : scalars) {
    if (!t.device().is_cpu()) there.push_back(t.detach().reshape({}));
  }
  torch::Tensor read;
  if (!there.empty()) read = torch::stack(there).to(torch::kFloat64).cpu();
  int64_t next = 0;
  for (const torch::Tensor& t : scalars) {
    values.push_back(t.device().is_cpu() ? t.item<double>() : read.data_ptr<double>()[next++]);
  }
  return values;
}

void built_without_cuda() {
  throw InternalError("a kernel for GPUs is called in a program that was built without CUDA");
}

Place place_of(const torch::Tensor& t) {
  if (!t.is_cuda()) return {};
  const int index = t.device().index();
  return {true, index, cuda_torch::current_stream(index)};
}

Queue queue_of(const Place& place, std::vector<torch::Tensor>& held) {
  const torch::Device device = place.torch_device();
  return {place.stream, [device, &held](size_t bytes) {
            const auto bytes_there = torch::dtype(torch::kUInt8).device(device);
            held.push_back(torch::empty({static_cast<int64_t>(bytes)}, bytes_there));
            return held.back().data_ptr();
          }};
}

}  // namespace grm
