#include "runtime/subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace neuron::runtime {

StatusOr<CommandResult> RunCommand(const std::vector<std::string>& arguments,
                                   const std::filesystem::path& directory) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Unavailable("pipe: ", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t process = 0;
  const int error = posix_spawnp(&process, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return NotFound("'", arguments[0], "' cannot be started: ", std::strerror(error));
  }
  CommandResult result;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(ends[0], buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    result.output.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

StatusOr<TemporaryDirectory> TemporaryDirectory::Make() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "torchneuron-XXXXXX");
  if (error || mkdtemp(pattern.data()) == nullptr)
    return Unavailable("no temporary directory can be made: ",
                       error ? error.message() : std::strerror(errno), "; TMPDIR names another");
  return TemporaryDirectory(pattern);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace neuron::runtime
