#include "grm/data/task.h"
