# unite(SOURCES...): puts neighbouring files into one compilation each. Most of the time of a file
# goes into torch's headers and into templates that its neighbours need as well. Compilations of
# about the same size, so that all cores have work until the end; files with flags of their own stay
# alone.
set(GRM_UNITY_BYTES 130000)
function(unite)
  set(total 0)
  foreach(source ${ARGN})
    file(SIZE ${source} size)
    math(EXPR total "${total} + ${size}")
  endforeach()
  math(EXPR groups "(${total} + ${GRM_UNITY_BYTES} / 2) / ${GRM_UNITY_BYTES}")
  if(groups LESS 1)
    set(groups 1)
  endif()
  set(before 0)
  foreach(source ${ARGN})
    math(EXPR group "${before} * ${groups} / ${total}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    file(SIZE ${source} size)
    math(EXPR before "${before} + ${size}")
  endforeach()
endfunction()
