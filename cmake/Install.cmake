# Where things lie in the wheel, and in the build tree under python/ with the same shape:
#   torch_neuronx/_C.so  nki/_core.so  torch_neuronx/lib/{libneuron_core.so,libnrt_emulator.so.1}
# Extensions find the libraries through $ORIGIN, so that one wheel can be put anywhere.
function(neuron_install target destination rpath)
  if(NOT TARGET ${target})
    return()
  endif()
  set_target_properties(${target} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "${rpath}"
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/${destination}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/${destination})
  if(SKBUILD)
    install(TARGETS ${target}
      LIBRARY DESTINATION ${destination} COMPONENT torchneuron NAMELINK_SKIP
      RUNTIME DESTINATION ${destination} COMPONENT torchneuron)
  endif()
endfunction()

neuron_install(nrt_emulator torch_neuronx/lib "$ORIGIN")
neuron_install(neuron_core torch_neuronx/lib "$ORIGIN")
neuron_install(neuron_compile torch_neuronx/bin "$ORIGIN/../lib")
neuron_install(neuron_info torch_neuronx/bin "$ORIGIN/../lib")
neuron_install(neuron_objdump torch_neuronx/bin "$ORIGIN/../lib")
neuron_install(torch_neuronx_C torch_neuronx "$ORIGIN/lib:$ORIGIN/../torch/lib")
neuron_install(nki_core nki "$ORIGIN/../torch_neuronx/lib")
