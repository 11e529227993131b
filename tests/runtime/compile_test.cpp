#include "runtime/compile.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "hlo/builder.h"
#include "isa/program_builder.h"
#include "runtime/subprocess.h"

namespace neuron::runtime {
namespace {

hlo::Module ScaleAndShift(float shift, const std::string& metadata = "") {
  hlo::Builder b("scale_and_shift");
  const hlo::Value x = b.Parameter(0, hlo::Shape::Array(DType::kF32, {1000}), "x");
  const hlo::Value scale = b.Parameter(1, hlo::Shape::Array(DType::kF32, {}), "scale");
  const hlo::Value scaled = b.Multiply(x, b.Broadcast(scale, {1000}, {}));
  const hlo::Value shifted = b.Add(scaled, b.Full(x.shape(), shift));
  StatusOr<hlo::Module> module = std::move(b).Build(shifted);
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  if (!metadata.empty())
    module->entry()->SetMetadata(module->entry()->instructions().back().get(), metadata);
  return *std::move(module);
}

compiler::Options ScalarOptions() {
  return {.parameters = {compiler::ParameterPlace::kBuffer, compiler::ParameterPlace::kScalarBlock},
          .dump_directory = ""};
}

TEST(Compile, TheCommandGivesTheSameProgram) {
  const hlo::Module module = ScaleAndShift(2.0f);
  const StatusOr<std::string> here = CompileToContainer(module, ScalarOptions());
  ASSERT_TRUE(here.ok()) << here.status().ToString();
  const StatusOr<std::string> there = CompileWithCommand(NEURON_COMPILE, module, ScalarOptions());
  ASSERT_TRUE(there.ok()) << there.status().ToString();
  EXPECT_TRUE(*here == *there);
  const StatusOr<compiler::Signature> signature = SignatureOf(*there);
  ASSERT_TRUE(signature.ok());
  EXPECT_EQ(signature->scalar_parameters, std::vector<int64_t>{1});
}

TEST(Compile, ACommandThatFailsIsQuoted) {
  hlo::Module module = ScaleAndShift(2.0f);
  compiler::Options options = ScalarOptions();
  options.lnc = 7;
  const Status status = CompileWithCommand(NEURON_COMPILE, module, options).status();
  EXPECT_NE(status.message().find("ended with status 2"), std::string::npos) << status.ToString();
  EXPECT_NE(status.message().find("--lnc should be 1 or 2, got '7'"), std::string::npos);
}

TEST(Compile, ACommandThatDoesNotExistIsNamed) {
  const Status status =
      CompileWithCommand("no-such-compiler", ScaleAndShift(1.0f), ScalarOptions()).status();
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
  const StatusOr<std::string> words = CompileWithCommand(command, ScaleAndShift(1.0f), options);
  ASSERT_TRUE(words.ok()) << words.status().ToString();
  EXPECT_TRUE(words->starts_with("compile --framework XLA /")) << *words;
  EXPECT_NE(words->find("--target trn2 --lnc 1 --output "), std::string::npos);
  EXPECT_NE(words->find("--auto-cast=none"), std::string::npos);
  EXPECT_TRUE(
      IsUnimplemented(CompileWithCommand(command, ScaleAndShift(1.0f), ScalarOptions()).status()));
}

TEST(CacheKey, DependsOnWhatTheProgramDependsOn) {
  const std::string key = *CacheKey(ScaleAndShift(2.0f), ScalarOptions());
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(key, *CacheKey(ScaleAndShift(2.0f), ScalarOptions()));
  EXPECT_EQ(key, *CacheKey(ScaleAndShift(2.0f, "model.py:41"), ScalarOptions()));
  EXPECT_NE(key, *CacheKey(ScaleAndShift(3.0f), ScalarOptions()));
  for (int change = 0; change < 4; ++change) {
    compiler::Options options = ScalarOptions();
    if (change == 0) options.target = isa::Target::kTrn3;
    if (change == 1) options.lnc = 2;
    if (change == 2) options.relaxed = true;
    if (change == 3) options.parameters.clear();
    EXPECT_NE(key, *CacheKey(ScaleAndShift(2.0f), options)) << change;
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
