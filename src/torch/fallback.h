// Ops without a lowering run on the CPU: counted, logged once each with the Python line, refused
// under TORCHNEURON_STRICT.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <functional>
#include <map>
#include <string>

namespace neuron::pytorch {

// `why`: what kept a row that exists from serving the call; its first line is for the user and in
// ATen's terms, what follows is for who works on the compiler. `wrong_arguments`: they look so; the
// call is no fallback if CPU refuses them too. CPU's exceptions leave with the op named.
void FallbackToCpu(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                   const std::string& why = "", bool wrong_arguments = false);

// Counts and, the first time, logs; throws NotImplementedError under the strict switch.
void NoteFallback(const std::string& op, const std::string& why = "");
std::map<std::string, int64_t> FallbackCounts();
void ClearFallbackCounts();
void SetStrict(bool strict);
bool IsStrict();
// Called once per op, on the thread of the call. The Python layer adds file and line.
void SetFallbackLogger(std::function<void(const std::string& op, const std::string& why)> logger);

}  // namespace neuron::pytorch
