#include "bindings.h"

PYBIND11_MODULE(neuron_testing, m) {
  m.doc() = "Inner layers of torchneuron, for its own tests.";
#ifdef NEURON_TESTING_COMPILER
  neuron::testing::BindCompiler(m);
#endif
#ifdef NEURON_TESTING_EMULATOR
  neuron::testing::BindEmulator(m);
#endif
#ifdef NEURON_TESTING_HLO
  neuron::testing::BindHlo(m);
#endif
#ifdef NEURON_TESTING_LOWERING
  neuron::testing::BindLowering(m);
#endif
}
