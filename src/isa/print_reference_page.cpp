// Prints docs/reference/isa.md: `neuron_isa_doc > docs/reference/isa.md`.
#include <iostream>

#include "isa/reference_page.h"

int main() {
  std::cout << neuron::isa::ReferencePage();
  return 0;
}
