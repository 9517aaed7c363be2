#define TOML_IMPLEMENTATION
#include "grm/core/toml_library.h"
