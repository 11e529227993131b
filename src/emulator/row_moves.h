// The steps of a row program that move elements between tiles and values.
#pragma once

#include "emulator/row_frame.h"

namespace neuron::emulator {

void LoadRow(const RowStep& step, RowFrame& f);
void LoadRowScalar(const RowStep& step, RowFrame& f);
void StoreRow(const RowStep& step, RowFrame& f);
void CopyRow(const RowStep& step, RowFrame& f);

}  // namespace neuron::emulator
