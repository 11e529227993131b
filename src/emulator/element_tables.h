// ElementTables: where the elements of a row lie, for shapes whose rows are short and in short runs
// (windows, elements repeated inside a row): walking their dimensions anew for each row would take
// longer than the elements.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/tile.h"

namespace neuron::emulator {

// Of one thread and one run of rows.
class ElementTables {
 public:
  static ElementTables& OfThread();

  // Byte offsets of a row's elements, or nullptr where the shape is better walked.
  const int32_t* Of(const TileShape& shape);

 private:
  struct Table {
    const TileShape* shape = nullptr;
    std::vector<int32_t> offsets;
  };
  std::vector<Table> tables_;
  size_t used_ = 0;
};

// The elements at these offsets from `row`, side by side.
void GatherElements(int64_t element_bytes, const char* row, const int32_t* offsets, int64_t n,
                    void* dense);

}  // namespace neuron::emulator
