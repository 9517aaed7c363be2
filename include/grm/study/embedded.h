#pragma once

#include <string>
#include <vector>

namespace grm::study {

/// A text file that the program carries inside itself, by its name without folder.
struct EmbeddedFile {
  std::string name;
  std::string text;
};

/// All of them: the ready studies and the published numbers.
const std::vector<EmbeddedFile>& embedded_files();

}  // namespace grm::study
