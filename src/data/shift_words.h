#pragma once

#include "data/shift.h"

namespace grm {

/// How far a measure is beyond chance, in units of what counts as strong.
double relative_strength(const ShiftMeasure& measure);

/// Fills in levels, texts and advice from the measures.
void put_into_words(ShiftReport& report);

}  // namespace grm
