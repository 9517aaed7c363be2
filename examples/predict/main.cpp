// A trained model in another program: predict MODEL prints what it says of a ring of five nodes.
#include <grm/grm.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: predict RUN_FOLDER_OR_MODEL\n");
    return 2;
  }
  try {
    grm::Model model = grm::load(argv[1]);
    const torch::Tensor edge_index = torch::tensor({{0, 1, 2, 3, 4}, {1, 2, 3, 4, 0}});
    const torch::Tensor x = torch::eye(5, model.features());
    const grm::Prediction answer = model.predict(grm::make_graph(edge_index, x));
    for (int64_t i = 0; i < answer.items(); ++i) {
      const int64_t c = answer.classes[i].item<int64_t>();
      std::printf("%d %s %.9g %.9g\n", static_cast<int>(i), model.label(c).c_str(),
                  answer.probabilities[i][c].item<double>(),
                  answer.spread.defined() ? answer.spread[i].item<double>() : 0.0);
    }
  } catch (const grm::Error& error) {
    std::fprintf(stderr, "predict: %s\n", error.what());
    return 1;
  }
  return 0;
}
