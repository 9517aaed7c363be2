#include "train/model_digest.h"

#include <fmt/ranges.h>

#include "core/files.h"

namespace grm {

std::string model_digest(const io::TensorFile& file) {
  std::string lines;
  const auto out = std::back_inserter(lines);
  for (const auto& [name, text] : file.metadata) {
    if (name == kDigestEntry) continue;
    fmt::format_to(out, "text {} {} {}\n", name.size(), name, sha256(text));
  }
  for (const auto& [name, tensor] : file.tensors) {
    const torch::Tensor host = tensor.detach().to(torch::kCPU).contiguous();
    fmt::format_to(out, "tensor {} {} {} {} {}\n", name.size(), name,
                   io::safetensors_type(host.scalar_type()), fmt::join(host.sizes(), ","),
                   sha256({static_cast<const char*>(host.data_ptr()), host.nbytes()}));
  }
  return sha256(lines);
}

}  // namespace grm
