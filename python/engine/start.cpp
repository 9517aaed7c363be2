// grm._start: what has to be set before torch and OpenBLAS are loaded, as the program's launcher does
// (core/start.h). No other library is linked, so that importing it loads none.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "core/start.h"

namespace {

PyObject* prepare(PyObject* /*self*/, PyObject* /*args*/) {
  return PyBool_FromLong(grm::set_load_environment() ? 1 : 0);
}

PyMethodDef methods[] = {{"prepare", prepare, METH_NOARGS,
                          "prepare() -> bool\n\nSets what OpenMP and OpenBLAS read when they are "
                          "loaded, unless the user "
                          "did; True if something was set."},
                         {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_start", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__start() {
  return PyModule_Create(&definition);
}
