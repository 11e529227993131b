#include <iostream>

#include "lowering/reference_page.h"

int main() { std::cout << neuron::lowering::ReferencePage(); }
