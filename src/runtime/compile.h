// "A compiler" for the executable cache: the command of TORCHNEURON_COMPILER; else, if the NRT
// library is none of ours, neuronx-cc where PATH has one; else ours in this process.
#pragma once

#include <optional>
#include <string>

#include "compiler/compiler.h"
#include "hlo/module.h"

namespace neuron::runtime {

// The command; nullopt: in this process. Decided once; loads the NRT library.
const std::optional<std::string>& CompilerCommand();

// What the result depends on besides module and options: the build of our compiler, or what the
// command answers to --version. Asked once.
const StatusOr<std::string>& CompilerIdentity();

// SHA-256 of the compiler's identity, the options that matter and the module without metadata.
StatusOr<std::string> CacheKey(const hlo::Module& module, const compiler::Options& options);

StatusOr<std::string> CompileToContainer(const hlo::Module& module,
                                         const compiler::Options& options);
// The command's part of it, in a private directory.
StatusOr<std::string> CompileWithCommand(const std::string& command, const hlo::Module& module,
                                         const compiler::Options& options);

// The compiler's own section, or for programs made elsewhere what their tensors say.
StatusOr<compiler::Signature> SignatureOf(std::string_view container);

}  // namespace neuron::runtime
