#include "runtime/compile.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "beside.h"
#include "isa/program_builder.h"
#include "runtime/modules.h"
#include "runtime/subprocess.h"

namespace neuron::runtime {
namespace {

hlo::Module Marked(hlo::Module module, const std::string& metadata) {
  module.entry()->SetMetadata(module.entry()->instructions().back().get(), metadata);
  return module;
}

TEST(Compile, TheCommandGivesTheSameProgram) {
  const hlo::Module module = ScaleAndShift(1000, 2.0f);
  const StatusOr<std::string> here = CompileToContainer(module, WithScalar());
  ASSERT_TRUE(here.ok()) << here.status().ToString();
  const StatusOr<std::string> there =
      CompileWithCommand(Beside(NEURON_COMPILE), module, WithScalar());
  ASSERT_TRUE(there.ok()) << there.status().ToString();
  EXPECT_TRUE(*here == *there);
  const StatusOr<compiler::Signature> signature = SignatureOf(*there);
  ASSERT_TRUE(signature.ok());
  EXPECT_EQ(signature->scalar_parameters, std::vector<int64_t>{1});
}

TEST(Compile, ACommandThatFailsIsQuoted) {
  hlo::Module module = ScaleAndShift(1000, 2.0f);
  compiler::Options options = WithScalar();
  options.lnc = 7;
  const Status status = CompileWithCommand(Beside(NEURON_COMPILE), module, options).status();
  EXPECT_NE(status.message().find("ended with status 2"), std::string::npos) << status.ToString();
  EXPECT_NE(status.message().find("--lnc should be 1 or 2, got '7'"), std::string::npos);
}

TEST(Compile, ACommandThatDoesNotExistIsNamed) {
  const Status status =
      CompileWithCommand("no-such-compiler", ScaleAndShift(1000, 1.0f), WithScalar()).status();
  EXPECT_TRUE(IsNotFound(status));
  EXPECT_NE(status.message().find("'no-such-compiler' cannot be started"), std::string::npos);
}

TEST(Compile, AForeignCompilerGetsDocumentedFlagsOnly) {
  const StatusOr<TemporaryDirectory> directory = TemporaryDirectory::Make();
  ASSERT_TRUE(directory.ok());
  const auto command = directory->path() / "other-cc";
  std::ofstream(command) << "#!/bin/sh\n[ \"$1\" = --version ] && echo other-cc 2.1 && exit 0\n"
                            "echo \"$@\" > \"${10}\"\n";
  chmod(command.c_str(), 0755);
  compiler::Options options;
  const StatusOr<std::string> words =
      CompileWithCommand(command, ScaleAndShift(1000, 1.0f), options);
  ASSERT_TRUE(words.ok()) << words.status().ToString();
  EXPECT_TRUE(words->starts_with("compile --framework XLA /")) << *words;
  EXPECT_NE(words->find("--target trn2 --lnc 1 --output "), std::string::npos);
  EXPECT_NE(words->find("--auto-cast=none"), std::string::npos);
  EXPECT_TRUE(IsUnimplemented(
      CompileWithCommand(command, ScaleAndShift(1000, 1.0f), WithScalar()).status()));
}

TEST(CacheKey, DependsOnWhatTheProgramDependsOn) {
  const std::string key = *CacheKey(ScaleAndShift(1000, 2.0f), WithScalar());
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(key, *CacheKey(ScaleAndShift(1000, 2.0f), WithScalar()));
  EXPECT_EQ(key, *CacheKey(Marked(ScaleAndShift(1000, 2.0f), "model.py:41"), WithScalar()));
  EXPECT_NE(key, *CacheKey(ScaleAndShift(1000, 3.0f), WithScalar()));
  for (int change = 0; change < 4; ++change) {
    compiler::Options options = WithScalar();
    if (change == 0) options.target = isa::Target::kTrn3;
    if (change == 1) options.lnc = 2;
    if (change == 2) options.relaxed = true;
    if (change == 3) options.parameters.clear();
    EXPECT_NE(key, *CacheKey(ScaleAndShift(1000, 2.0f), options)) << change;
  }
}

TEST(Signature, OfAProgramMadeElsewhereFollowsItsTensors) {
  isa::ProgramBuilder b("kernel", isa::Target::kTrn2);
  b.AddTensor({.name = "a", .kind = isa::TensorKind::kInput, .bytes = 512});
  b.AddTensor({.name = "c", .kind = isa::TensorKind::kOutput, .bytes = 256});
  b.AddTensor({.name = "state", .kind = isa::TensorKind::kInOut, .bytes = 128});
  b.AddTensor({.name = "scratch", .kind = isa::TensorKind::kScratch, .bytes = 64});
  const StatusOr<compiler::Signature> signature = SignatureOf(isa::Encode(b.program()));
  ASSERT_TRUE(signature.ok()) << signature.status().ToString();
  ASSERT_EQ(signature->buffers.size(), 3u);
  EXPECT_EQ(signature->buffers[0].parameter, 0);
  EXPECT_EQ(signature->buffers[1].output, 0);
  EXPECT_EQ(signature->buffers[2].parameter, 1);
  EXPECT_EQ(signature->buffers[2].output, 1);
  EXPECT_EQ(signature->num_slots, 0);
}

}  // namespace
}  // namespace neuron::runtime
