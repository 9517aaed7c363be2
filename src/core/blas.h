#pragma once

namespace grm {

/// The function of that name of the BLAS library that libtorch multiplies with; null if it has none.
/// A program finds it among its own libraries; where libtorch is loaded by another one, as in Python,
/// only libtorch's own dependencies tell.
void* blas_function(const char* name);

}  // namespace grm
