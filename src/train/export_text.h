#pragma once

#include <map>
#include <string>

#include "grm/train/model_file.h"

// TorchScript as text, line by line: what the exports of all methods share.
namespace grm::script {

/// The code of `forward` while it grows. What it calls beside torch stands in helpers().
class Text {
 public:
  Text(const ModelAbout& about, const std::string& path);

  const ModelAbout& about() const { return about_; }
  bool graphs() const { return about_.level == Level::graph; }
  /// Says how the export differs from the program's prediction.
  void differs(const std::string& how) { remark_ = how; }
  const std::string& remark() const { return remark_; }
  void line(const std::string& text) { text_ += "    " + text + "\n"; }
  /// The whole source: forward, what follows from its logits, and the helpers.
  std::string source() const;

  /// The run's option of the method, or what holds where it is not written.
  std::string option(const std::string& key, const std::string& otherwise) const;
  int64_t count(const std::string& key, int64_t otherwise) const;
  bool says(const std::string& key, bool otherwise) const;

  /// Pairs `edges`, each once, with a pair of every node with itself where `loops` says so.
  void edges(bool loops);
  /// Pairs `edges` and their weights `w`: the operator of nn::Conv, "kipf" or "sum".
  void operators(const std::string& conv);
  /// `rows` becomes its batch normalisation `name`, of running statistics.
  void normalise(const std::string& name, const std::string& rows = "h");
  /// x W + b, as an expression; a map without a bias is torch.mm.
  static std::string linear(const std::string& name, const std::string& rows);
  static std::string map(const std::string& name, const std::string& rows);
  /// What arrives over `edges` with weights `w`.
  static std::string received(const std::string& rows) {
    return "self.add_up(edges, w, " + rows + ")";
  }

  /// Error(config): `why` it cannot be exported.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string arguments(bool with_types) const;

  const ModelAbout& about_;
  std::map<std::string, std::string> options_;
  std::string text_, remark_;
};

/// The methods that can be exported, for messages.
std::string exported_methods();

void write_backbone(Text& text);
void write_mixup(Text& text);
void write_arm(Text& text);
void write_isgib(Text& text);
void write_mario(Text& text);
void write_graph_model(Text& text);
void write_trivial(Text& text);
void write_grm(Text& text);

/// Rows `h` of a GraphEncoder, from x; `name` is that of its parameters, with a dot behind.
struct EncoderText {
  std::string name, layer;
  int64_t layers = 3;
  bool virtual_node = false, batch_norm = true, relu_last = false, embed = true;
};
void write_graph_encoder(Text& text, const EncoderText& encoder);
/// One row per graph of an expression for rows of nodes; `gate` is an expression or empty.
std::string pooled(const std::string& pooling, const std::string& rows, const std::string& gate);

}  // namespace grm::script
